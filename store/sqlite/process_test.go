package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

// childEnv makes the test binary a process that writes to a store: its value
// is the file, the session and the number of messages. A session "repair" has it
// repair the file instead, and "open" only open it.
const childEnv = "RONDO_STORE_CHILD"

// child appends messages to a session that it creates and prints the id of
// each when it is acknowledged.
func child(spec string) error {
	f := strings.Split(spec, "|")
	if f[1] == "repair" {
		fmt.Println("begins")
		_, err := sqlite.Repair(context.Background(), f[0], sqlite.RepairOptions{})
		return err
	}
	if f[1] == "open" {
		fmt.Println("begins")
	}
	s, err := sqlite.Open(context.Background(), f[0], sqlite.Options{})
	if err != nil {
		return err
	}
	if f[1] == "open" {
		return s.Close()
	}
	if err := s.Create(context.Background(), store.Session{ID: f[1], Title: "work"}); err != nil {
		return err
	}
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	for i := range n {
		m := message.NewUser("message number " + strconv.Itoa(i))
		m.ID = fmt.Sprintf("%s-%06d", f[1], i)
		if err := s.Append(context.Background(), f[1], []*message.Message{m}, store.Update{Calls: 1}); err != nil {
			return err
		}
		if _, err := fmt.Println(m.ID); err != nil {
			return err
		}
	}
	return s.Close()
}

func startChild(t *testing.T, path, session string, n int) (*exec.Cmd, *bufio.Scanner, *strings.Builder) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", childEnv, path, session, n))
	stderr := new(strings.Builder)
	cmd.Stderr = stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), stderr
}

func TestWhatWasAcknowledgedOutlivesSIGKILL(t *testing.T) {
	path := file(t)
	for round, kill := range []int{1, 7, 40, 111} {
		id := fmt.Sprint("s", round)
		cmd, out, stderr := startChild(t, path, id, 1_000_000)
		acknowledged := 0
		for acknowledged < kill && out.Scan() {
			acknowledged++
		}
		if acknowledged < kill {
			t.Fatalf("the child ended early: %s", stderr)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // what it said before the signal reached it
			acknowledged++
		}
		_ = cmd.Wait() // it was killed

		s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
		if err != nil {
			t.Fatal(err)
		}
		session, msgs, err := s.Load(t.Context(), id)
		if err != nil || len(msgs) < acknowledged || len(msgs) > acknowledged+1 || session.Messages != len(msgs) || session.Calls != len(msgs) {
			t.Errorf("killed after %d: %d messages, %+v, %v", acknowledged, len(msgs), session, err)
		}
		for i, m := range msgs {
			if want := fmt.Sprintf("%s-%06d", id, i); m.ID != want {
				t.Fatalf("message %d is %s, want %s", i, m.ID, want)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestManyProcessesWriteOneFile(t *testing.T) {
	processes, each := 20, 200
	if testing.Short() || raceDetector {
		processes, each = 5, 20
	}
	path := file(t)
	var wg sync.WaitGroup
	for p := range processes {
		cmd, out, stderr := startChild(t, path, fmt.Sprintf("p%02d", p), each)
		wg.Go(func() {
			for out.Scan() {
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("process %d: %v: %s", p, err, stderr)
			}
		})
	}
	s := open(t, path)
	if _, err := s.List(t.Context(), store.ListOptions{}); err != nil {
		t.Errorf("List meanwhile: %v", err)
	}
	wg.Wait()
	list, err := s.List(t.Context(), store.ListOptions{})
	if err != nil || len(list) != processes {
		t.Fatalf("%d sessions, %v; want %d", len(list), err, processes)
	}
	titles := map[string]bool{}
	for _, session := range list {
		_, msgs, err := s.Load(t.Context(), session.ID)
		if err != nil || len(msgs) != each || session.Messages != each {
			t.Errorf("session %s has %d messages and counts %d, %v; want %d", session.ID, len(msgs), session.Messages, err, each)
		}
		titles[session.Title] = true
	}
	if len(titles) != processes {
		t.Errorf("%d titles for %d sessions", len(titles), processes)
	}
}

func TestTwoStoresAppendToOneSession(t *testing.T) {
	path := file(t)
	a, b := open(t, path), open(t, path)
	if err := a.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for i := range 20 {
		m := message.NewUser("x")
		m.ID = strconv.Itoa(i)
		if err := []*sqlite.Store{a, b}[i/3%2].Append(t.Context(), "s", []*message.Message{m}, store.Update{}); err != nil {
			t.Fatal(err)
		}
	}
	_, msgs, err := a.Load(t.Context(), "s")
	if err != nil || len(msgs) != 20 {
		t.Fatalf("%d messages, %v; want 20", len(msgs), err)
	}
	for i, m := range msgs {
		if m.ID != strconv.Itoa(i) {
			t.Errorf("message %d is %s", i, m.ID)
		}
	}
}

// A repair that is killed at any moment is taken up by the next, and loses
// nothing more.
func TestARepairThatIsKilledIsTakenUp(t *testing.T) {
	kills := 12
	if testing.Short() || raceDetector {
		kills = 3
	}
	path := someFile(t)
	overwrite(t, path, 0, 100, zero)
	begun := time.Now()
	whole := filepath.Join(t.TempDir(), "whole.db")
	copyTo(t, path, whole)
	if _, err := sqlite.Repair(t.Context(), whole, sqlite.RepairOptions{}); err != nil {
		t.Fatal(err)
	}
	takes := time.Since(begun)
	killed := 0
	for i := range kills {
		torn := filepath.Join(t.TempDir(), "torn.db")
		copyTo(t, path, torn)
		cmd, out, stderr := startChild(t, torn, "repair", 0)
		if !out.Scan() {
			t.Fatalf("the child ended early: %s", stderr)
		}
		time.AfterFunc(takes*time.Duration(i+1)/time.Duration(kills), func() { _ = cmd.Process.Kill() })
		if cmd.Wait() != nil {
			killed++
		}
		r, err := sqlite.Repair(t.Context(), torn, sqlite.RepairOptions{})
		if err != nil {
			t.Fatalf("after kill %d: %v", i, err)
		}
		st := open(t, torn)
		if report, err := st.Check(t.Context()); err != nil || len(report.Problems) > 0 || report.Messages != someSessions*someMessages {
			t.Errorf("after kill %d: %+v, %v; the repair says %+v", i, report, err, r)
		}
	}
	t.Logf("%d of %d were killed", killed, kills)
}

func copyTo(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
