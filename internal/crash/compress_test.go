//go:build unix

package crash

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// Compressions, and the step from an older version of the file, are moments at
// which a kill could leave something half done.
func TestAKilledCompressionOrMigrationLosesAndRepeatsNothing(t *testing.T) {
	random := seeded(t)
	strategies := []snapshot.Strategy{snapshot.EveryToolRound, snapshot.EveryRound, snapshot.Manual}
	kills, tasks, uncertain, sessions, opening, compressing := 0, 0, 0, 0, 0, 0
	for kills < *runs/2 && !t.Failed() {
		s := newSite(t, nil, strategies[tasks%3])
		s.order.Count = true
		if tasks%2 == 1 {
			s.makeOld()
		}
		for {
			s.marks = nil
			status, stderr := s.start(markKiller(random, s))
			if status == 0 {
				break
			}
			if status != -1 {
				t.Fatalf("with %s after %d kills: status %d: %s", s.order.Strategy, kills, status, stderr)
			}
			kills++
			switch {
			case len(s.marks) <= 1:
				opening++
			case s.marks[len(s.marks)-1] == "compressing":
				compressing++
			}
			s.whole()
		}
		tasks++
		all, unknown := s.counted()
		sessions += all
		uncertain += unknown
	}
	t.Logf("%d kills in %d tasks of %d sessions, %d of them before the store was open, %d in a compression; %d calls of uncertain outcome",
		kills, tasks, sessions, opening, compressing, uncertain)
}

// markKiller kills the process a moment after one of the marks that it leaves,
// and sometimes at any other moment.
func markKiller(random *rand.Rand, s *site) func(*os.Process) {
	mark := []string{"opening", "compressing", "compressing", "compressing", ""}[random.IntN(5)]
	times, pause := 1+random.IntN(2), time.Duration(random.IntN(6000))*time.Microsecond
	if mark == "" {
		return killer(random)
	}
	return func(p *os.Process) {
		if n := len(s.marks); n > 0 && s.marks[n-1] == mark && s.fresh {
			if times--; times == 0 || mark == "opening" {
				time.AfterFunc(pause, func() { _ = p.Kill() }) // it may have ended
			}
		}
	}
}

// makeOld gives the site a file of the first version, with sessions in it.
func (s *site) makeOld() {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "store", "sqlite", "testdata", "version1.sql"))
	if err != nil {
		s.t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(s.order.Home, "sessions.db"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(string(text)); err != nil {
		s.t.Fatal(err)
	}
	s.old = 4
}

// whole holds what must be true at any time: nothing in the store is amiss, no
// message that was acknowledged is lost, and each snapshot can be read.
func (s *site) whole() (all []store.Session, msgs map[string][]*message.Message) {
	s.t.Helper()
	st, err := sqlite.Open(s.t.Context(), filepath.Join(s.order.Home, "sessions.db"), sqlite.Options{})
	if err != nil {
		s.t.Fatal(err)
	}
	defer st.Close()
	report, err := st.Check(s.t.Context())
	if err != nil || len(report.Problems) > 0 || report.Sessions < s.old {
		s.t.Fatalf("the store: %+v, %v", report, err)
	}
	if all, err = st.List(s.t.Context(), store.ListOptions{Workspace: workspace}); err != nil {
		s.t.Fatal(err)
	}
	msgs = map[string][]*message.Message{}
	have := map[string]bool{}
	for _, session := range all {
		if _, msgs[session.ID], err = st.Load(s.t.Context(), session.ID); err != nil {
			s.t.Fatal(err)
		}
		for _, m := range msgs[session.ID] {
			have[session.ID+"/"+m.ID] = true
		}
	}
	for id := range s.said {
		if !have[id] {
			s.t.Errorf("message %s was acknowledged and is lost", id)
		}
	}
	dir := snapshot.Dir(filepath.Join(s.order.Home, "snapshots"))
	ids, err := dir.List()
	for _, id := range ids {
		if snap, err := dir.Load(s.t.Context(), id); err != nil || len(snap.Messages) > len(msgs[id]) {
			s.t.Errorf("the snapshot of %s: %v", id, err)
		}
	}
	if err != nil {
		s.t.Error(err)
	}
	return all, msgs
}

// counted holds what must be true when the counter's task is done. It returns
// how many sessions it took, and how many calls were uncertain.
func (s *site) counted() (sessions, uncertain int) {
	s.t.Helper()
	all, msgs := s.whole()
	unknown := map[string]bool{}
	done := false
	for _, list := range msgs {
		args := map[string]string{}
		for _, m := range list {
			for _, c := range m.Calls() {
				args[c.ID] = c.Arguments
			}
			if m.Role == message.Tool && strings.Contains(m.Text(), "outcome is unknown") {
				unknown[args[m.ToolCallID]] = true
			}
		}
		done = done || len(list) > 0 && list[len(list)-1].Text() == "All is done."
	}
	text, err := os.ReadFile(s.order.ledger())
	if err != nil {
		s.t.Fatal(err)
	}
	got := strings.Fields(string(text))
	for i := range lines {
		line := fmt.Sprint(i + 1)
		n := 0
		for _, g := range got {
			if g == line {
				n++
			}
		}
		if n > 1 || n == 0 && !unknown[fmt.Sprintf(`{"line":"%s"}`, line)] {
			s.t.Errorf("with %s: line %s is in the ledger %d times; uncertain are %v", s.order.Strategy, line, n, unknown)
		}
	}
	if !done || slices.ContainsFunc(all, func(s store.Session) bool { return s.Relation != store.Compression && s.Relation != "" }) {
		s.t.Errorf("the task is not done, or in odd sessions: %+v", all)
	}
	return len(all), len(unknown)
}
