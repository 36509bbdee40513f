//go:build unix

package crash

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/store/sqlite"
)

var (
	runs = flag.Int("crash.runs", 30, "how often a process is killed, in all")
	seed = flag.Uint64("crash.seed", 0, "seed of the moments; 0 takes one from the clock")
)

// rounds is how many model calls the task takes.
const rounds = 12

// script is the task: rounds of calls, alone and together, with effects and
// without.
func script(t *testing.T) []modeltest.Script {
	t.Helper()
	var b strings.Builder
	b.WriteString("position history\n")
	for i := range rounds - 1 {
		b.WriteString("reply\n  text Next.\n")
		for k := range 1 + i%4 {
			if (i+k)%3 == 2 {
				fmt.Fprintf(&b, "  call look {\"n\":%d}\n", 10*i+k)
			} else {
				fmt.Fprintf(&b, "  call append {\"line\":\"%d.%d\"}\n", i, k)
			}
		}
	}
	b.WriteString("reply\n  text All is done.\n")
	scripts, err := modeltest.Parse("task", b.String())
	if err != nil {
		t.Fatal(err)
	}
	return scripts
}

// site is where one task is worked on.
type site struct {
	t     *testing.T
	order order
	said  map[string]bool // the messages that were acknowledged
	marks []string        // what the process said of itself
	fresh bool            // the last of marks was said just now
	old   int             // sessions that were there before
}

func newSite(t *testing.T, srv *modeltest.Server, strategy snapshot.Strategy) *site {
	s := &site{t: t, said: map[string]bool{}, order: order{Home: t.TempDir(), Strategy: strategy}}
	if srv != nil {
		s.order.URL = srv.BaseURL(model.ChatCompletions)
	}
	return s
}

// start starts the process. It calls heard after each message that is
// acknowledged, and returns the status and what it said on stderr.
func (s *site) start(heard func(p *os.Process)) (status int, stderr string) {
	s.t.Helper()
	text, err := json.Marshal(s.order)
	if err != nil {
		s.t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+string(text))
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	heard(cmd.Process)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		mark, ok := strings.CutPrefix(lines.Text(), "#")
		if s.fresh = ok; ok {
			s.marks = append(s.marks, mark)
		} else {
			s.said[lines.Text()] = true
		}
		heard(cmd.Process)
	}
	err = cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), errs.String()
}

