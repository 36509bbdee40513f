package wire

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestBodyOfPiecesArrivesWhole(t *testing.T) {
	var got []byte
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got, _ = io.ReadAll(r.Body)
	}))
	defer srv.Close()
	client := NewHTTPClient()
	defer client.CloseIdleConnections()
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<16)
	for _, pieces := range [][][]byte{
		{[]byte("small")},
		{[]byte("a"), nil, []byte("b"), []byte("c")},
		{[]byte("head"), big, []byte("tail")},
		{big, big[:4097], big},
		nil,
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, &body{pieces: pieces})
		if err != nil {
			t.Fatal(err)
		}
		req.ContentLength = size(pieces)
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if want := bytes.Join(pieces, nil); !bytes.Equal(got, want) {
			t.Errorf("%d bytes arrived, %d were sent", len(got), len(want))
		}
	}
}

func TestTakeLeavesWhatIsOverTheLimit(t *testing.T) {
	b := &body{pieces: [][]byte{[]byte("abc"), []byte("def")}}
	var first [3]byte
	if n, _ := b.Read(first[:2]); n != 2 {
		t.Fatalf("read %d bytes", n)
	}
	if got := string(bytes.Join(b.take(3), nil)); got != "cde" {
		t.Errorf("took %q", got)
	}
	if rest, _ := io.ReadAll(b); string(rest) != "f" {
		t.Errorf("%q is left", rest)
	}
}
