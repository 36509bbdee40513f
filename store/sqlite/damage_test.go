package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

func say(t *testing.T, s store.Store, id, text string) {
	t.Helper()
	m := message.NewUser(text)
	m.ID = id
	if err := s.Append(t.Context(), "s", []*message.Message{m}, store.Update{}); err != nil {
		t.Fatalf("Append %s: %v", id, err)
	}
}

func ids(msgs []*message.Message) string {
	var ids []string
	for _, m := range msgs {
		ids = append(ids, m.ID)
	}
	return strings.Join(ids, " ")
}

// tear copies the file and its log as a crash in the middle of a write would
// leave them: the log holds its first keep bytes and then tail.
func tear(t *testing.T, path string, keep int64, tail []byte) string {
	t.Helper()
	torn := filepath.Join(t.TempDir(), "torn.db")
	db, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	wal, err := os.ReadFile(path + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{torn: db, torn + "-wal": slices.Concat(wal[:keep], tail)} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return torn
}

func size(t *testing.T, path string) int64 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}

func TestTornTailLosesOnlyWhatWasNotAcknowledged(t *testing.T) {
	path := file(t)
	s := open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "1", "hi")
	before := size(t, path+"-wal")
	say(t, s, "2", "hello there 🙂")
	after := size(t, path+"-wal")
	for name, c := range map[string]struct {
		keep int64
		tail []byte
	}{
		"cut at the start":       {before, nil},
		"cut inside of a header": {before + 10, nil},
		"cut inside of a page":   {before + 24 + 2000, nil},
		"last byte missing":      {after - 1, nil},
		"NUL bytes":              {before, make([]byte, 300)},
		"NUL pages":              {before, make([]byte, 2*(24+4096))},
	} {
		t.Run(name, func(t *testing.T) {
			torn := tear(t, path, c.keep, c.tail)
			r := open(t, torn)
			if _, msgs, err := r.Load(t.Context(), "s"); err != nil || ids(msgs) != "1" {
				t.Errorf("after the crash: %q, %v; want 1", ids(msgs), err)
			}
			say(t, r, "3", "again")
			again := open(t, torn)
			if _, msgs, err := again.Load(t.Context(), "s"); err != nil || ids(msgs) != "1 3" {
				t.Errorf("after the next append: %q, %v; want 1 3", ids(msgs), err)
			}
		})
	}
}

// damage is what a crash can leave of a record, as SQL.
var damage = map[string]string{
	"cut in a string":    `'{"role":"user","content":"he'`,
	"cut in a character": `CAST(x'7b22726f6c65223a2275736572222c22636f6e74656e74223a22e697' AS TEXT)`,
	"NUL bytes":          `CAST(zeroblob(300) AS TEXT)`,
	"nothing":            `''`,
}

func TestDamagedRecordHidesNoOther(t *testing.T) {
	for name, record := range damage {
		t.Run(name, func(t *testing.T) {
			path := file(t)
			s := open(t, path)
			if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
				t.Fatal(err)
			}
			say(t, s, "1", "hi")
			say(t, s, "2", "he")
			change(t, path, `UPDATE messages SET body = `+record+` WHERE seq = 1`)
			say(t, s, "3", "again")
			session, msgs, err := s.Load(t.Context(), "s")
			d, ok := errors.AsType[*store.DamagedError](err)
			if !ok || !slices.Equal(d.Seqs, []int{1}) || ids(msgs) != "1 3" || session.ID != "s" {
				t.Errorf("Load = %q, %v; want 1 3 and a warning about number 1", ids(msgs), err)
			}
		})
	}
}

