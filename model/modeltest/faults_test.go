package modeltest_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

func TestFaultsOfStreams(t *testing.T) {
	tests := []struct {
		name, script string
		status       int
		has, lacks   string
		err          error
	}{
		{"cut", "reply\ntext Hel\ncut\ntext lo", 200, "Hel", "lo\"", nil},
		{"cut after events", "reply\nwords a b c d\ncut 3", 200, `"b "`, `"c "`, nil},
		{"cut first", "reply\ncut", 200, "", "data", nil},
		{"reset in the stream", "reply\ntext Hel\nreset", 200, "Hel", "DONE", syscall.ECONNRESET},
		{"reset after events", "reply\nwords a b c d\nreset 2", 200, `"a "`, `"b "`, syscall.ECONNRESET},
		{"garbage", "reply\ntext Hel\ngarbage {oh", 200, "data: {oh\n\n", "", nil},
		{"error", "reply\ntext Hel\nerror server_error Oh.\ntext lo", 200, `"message":"Oh."`, "DONE", nil},
		{"comments alone", "reply\ncomment working\ncut", 200, ": working\n\n", "data", nil},
		{"empty", "reply", 200, `"finish_reason":"stop"`, "", nil},
		{"status with a body", "reply\nstatus 418 x\nbody {\"a\":1}", 418, `{"a":1}`, "error", nil},
		{"status with a code", "reply\nstatus 429 Slow.\ncode too_fast", 429, `"code":"too_fast"`, "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := start(t, tt.script, modeltest.Options{})
			status, body, err := post(t, srv, model.ChatCompletions, hello[model.ChatCompletions])
			if status != tt.status || !errors.Is(err, tt.err) {
				t.Errorf("status %d, error %v, want %d, %v", status, err, tt.status, tt.err)
			}
			if !strings.Contains(body, tt.has) || tt.lacks != "" && strings.Contains(body, tt.lacks) {
				t.Errorf("want %q and no %q in\n%s", tt.has, tt.lacks, body)
			}
		})
	}
}

func TestResetBeforeTheReply(t *testing.T) {
	srv := start(t, "reply\nreset", modeltest.Options{})
	if _, _, err := post(t, srv, model.CodexResponses, hello[model.CodexResponses]); !errors.Is(err, syscall.ECONNRESET) && !errors.Is(err, io.EOF) {
		t.Errorf("error %v, want a reset", err)
	}
}

func TestHeadersOfReplies(t *testing.T) {
	srv := start(t, "reply\nstatus 429\nheader retry-after: 3", modeltest.Options{})
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL()+"/responses", strings.NewReader(hello[model.CodexResponses]))
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if got := resp.Header.Get("Retry-After"); got != "3" {
		t.Errorf("Retry-After %q, want 3", got)
	}
}

func TestStallAndDelayInVirtualTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		scripts, err := modeltest.Parse("s", "reply\ntext a\ndelay 1h\ntext b\nstall")
		if err != nil {
			t.Fatal(err)
		}
		srv, client := modeltest.NewPipe(modeltest.Options{Scripts: scripts})
		defer srv.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Hour)
		defer cancel()
		req, _ := http.NewRequestWithContext(ctx, http.MethodPost, srv.BaseURL(model.ChatCompletions)+"/chat/completions", strings.NewReader(hello[model.ChatCompletions]))
		req.Header.Set("Content-Type", "application/json")
		begin := time.Now()
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		at := map[string]time.Duration{}
		lines := bufio.NewScanner(resp.Body)
		for lines.Scan() {
			at[lines.Text()] = time.Since(begin)
		}
		if took := time.Since(begin); took != 3*time.Hour || !errors.Is(lines.Err(), context.DeadlineExceeded) {
			t.Errorf("it ended after %v with %v, want the deadline after 3h", took, lines.Err())
		}
		for line, when := range at {
			if strings.Contains(line, `{"content":"b"}`) && when != time.Hour {
				t.Errorf("b came after %v, want 1h", when)
			}
		}
		if !srv.Requests()[0].Left() {
			t.Error("the server did not see the client leave")
		}
	})
}

func TestCloseEndsStalls(t *testing.T) {
	srv := start(t, "reply\ntext a\nstall", modeltest.Options{})
	time.AfterFunc(20*time.Millisecond, srv.Close)
	if _, _, err := post(t, srv, model.AnthropicMessages, hello[model.AnthropicMessages]); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
	if srv.Requests()[0].Left() {
		t.Error("the client did not leave: the server ended")
	}
}
