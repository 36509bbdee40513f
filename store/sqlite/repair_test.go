package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// The store that is damaged: sessions of messages, of which each tenth is long.
const (
	someSessions = 12
	someMessages = 30
)

func sessionID(i int) string { return fmt.Sprintf("session-%02d", i) }

// fillSome fills a store, and returns it open: the last of it is in its log.
func fillSome(t *testing.T) (path string, s *sqlite.Store) {
	t.Helper()
	path = file(t)
	s = open(t, path)
	for i := range someSessions {
		session := store.Session{ID: sessionID(i), Title: fmt.Sprintf("title %d", i), System: "prompt " + sessionID(i), Workspace: "w"}
		if err := s.Create(t.Context(), session); err != nil {
			t.Fatal(err)
		}
		if err := s.Append(t.Context(), session.ID, someOf(i, someMessages), store.Update{EndReason: "end_turn"}); err != nil {
			t.Fatal(err)
		}
		last := fmt.Sprintf("m%d", someMessages)
		effect := store.Effect{MessageID: last, Tool: "sh", StartedAt: time.Unix(1, 0)}
		if err := s.Record(t.Context(), session.ID, nil, store.Update{}, []store.Effect{effect}); err != nil {
			t.Fatal(err)
		}
	}
	return path, s
}

// filled keeps what fillSome makes, closed.
var filled struct {
	sync.Mutex
	data []byte
}

