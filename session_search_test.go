package rondo_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// library is a store with sessions about parsers; b continues a.
func library(t *testing.T) *store.Memory {
	t.Helper()
	st := store.NewMemory()
	then := time.Date(2026, 8, 1, 9, 30, 0, 0, time.UTC)
	for i, s := range []store.Session{
		{ID: "a", Title: "Old parser"}, {ID: "b", Title: "Old parser", Parent: "a", Relation: store.Compression}, {ID: "c", Title: "天気"},
	} {
		s.CreatedAt = then.Add(time.Duration(i) * time.Hour)
		if err := st.Create(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		var msgs []*message.Message
		for n := range 20 {
			m := message.NewUser(fmt.Sprintf("word%d of %s, the parser", n, s.ID))
			m.ID, m.Time = fmt.Sprint("m", n+1), s.CreatedAt
			msgs = append(msgs, m)
		}
		if s.ID == "c" {
			msgs = msgs[:1]
			msgs[0].Parts[0].Text = "東京の天気を教えて"
		}
		if err := st.Append(t.Context(), s.ID, msgs, store.Update{}); err != nil {
			t.Fatal(err)
		}
	}
	return st
}

func TestSessionSearch(t *testing.T) {
	st := library(t)
	for _, c := range []struct {
		args, status string
		want, not    []string
	}{
		{`{"query":"word7 parser"}`, "ok", []string{"b \"Old parser #2\", 2026-08-01 10:30 to ", ", 20 messages, continues a\n  m8 user: word7 of b", "  m8 user: word7 of a"}, nil},
		{`{"query":"天気"}`, "ok", []string{"c \"天気\"", "東京の天気"}, []string{"parser"}},
		{`{"query":"\"of a,\"","session":"b"}`, "ok", []string{"word19 of a"}, []string{"of b"}},
		{`{"query":"\"of b,\"","session":"a"}`, "ok", []string{"Nothing was found"}, nil},
		{`{"query":"parser","limit":1}`, "ok", []string{"word19 of b"}, []string{"word18"}},
		{`{"session":"a","around":"m3"}`, "ok", []string{"  m1 2026-08-01 09:30 user: word0", "m8"}, []string{"m9"}},
		{`{"session":"a"}`, "ok", []string{"m10", "m20"}, []string{"m9 "}},
		{`{}`, "ok", []string{"c \"天気\"", "a \"Old parser\""}, nil},
		{`{"query":"look this up"}`, "ok", []string{"Nothing was found"}, nil}, // said in the session that asks
		{`{"around":"m3"}`, "error", []string{"give the session"}, nil},
		{`{"session":"a","around":"m99"}`, "error", []string{"its messages are m1 to m20"}, nil},
		{`{"session":"zebra"}`, "error", []string{`no session \"zebra\"`}, nil},
	} {
		m := &fakeModel{steps: []step{asks("x session_search " + c.args), says("so")}}
		res, err := newAgent(t, rondo.Options{Model: m, Store: st, Tools: []*tool.Tool{rondo.SessionSearchTool()}}).Run(t.Context(), rondo.Request{Text: "look this up"})
		if err != nil {
			t.Fatal(err)
		}
		got := resultOf(t, res, "x")
		text := got.Text()
		for _, w := range c.want {
			if !strings.Contains(text, strings.ReplaceAll(w, `\"`, `"`)) {
				t.Errorf("%s: no %q in\n%s", c.args, w, text)
			}
		}
		for _, w := range c.not {
			if strings.Contains(text, w) {
				t.Errorf("%s: %q is in\n%s", c.args, w, text)
			}
		}
		if string(got.Status) != c.status {
			t.Errorf("%s: %s", c.args, got.Status)
		}
		if err := st.Delete(t.Context(), res.SessionID); err != nil {
			t.Fatal(err)
		}
	}
}

func TestSessionSearchNeedsAStoreToSearch(t *testing.T) {
	m := &fakeModel{steps: []step{asks(`x session_search {"query":"x"}`), says("so")}}
	res, err := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{rondo.SessionSearchTool()}}).Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	if got := resultOf(t, res, "x"); !strings.Contains(got.Text(), "keeps no sessions") {
		t.Errorf("the result is %q", got.Text())
	}
}