// check holds what must be true at any time: the database and the snapshot are
// whole, and no message that was acknowledged is lost.
func (s *site) check() []*message.Message {
	s.t.Helper()
	path := filepath.Join(s.order.Home, "sessions.db")
	if _, err := os.Stat(path); err != nil {
		return nil
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		s.t.Fatal(err)
	}
	var verdict string
	if err := errors.Join(db.QueryRow("PRAGMA integrity_check").Scan(&verdict), db.Close()); err != nil || verdict != "ok" {
		s.t.Fatalf("the database: %v %s", err, verdict)
	}
	st, err := sqlite.Open(s.t.Context(), path, sqlite.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	found, err := st.Find(s.t.Context(), store.Last, "")
	if errors.Is(err, store.ErrNotFound) && len(s.said) == 0 {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	_, msgs, err := st.Load(s.t.Context(), found.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	for id := range s.said {
		if !slices.ContainsFunc(msgs, func(m *message.Message) bool { return m.ID == id }) {
			s.t.Errorf("message %s was acknowledged and is lost", id)
		}
	}
	dir := snapshot.Dir(filepath.Join(s.order.Home, "snapshots"))
	if snap, err := dir.Load(s.t.Context(), found.ID); err == nil && len(snap.Messages) > len(msgs) {
		s.t.Errorf("the snapshot has %d messages, the store %d", len(snap.Messages), len(msgs))
	} else if err != nil && !errors.Is(err, snapshot.ErrNotFound) {
		s.t.Error(err)
	}
	return msgs
}

// finish holds what must be true when the task is done: each call with effects
// was carried out once, or not for certain and the model knows it. It returns
// how many were uncertain.
func (s *site) finish() (uncertain int) {
	s.t.Helper()
	msgs := s.check()
	history, changes := message.Normalise(msgs)
	for _, c := range changes {
		if c.Rule != message.RuleMoved {
			s.t.Errorf("the history had to be mended: %s: %s", c.Rule, c.Detail)
		}
	}
	text, err := os.ReadFile(s.order.ledger())
	if err != nil {
		s.t.Fatal(err)
	}
	count := map[string]int{}
	for line := range strings.Lines(string(text)) {
		count[strings.TrimSpace(line)]++
	}
	calls := map[string]*message.ToolCall{}
	results := 0
	for _, m := range history.Messages() {
		for _, c := range m.Calls() {
			calls[c.ID] = c
		}
		if m.Role != message.Tool {
			continue
		}
		results++
		var args struct{ Line string }
		if err := json.Unmarshal([]byte(calls[m.ToolCallID].Arguments), &args); err != nil {
			s.t.Fatal(err)
		}
		unknown := strings.Contains(m.Text(), "outcome is unknown")
		if unknown {
			uncertain++
		}
		if n := count[args.Line]; args.Line != "" && (n > 1 || n == 0 && !unknown) {
			s.t.Errorf("%s is in the ledger %d times; the model was told %q", args.Line, n, m.Text())
		}
	}
	if last := history.Last(); last == nil || last.Text() != "All is done." || results < rounds {
		s.t.Errorf("the task ended after %d results with %+v", results, last)
	}
	return uncertain
}

func start(t *testing.T) *modeltest.Server {
	t.Helper()
	srv, err := modeltest.Start(modeltest.Options{Scripts: script(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range srv.Faults() {
			t.Errorf("the server refused %s", f)
		}
		srv.Close()
	})
	return srv
}

// Scenarios 62 and 121.
func TestAKilledProcessLosesAndRepeatsNothing(t *testing.T) {
	random := seeded(t)
	srv := start(t)
	strategies := []snapshot.Strategy{snapshot.EveryToolRound, snapshot.EveryRound, snapshot.Manual}
	kills, tasks, uncertain := 0, 0, 0
	for kills < *runs && !t.Failed() {
		s := newSite(t, srv, strategies[tasks%3])
		for {
			status, stderr := s.start(killer(random))
			if status == 0 {
				break
			}
			if status != -1 {
				t.Fatalf("with %s after %d kills: status %d: %s", s.order.Strategy, kills, status, stderr)
			}
			kills++
			s.check()
		}
		tasks++
		uncertain += s.finish()
	}
	t.Logf("%d kills in %d tasks, %d calls of uncertain outcome", kills, tasks, uncertain)
}

// seeded is a source of random moments that can be had again.
func seeded(t *testing.T) *rand.Rand {
	if *seed == 0 {
		*seed = uint64(time.Now().UnixNano())
	}
	t.Logf("-crash.seed=%d", *seed)
	return rand.New(rand.NewPCG(*seed, 0))
}

// killer kills the process a random moment after a random number of messages
// was acknowledged, and sometimes not at all.
func killer(random *rand.Rand) func(*os.Process) {
	after, pause := random.IntN(16), time.Duration(random.IntN(3000))*time.Microsecond
	if random.IntN(4) == 0 {
		after, pause = 0, time.Duration(random.IntN(200))*time.Millisecond
	}
	return func(p *os.Process) {
		if after == 0 {
			time.AfterFunc(pause, func() { _ = p.Kill() }) // it may have ended
		}
		after--
	}
}

// Scenario 63, with a real disk's way of being full.
func TestAFullDiskEndsTheRunAndItGoesOnWhenThereIsRoom(t *testing.T) {
	srv := start(t)
	failures := 0
	s := newSite(t, srv, snapshot.EveryToolRound)
	for s.order.MaxFile = 8 << 10; ; s.order.MaxFile += 4 << 10 {
		status, stderr := s.start(func(*os.Process) {})
		if status == 0 {
			break
		}
		failures++
		if status != 3 || !strings.Contains(stderr, "disk") && !strings.Contains(stderr, "file too large") {
			t.Fatalf("with files of %d bytes: status %d: %s", s.order.MaxFile, status, stderr)
		}
		s.check()
		if s.order.MaxFile > 8<<20 {
			t.Fatalf("it never ends: %s", stderr)
		}
	}
	s.order.MaxFile = 0
	if status, stderr := s.start(func(*os.Process) {}); status != 0 {
		t.Errorf("with room again: status %d: %s", status, stderr)
	}
	s.finish()
	t.Logf("%d runs met a full disk", failures)
	if failures < 3 {
		t.Error("the disk was hardly ever full")
	}
}
