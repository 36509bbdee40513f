package postgres_test

import (
	"bytes"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-engine/rondo/internal/pgtest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
)

// wire stands between a store and its server. Once it is armed, it cuts the
// connection over which the marker goes: when the server has answered, so that
// what was asked is done and nobody knows.
type wire struct {
	l      net.Listener
	server string
	conns  sync.WaitGroup

	mu     sync.Mutex
	marker []byte // nil when it is not armed
	cuts   int
}

// between returns a wire to the server of a URL, and the URL for it.
func between(t *testing.T, text string) (*wire, string) {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{l: l, server: u.Host}
	w.conns.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			w.conns.Go(func() { w.carry(c) })
		}
	})
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		w.conns.Wait()
	})
	u.Host = l.Addr().String()
	return w, u.String()
}

// carry carries one connection until an end of it is closed.
func (w *wire) carry(client net.Conn) {
	server, err := net.Dial("tcp", w.server)
	if err != nil {
		_ = client.Close() // the client sees it
		return
	}
	var doomed sync.Once
	cut := make(chan struct{})
	w.conns.Go(func() {
		defer server.Close()
		buf := make([]byte, 1<<16)
		for {
			n, err := client.Read(buf)
			if w.sees(buf[:n]) {
				doomed.Do(func() { close(cut) })
			}
			if _, werr := server.Write(buf[:n]); err != nil || werr != nil {
				return
			}
		}
	})
	defer client.Close()
	buf := make([]byte, 1<<16)
	for {
		n, err := server.Read(buf)
		select {
		case <-cut:
			return
		default:
		}
		if _, werr := client.Write(buf[:n]); err != nil || werr != nil {
			return
		}
	}
}

// sees reports whether data holds the marker, and disarms the wire.
func (w *wire) sees(data []byte) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.marker == nil || !bytes.Contains(data, w.marker) {
		return false
	}
	w.marker = nil
	w.cuts++
	return true
}

func (w *wire) cutAt(marker string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marker = []byte(marker)
}

// broken is a store over a wire, with a session s and a warm connection: its
// statements are known to the server, so that each method is one exchange.
func broken(t *testing.T) (*postgres.Store, *wire) {
	t.Helper()
	w, url := between(t, server.Schema(t))
	s := open(t, url)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "s", user("m1", "one"), store.Update{Calls: 1}); err != nil {
		t.Fatal(err)
	}
	if err := s.Note(t.Context(), "s", store.Note{Kind: "k", Body: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	return s, w
}

func TestWhatWasWrittenWhenTheConnectionBrokeIsWrittenOnce(t *testing.T) {
	s, w := broken(t)
	w.cutAt("marked")
	if err := s.Append(t.Context(), "s", user("marked", "two"), store.Update{Calls: 1}); err != nil {
		t.Errorf("Append: %v", err)
	}
	w.cutAt("titled")
	if err := s.Append(t.Context(), "s", user("m3", "titled"), store.Update{Calls: 1, Title: "T"}); err != nil {
		t.Errorf("Append with a title: %v", err)
	}
	w.cutAt("created")
	if err := s.Create(t.Context(), store.Session{ID: "created"}); err != nil {
		t.Errorf("Create: %v", err)
	}
	w.cutAt("gone-on")
	if err := s.Continue(t.Context(), store.Session{ID: "gone-on", Parent: "s"}, user("m1", "kept")); err != nil {
		t.Errorf("Continue: %v", err)
	}
	w.cutAt("one more state")
	if err := s.SaveState(t.Context(), "s", []byte("one more state")); err != nil {
		t.Errorf("SaveState: %v", err)
	}
	session, msgs, err := s.Load(t.Context(), "s")
	if err != nil || len(msgs) != 3 || session.Messages != 3 || session.Calls != 3 || session.Title != "T" {
		t.Errorf("%d messages, %+v, %v; want 3 messages and calls", len(msgs), session, err)
	}
	if list, err := s.List(t.Context(), store.ListOptions{}); err != nil || len(list) != 3 || w.cuts != 5 {
		t.Errorf("%d sessions after %d cuts, %v; want 3 after 5", len(list), w.cuts, err)
	}
}

func TestWhatCannotBeToldIsAnError(t *testing.T) {
	s, w := broken(t)
	w.cutAt("marked")
	err := s.Note(t.Context(), "s", store.Note{Kind: "marked", Body: []byte("2")})
	if err == nil || !strings.Contains(err.Error(), "may be there or not") {
		t.Errorf("Note = %v, want that it is not known", err)
	}
	w.cutAt("s")
	if _, err := s.Notes(t.Context(), "s"); err != nil {
		t.Errorf("a read is tried again: %v", err)
	}
}

func TestAServerThatEndsConnectionsIsOnlyAPause(t *testing.T) {
	url := server.Schema(t)
	s := open(t, url)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		pgtest.Exec(t, url, "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = 'rondo'")
		if err := s.Append(t.Context(), "s", user("m"+string(rune('0'+i)), "x"), store.Update{}); err != nil {
			t.Errorf("Append: %v", err)
		}
	}
	if _, msgs, err := s.Load(t.Context(), "s"); err != nil || len(msgs) != 5 {
		t.Errorf("%d messages, %v", len(msgs), err)
	}
}

func TestDamagedRecordHidesNoOther(t *testing.T) {
	url := server.Schema(t)
	s := open(t, url)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"1", "2", "3"} {
		if err := s.Append(t.Context(), "s", user(id, "x "+id), store.Update{}); err != nil {
			t.Fatal(err)
		}
	}
	pgtest.Exec(t, url, `UPDATE rondo_messages SET body = '{"role":"user","content":"he' WHERE seq = 1`)
	session, msgs, err := s.Load(t.Context(), "s")
	if !damagedAt(err, 1) || len(msgs) != 2 || msgs[1].ID != "3" || session.ID != "s" {
		t.Errorf("Load = %d messages, %v; want 2 and a warning about number 1", len(msgs), err)
	}
	if hits, err := s.Search(t.Context(), "x", store.SearchOptions{}); err != nil || len(hits) != 3 || hits[1].Snippet != "x 2" {
		t.Errorf("Search = %v, %v", hits, err)
	}
}

func damagedAt(err error, seq int) bool {
	d, ok := err.(*store.DamagedError)
	return ok && len(d.Seqs) == 1 && d.Seqs[0] == seq
}
