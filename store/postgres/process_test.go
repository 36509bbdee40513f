package postgres_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
)

// childEnv makes the test binary a process that writes to a store: its value
// is the URL, the session and the number of messages.
const childEnv = "RONDO_STORE_CHILD"

// child locks a session that it creates, appends messages to it and prints the
// id of each when it is acknowledged.
func child(spec string) error {
	ctx := context.Background()
	f := strings.Split(spec, "|")
	n, err := strconv.Atoi(f[2])
	if err != nil {
		return err
	}
	s, err := postgres.Open(ctx, f[0], postgres.Options{})
	if err != nil {
		return err
	}
	if _, err := s.Lock(ctx, f[1]); err != nil {
		return err
	}
	if err := s.Create(ctx, store.Session{ID: f[1], Title: "work"}); err != nil {
		return err
	}
	for i := range n {
		m := message.NewUser("message number " + strconv.Itoa(i))
		m.ID = fmt.Sprintf("%s-%06d", f[1], i)
		if err := s.Append(ctx, f[1], []*message.Message{m}, store.Update{Calls: 1}); err != nil {
			return err
		}
		if _, err := fmt.Println(m.ID); err != nil {
			return err
		}
	}
	return s.Close()
}

func startChild(t *testing.T, url, session string, n int) (*exec.Cmd, *bufio.Scanner, *strings.Builder) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s|%s|%d", childEnv, url, session, n))
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

func TestWhatWasAcknowledgedOutlivesSIGKILLAndTheLockDoesNot(t *testing.T) {
	url := server.Schema(t)
	s := open(t, url)
	for round, kill := range []int{1, 7, 40} {
		id := fmt.Sprint("s", round)
		cmd, out, stderr := startChild(t, url, id, 1_000_000)
		acknowledged := 0
		for acknowledged < kill && out.Scan() {
			acknowledged++
		}
		if acknowledged < kill {
			t.Fatalf("the child ended early: %s", stderr)
		}
		if h, held, err := s.Holder(t.Context(), id); err != nil || !held || h.PID != cmd.Process.Pid {
			t.Errorf("Holder = %+v, %v, %v; want process %d", h, held, err, cmd.Process.Pid)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // what it said before the signal reached it
			acknowledged++
		}
		_ = cmd.Wait() // it was killed
		unlock, err := s.Lock(t.Context(), id)
		if err != nil {
			t.Fatalf("the lock outlives its holder: %v", err)
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
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
}

func TestManyProcessesWriteToOneDatabase(t *testing.T) {
	processes, each := 20, 200
	if testing.Short() || raceDetector {
		processes, each = 5, 20
	}
	url := server.Schema(t)
	s := open(t, url)
	var wg sync.WaitGroup
	for p := range processes {
		cmd, out, stderr := startChild(t, url, fmt.Sprintf("p%02d", p), each)
		wg.Go(func() {
			for out.Scan() {
			}
			if err := cmd.Wait(); err != nil || stderr.Len() > 0 {
				t.Errorf("process %d: %v: %s", p, err, stderr)
			}
		})
	}
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