func change(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func TestOpenSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text.db")
	if err := os.WriteFile(text, []byte(strings.Repeat("not a database. ", 100)), 0o600); err != nil {
		t.Fatal(err)
	}
	newer := file(t)
	if err := open(t, newer).Close(); err != nil {
		t.Fatal(err)
	}
	change(t, newer, "PRAGMA user_version = 1000")
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	change(t, foreign, "CREATE TABLE photos (x)")
	for name, c := range map[string]struct{ path, want string }{
		"text":      {text, "not a session store, or its head is damaged; move it away or choose another, or try rondo sessions repair"},
		"newer":     {newer, "version 1000, this program knows versions up to " + strconv.Itoa(sqlite.Versions) + "; use the newer rondo"},
		"foreign":   {foreign, `another program (it has a table "photos"`},
		"directory": {t.TempDir(), "cannot be opened; check"},
		"below":     {filepath.Join(text, "x.db"), "not a directory"},
	} {
		_, err := sqlite.Open(t.Context(), c.path, sqlite.Options{})
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) {
			t.Errorf("%s: %v; want %q about %s", name, err, c.want, c.path)
		}
	}
	if _, err := sqlite.Open(t.Context(), newer, sqlite.Options{}); !errors.Is(err, sqlite.ErrNewerSchema) {
		t.Errorf("newer: %v, want ErrNewerSchema", err)
	}
}

func TestUnwritableFileCanBeReadAndSaysThatItCannotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	path := file(t)
	s := open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o400); err != nil {
		t.Fatal(err)
	}
	r := open(t, path)
	if _, err := r.Find(t.Context(), "s", ""); err != nil {
		t.Errorf("Find: %v", err)
	}
	err := r.Create(t.Context(), store.Session{ID: "t"})
	if err == nil || !strings.Contains(err.Error(), path+": the file may not be written; check the permissions") {
		t.Errorf("Create = %v, want that the file may not be written", err)
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	_, err = sqlite.Open(t.Context(), filepath.Join(dir, "x", "s.db"), sqlite.Options{})
	if err == nil || !strings.Contains(err.Error(), "permission denied; check the permissions or choose another file") {
		t.Errorf("Open = %v, want that permission is denied", err)
	}
}

func TestFilesAreForTheUserAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a", "b %3f?#", "sessions.db")
	s := open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]fs.FileMode{
		filepath.Dir(path): 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", filepath.Base(name), got, want)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 3 {
		t.Errorf("the directory holds %v, %v; want the file, its log and its index", entries, err)
	}
}

func TestFullDiskLosesNothingThatWasSaved(t *testing.T) {
	path := file(t)
	s := open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	say(t, s, "1", "hi")
	sqlite.LimitPages(t, s, 20)
	m := message.NewResult(&message.ToolCall{ID: "c", Name: "read"}, message.StatusOK, strings.Repeat("x", 1<<20))
	m.ID = "2"
	err := s.Append(t.Context(), "s", []*message.Message{m}, store.Update{Calls: 1})
	if err == nil || !strings.Contains(err.Error(), "disk is full") || !strings.Contains(err.Error(), path) {
		t.Errorf("Append = %v, want that the disk is full", err)
	}
	say(t, s, "3", "small")
	if session, msgs, err := s.Load(t.Context(), "s"); err != nil || ids(msgs) != "1 3" || session.Calls != 0 {
		t.Errorf("after the failure: %q, %+v, %v; want 1 3", ids(msgs), session, err)
	}
}

func TestWaitForALockEnds(t *testing.T) {
	path := file(t)
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{LockWait: 250 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	db, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Create(t.Context(), store.Session{ID: "s"})
	if err == nil || strings.Contains(err.Error(), "locked") || !strings.Contains(err.Error(), "other processes kept writing") {
		t.Errorf("Create = %v, want that others write", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Create(ctx, store.Session{ID: "s"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Create = %v, want the context's error", err)
	}
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Errorf("Create after the others: %v", err)
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := open(t, file(t))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if err := s.Create(t.Context(), store.Session{ID: "s"}); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("Create = %v, want ErrClosed", err)
	}
	if _, err := s.List(t.Context(), store.ListOptions{}); !errors.Is(err, sqlite.ErrClosed) {
		t.Errorf("List = %v, want ErrClosed", err)
	}
}
