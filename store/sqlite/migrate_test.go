package sqlite_test

import (
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

func TestAFileOfAnOlderVersionIsBroughtForward(t *testing.T) {
	path := file(t)
	s := open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "m1", "kept")
	for _, sql := range []string{
		"DROP TABLE effects", "DROP TABLE repairs", "DROP TABLE notes",
		"DROP INDEX sessions_behind", "ALTER TABLE sessions DROP COLUMN indexed", "PRAGMA user_version = 1",
	} {
		change(t, path, sql)
	}
	s = open(t, path)
	if _, msgs, err := s.Load(t.Context(), "s"); err != nil || len(msgs) != 1 || msgs[0].Text() != "kept" {
		t.Errorf("%v, %v", msgs, err)
	}
	m := message.NewAssistant(message.Text("new"))
	m.ID = "m2"
	if err := s.Record(t.Context(), "s", []*message.Message{m}, store.Update{}, []store.Effect{{MessageID: "m2", Tool: "sh"}}); err != nil {
		t.Error(err)
	}
}