// someFile makes a file as fillSome does, and leaves it closed.
func someFile(t *testing.T) (path string) {
	t.Helper()
	filled.Lock()
	defer filled.Unlock()
	if filled.data == nil {
		path, s := fillSome(t)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		filled.data = data
	}
	path = filepath.Join(t.TempDir(), "some.db")
	if err := os.WriteFile(path, filled.data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// someOf are the messages of session i.
func someOf(i, n int) []*message.Message {
	var msgs []*message.Message
	for k := range n {
		text := fmt.Sprintf("word%d of %s", k, sessionID(i))
		if k%10 == 0 {
			text += strings.Repeat(" and more", 1000)
		}
		m := message.NewAssistant(message.Text(text), message.Call("c", "sh", "{}"))
		m.ID = fmt.Sprintf("m%d", k+1)
		msgs = append(msgs, m)
	}
	return msgs
}

// overwrite damages a file from a place on.
func overwrite(t *testing.T, path string, at, n int64, with func(int) byte) {
	t.Helper()
	data := make([]byte, n)
	for i := range data {
		data[i] = with(i)
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(data, at)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func zero(int) byte { return 0 }

// damages are what is done to a file that is closed. atMost bounds the messages
// that may be lost by it, of 360; -1 is that nothing can be read.
var damages = map[string]struct {
	do     func(t *testing.T, path string)
	atMost int
}{
	"nothing":      {func(*testing.T, string) {}, 0},
	"head zeroed":  {func(t *testing.T, path string) { overwrite(t, path, 0, 100, zero) }, 0},
	"first page":   {func(t *testing.T, path string) { overwrite(t, path, 0, 4096, zero) }, 0},
	"pages zeroed": {func(t *testing.T, path string) { overwrite(t, path, 4096*40, 4096*5, zero) }, 60},
	"a torn page":  {func(t *testing.T, path string) { overwrite(t, path, 4096*30+1000, 512, zero) }, 40},
	"schema garbled": {func(t *testing.T, path string) {
		overwrite(t, path, 200, 3000, func(i int) byte { return byte(i * 7) })
	}, 0},
	"truncated": {func(t *testing.T, path string) {
		if err := os.Truncate(path, size(t, path)*2/3); err != nil {
			t.Fatal(err)
		}
	}, 200},
	"many random bytes": {func(t *testing.T, path string) {
		random := rand.New(rand.NewPCG(3, 4))
		for range 60 {
			overwrite(t, path, 4096+random.Int64N(size(t, path)-5000), 8, func(int) byte { return byte(random.Uint32()) })
		}
	}, 300},
	"index broken": {func(t *testing.T, path string) { change(t, path, "DELETE FROM message_text_data WHERE id > 10") }, 0},
	"index behind": {func(t *testing.T, path string) { change(t, path, "DELETE FROM message_text WHERE rowid % 2 = 0") }, 0},
	"empty file": {func(t *testing.T, path string) {
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
	}, -1},
	"text": {func(t *testing.T, path string) {
		if err := os.WriteFile(path, []byte(strings.Repeat("not a database. ", 1000)), 0o600); err != nil {
			t.Fatal(err)
		}
	}, -1},
}

func TestRepairRecoversWhatCanBeReadAndTellsTheRest(t *testing.T) {
	for name, d := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := someFile(t)
			d.do(t, path)
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			r, err := sqlite.Repair(t.Context(), path, sqlite.RepairOptions{})
			if d.atMost < 0 {
				after, _ := os.ReadFile(path)
				if !errors.Is(err, sqlite.ErrNothingReadable) || string(after) != string(before) || r.Backup != "" {
					t.Errorf("Repair = %v; want that nothing is readable, and the file as it was", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if kept, err := os.ReadFile(r.Backup); err != nil || string(kept) != string(before) {
				t.Errorf("the backup is not what the file was: %v", err)
			}
			lost := someSessions*someMessages - r.Messages
			if lost > d.atMost || lost > 0 && len(r.Lost) == 0 {
				t.Errorf("%d messages are lost, and it says %q", lost, r.Lost)
			}
			t.Logf("%d sessions, %d messages lost; lost %q; remarks %q", r.Sessions, lost, r.Lost, r.Remarks)
			repairedStore(t, path, r)
		})
	}
}

// repairedStore checks a store after a repair: it is whole but for what is lost,
// and can be written to, searched and deleted from.
func repairedStore(t *testing.T, path string, r sqlite.Repaired) {
	t.Helper()
	s := open(t, path)
	report, err := s.Check(t.Context())
	for _, p := range report.Problems {
		if p.Area != store.AreaMessages {
			t.Errorf("after the repair: %s", p)
		}
	}
	if err != nil || report.Sessions != r.Sessions || report.Messages != r.Messages {
		t.Errorf("it has %d sessions and %d messages, %v; the repair says %d and %d", report.Sessions, report.Messages, err, r.Sessions, r.Messages)
	}
	all, err := s.List(t.Context(), store.ListOptions{})
	if err != nil || len(all) == 0 {
		t.Fatal(len(all), err)
	}
	for _, session := range all {
		_, msgs, err := s.Load(t.Context(), session.ID)
		if _, damaged := errors.AsType[*store.DamagedError](err); err != nil && !damaged {
			t.Errorf("Load %s: %v", session.ID, err)
		}
		m := message.NewUser("goes on")
		m.ID = "new"
		if err := s.Append(t.Context(), session.ID, []*message.Message{m}, store.Update{}); err != nil {
			t.Errorf("Append to %s: %v", session.ID, err)
		}
		if _, again, _ := s.Load(t.Context(), session.ID); len(again) != len(msgs)+1 || again[len(msgs)].ID != "new" {
			t.Errorf("%s has %d messages, had %d", session.ID, len(again), len(msgs))
		}
	}
	if hits, err := s.Search(t.Context(), "word", store.SearchOptions{Limit: 1000}); err != nil || len(hits) < r.Messages/2 {
		t.Errorf("a search finds %d of %d messages, %v", len(hits), r.Messages, err)
	}
	if err := s.Delete(t.Context(), all[0].ID); err != nil {
		t.Error(err)
	}
}

func TestRepairReadsTheLogAndTakesTheRestFromElsewhere(t *testing.T) {
	spare := func(id string) []*message.Message {
		for i := range someSessions {
			if sessionID(i) == id {
				return someOf(i, someMessages)
			}
		}
		return nil
	}
	for _, c := range []struct {
		name string
		do   func(t *testing.T, torn string)
	}{
		{"the log is whole", func(*testing.T, string) {}},
		{"a record of the log is damaged", func(t *testing.T, torn string) { overwrite(t, torn+"-wal", 100_000, 3000, zero) }},
		{"the head of the log is damaged", func(t *testing.T, torn string) { overwrite(t, torn+"-wal", 0, 32, zero) }},
		{"the log is cut off", func(t *testing.T, torn string) {
			if err := os.Truncate(torn+"-wal", size(t, torn+"-wal")/2); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path, _ := fillSome(t)
			torn := tear(t, path, size(t, path+"-wal"), nil)
			c.do(t, torn)
			bare := tear(t, torn, size(t, torn+"-wal"), nil)
			r, err := sqlite.Repair(t.Context(), bare, sqlite.RepairOptions{})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d sessions, %d messages; lost %q; remarks %q", r.Sessions, r.Messages, r.Lost, r.Remarks)
			repairedStore(t, bare, r)
			if r, err = sqlite.Repair(t.Context(), torn, sqlite.RepairOptions{Spare: spare}); err != nil {
				t.Fatal(err)
			}
			if r.Messages != r.Sessions*someMessages || len(r.Lost) > 0 {
				t.Errorf("with snapshots: %d messages of %d sessions; lost %q", r.Messages, r.Sessions, r.Lost)
			}
			repairedStore(t, torn, r)
		})
	}
}

func TestRepairRefusesAFileInUse(t *testing.T) {
	path := file(t)
	cmd, out, stderr := startChild(t, path, "s", 1_000_000)
	if !out.Scan() {
		t.Fatalf("the child ended early: %s", stderr)
	}
	defer func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	}()
	_, err := sqlite.Repair(t.Context(), path, sqlite.RepairOptions{})
	if !errors.Is(err, sqlite.ErrInUse) || !strings.Contains(err.Error(), fmt.Sprint(cmd.Process.Pid)) {
		t.Errorf("Repair = %v, want that process %d uses the file", err, cmd.Process.Pid)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestRepairRefusesTheFilesOfOthers(t *testing.T) {
	foreign := filepath.Join(t.TempDir(), "foreign.db")
	change(t, foreign, "CREATE TABLE photos (x)")
	if _, err := sqlite.Repair(t.Context(), foreign, sqlite.RepairOptions{}); !errors.Is(err, sqlite.ErrForeign) {
		t.Errorf("foreign: %v", err)
	}
	newer := file(t)
	if err := open(t, newer).Close(); err != nil {
		t.Fatal(err)
	}
	change(t, newer, "PRAGMA user_version = 1000")
	if _, err := sqlite.Repair(t.Context(), newer, sqlite.RepairOptions{}); !errors.Is(err, sqlite.ErrNewerSchema) {
		t.Errorf("newer: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := someFile(t)
	if _, err := sqlite.Repair(ctx, path, sqlite.RepairOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if left, _ := filepath.Glob(path + ".*"); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

func TestRepairCompletesOneThatWasKilledAtTheEnd(t *testing.T) {
	path := someFile(t)
	copyTo(t, path, path+".repaired")
	overwrite(t, path, 0, 4096*10, zero)
	r, err := sqlite.Repair(t.Context(), path, sqlite.RepairOptions{})
	if err != nil || len(r.Remarks) != 1 || !strings.Contains(r.Remarks[0], "interrupted is completed") {
		t.Fatalf("%+v, %v", r, err)
	}
	st := open(t, path)
	if report, err := st.Check(t.Context()); err != nil || len(report.Problems) > 0 || report.Messages != someSessions*someMessages {
		t.Errorf("%+v, %v", report, err)
	}
	// One that did not come so far is begun anew.
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".repaired", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if r, err := sqlite.Repair(t.Context(), path, sqlite.RepairOptions{}); err != nil || r.Messages != someSessions*someMessages {
		t.Errorf("%+v, %v", r, err)
	}
}
