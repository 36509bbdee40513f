package sqlite_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func TestCheckTellsWhatIsAmiss(t *testing.T) {
	for name, c := range map[string]struct{ change, want string }{
		"nothing":            {"UPDATE sessions SET title = 'x' WHERE n = 1", ""},
		"a lost message":     {"DELETE FROM messages WHERE key = (3 << 32) + 5", "messages: session session-02: 1 of its 30 messages are lost"},
		"a count too low":    {"UPDATE sessions SET messages = 29 WHERE n = 3", "messages: session session-02: message 29 is not where it should be: the session has 29"},
		"a garbled message":  {"UPDATE messages SET body = '{' WHERE key = 3 << 32", "messages: session session-02: message 0 (m1) cannot be read"},
		"no session":         {"DELETE FROM sessions WHERE n = 3", "messages: 30 messages belong to no session"},
		"a text too few":     {"DELETE FROM message_text WHERE rowid = 3 << 32", "index: session session-02: a search does not find message 0 as it is"},
		"a text too many":    {"INSERT INTO message_text (rowid, text) VALUES (1, 'more')", "index: 1 texts belong to no message"},
		"another text":       {"UPDATE message_text SET text = 'else' WHERE rowid = 3 << 32", "index: session session-02: a search does not find message 0 as it is"},
		"the index's pages":  {"DELETE FROM message_text_data WHERE id > 10", "file: fts5: corruption found"},
		"the journal":        {"UPDATE effects SET message = 'm99' WHERE session = 3", "journal: session session-02: a call of sh was begun in message m99, which there is not"},
		"a loop":             {"UPDATE sessions SET parent = 'session-02' WHERE n = 3", "lineage: session session-02: it descends from itself"},
		"two that go on":     {"UPDATE sessions SET parent = 'session-02', relation = 'compression' WHERE n > 10", "lineage: session session-02: both session-10 and session-11 continue it"},
		"a missing parent":   {"UPDATE sessions SET parent = 'deleted' WHERE n = 3", ""},
		"a note of nobody's": {"INSERT INTO notes VALUES (77, 0, 0, 'k', '1')", "messages: 1 notes belong to no session"},
	} {
		t.Run(name, func(t *testing.T) {
			path := someFile(t)
			change(t, path, c.change)
			s := open(t, path)
			r, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range r.Problems {
				got = append(got, p.String())
			}
			if c.want == "" && len(got) > 0 || !strings.Contains(strings.Join(got, "\n"), c.want) {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

// What a compression takes along is found where it was said first, and counts as
// indexed neither for a check nor after a repair.
func TestCheckKnowsWhatACompressionTookAlong(t *testing.T) {
	s := open(t, someFile(t))
	old := message.NewAssistant(message.Text("taken along"))
	old.ID, old.Time = "m1", time.Now().Add(-time.Hour)
	child := store.Session{ID: "child", Parent: "session-03", CreatedAt: time.Now()}
	if err := s.Continue(t.Context(), child, []*message.Message{old}); err != nil {
		t.Fatal(err)
	}
	m := message.NewUser("said since")
	m.ID, m.Time = "m2", time.Now().Add(time.Second)
	if err := s.Append(t.Context(), "child", []*message.Message{m}, store.Update{}); err != nil {
		t.Fatal(err)
	}
	if r, err := s.Check(t.Context()); err != nil || len(r.Problems) > 0 {
		t.Errorf("%v, %v", r.Problems, err)
	}
}

func TestLineageIsCheckedInOnePass(t *testing.T) {
	var all []store.Session
	for _, pair := range strings.Fields("a: b:a c:b d:c e:f f:g g:e h:e i:i") {
		id, parent, _ := strings.Cut(pair, ":")
		all = append(all, store.Session{ID: id, Parent: parent})
	}
	var got []string
	for _, p := range store.CheckLineage(all) {
		got = append(got, p.Session)
	}
	if s := strings.Join(got, " "); s != "e i" {
		t.Errorf("loops at %s, want e i", s)
	}
}
