package sqlite_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// ofVersion makes a file as a rondo of that time left it: testdata has version
// 1, the later ones came from it by their migrations.
func ofVersion(t *testing.T, version int) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "version1.sql"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sessions.db")
	change(t, path, string(text))
	for v := 1; v < version; v++ {
		change(t, path, sqlite.Migration(v))
	}
	change(t, path, "PRAGMA user_version = "+string(rune('0'+version)))
	return path
}

// checkOld checks that a file of version 1 was brought forward whole, and can be
// written to.
func checkOld(t *testing.T, path string) {
	t.Helper()
	s := open(t, path)
	report, err := s.Check(t.Context())
	if err != nil || len(report.Problems) > 0 || report.Sessions != 4 || report.Messages != 11 {
		t.Fatalf("%+v, %v", report, err)
	}
	session, msgs, err := s.Load(t.Context(), "20260901-100000-aaaa0001")
	if err != nil || session.Title != "mend the parser" || session.System != "You are careful." || session.CostUSD != 0.25 || msgs[3].Text() != "It ends too early." {
		t.Errorf("%+v, %v, %v", session, msgs, err)
	}
	if tip, err := s.Find(t.Context(), "日本語の会話", ""); err != nil || tip.ID != "20260901-100000-aaaa0003" {
		t.Errorf("the title leads to %s, %v", tip.ID, err)
	}
	if hits, err := s.Search(t.Context(), "検索のテスト", store.SearchOptions{}); err != nil || len(hits) != 1 || hits[0].Session != "20260901-100000-aaaa0002" {
		t.Errorf("%v, %v", hits, err)
	}
	notes, err := s.Notes(t.Context(), "20260901-100000-aaaa0004")
	unknown := func(n store.Note) bool { return n.Kind == store.NoteUnjournalled && string(n.Body) == `{"messages":2}` }
	if err != nil || !slices.ContainsFunc(notes, unknown) {
		t.Errorf("the session that broke off has the notes %v, %v", notes, err)
	}
	m := message.NewAssistant(message.Text("new"))
	m.ID, m.Time = "new", time.Now()
	if err := s.Record(t.Context(), session.ID, []*message.Message{m}, store.Update{}, []store.Effect{{MessageID: "new", Tool: "sh"}}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestFilesOfOlderVersionsAreBroughtForward(t *testing.T) {
	for version := 1; version < sqlite.Versions; version++ {
		checkOld(t, ofVersion(t, version))
	}
}

// What waited for the index of texts in a file of version 5 waits for it still.
func TestTextsWaitOnAfterAMigration(t *testing.T) {
	path := ofVersion(t, 5)
	change(t, path, `INSERT INTO unindexed SELECT m.key FROM messages m JOIN sessions s ON s.n = m.session
		WHERE s.id = '20260901-100000-aaaa0002' AND m.seq >= 1;
		DELETE FROM message_text WHERE rowid IN (SELECT key FROM unindexed);`)
	s := open(t, path)
	all, err := s.List(t.Context(), store.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	messages := 0
	for _, session := range all {
		messages += session.Messages
	}
	before := sqlite.Indexed(t, s)
	if n := len(found(t, s, "検索のテスト")); n != 1 {
		t.Errorf("%d messages are found, want 1", n)
	}
	if after := sqlite.Indexed(t, s); after <= before || after > messages {
		t.Errorf("of %d messages %d were in the index, then %d", messages, before, after)
	}
	checkOld(t, path)
}

func TestAnOldFileIsRepairedToo(t *testing.T) {
	path := ofVersion(t, 1)
	if r, err := sqlite.Repair(t.Context(), path, sqlite.RepairOptions{}); err != nil || r.Messages != 11 || len(r.Lost) > 0 {
		t.Errorf("%+v, %v", r, err)
	}
	checkOld(t, path)
}

// A process is killed at any moment of bringing a file forward; the next one
// does it.
func TestAMigrationThatIsKilledIsDoneByTheNext(t *testing.T) {
	kills := 40
	if testing.Short() || raceDetector {
		kills = 5
	}
	old := ofVersion(t, 1)
	killed := 0
	for i := range kills {
		path := filepath.Join(t.TempDir(), "sessions.db")
		copyTo(t, old, path)
		cmd, out, stderr := startChild(t, path, "open", 0)
		if !out.Scan() {
			t.Fatalf("the child ended early: %s", stderr)
		}
		time.AfterFunc(time.Duration(i)*250*time.Microsecond, func() { _ = cmd.Process.Kill() }) // it may have ended
		if cmd.Wait() != nil {
			killed++
		}
		checkOld(t, path)
	}
	t.Logf("%d of %d were killed", killed, kills)
}
