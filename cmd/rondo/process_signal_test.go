//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopsWithin is what a stop may take here; it is meant to take less than a
// second, but machines that run tests are busy.
const stopsWithin = 2 * time.Second

// interrupt runs the program until an event holds sign, sends it the signals,
// and returns how it ended and how long that took. A command of the shell tool
// is waited for until it has made the file started.
func (s *station) interrupt(sign string, signals []syscall.Signal, args ...string) (ending, time.Duration) {
	s.t.Helper()
	c := s.command(args...)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	stuck := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer stuck.Stop()
	var said strings.Builder
	var at time.Time
	for r := bufio.NewScanner(out); r.Scan(); {
		said.WriteString(r.Text() + "\n")
		if at.IsZero() && strings.Contains(r.Text(), sign) {
			s.settle(sign)
			at = time.Now()
			for _, sig := range signals {
				if err := c.Process.Signal(sig); err != nil {
					s.t.Error(err)
				}
				time.Sleep(5 * time.Millisecond)
			}
		}
	}
	_ = c.Wait() // its status is looked at by the caller
	if at.IsZero() {
		s.t.Fatalf("%q was not seen; stdout: %s\nstderr: %s", sign, said.String(), errs.String())
	}
	took := time.Since(at)
	s.t.Logf("stopped %v after the signal", took.Round(time.Millisecond))
	return ending{c.ProcessState.ExitCode(), said.String(), errs.String()}, took
}

// settle waits until what the sign announces is under way.
func (s *station) settle(sign string) {
	if sign != commandSign {
		time.Sleep(50 * time.Millisecond)
		return
	}
	for range 500 {
		if _, err := os.Stat(filepath.Join(s.work, "started")); err == nil {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	s.t.Error("the command did not start")
}

// resumes goes on with the interrupted session, in which the server must find
// no fault.
func (s *station) resumes() {
	s.t.Helper()
	e := s.run("run", "--json", "--resume", "last", "go on")
	if done := e.done(s.t); e.status != 0 || done.FinalResponse != "Went on." {
		s.t.Errorf("resumed with status %d: %+v; stderr: %s", e.status, done, e.stderr)
	}
}

const commandSign = `"tool_use_start"`

var interruptions = []struct{ name, script, sign string }{
	{"stalled stream", "reply\n  text Half a\n  stall\nreply\n  text Went on.\n", `"text_delta"`},
	{"running command", "reply\n  call shell {\"command\":\"trap '' TERM INT; touch started; setsid sleep 61731 & sleep 61732\"}\nreply\n  text Went on.\n", commandSign},
	{"back-off", "reply\n  status 429 Slow down.\n  header Retry-After: 30\nreply\n  text Went on.\n", `"rate_limit"`},
}

func TestSignalStopsCleanly(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for i, in := range interruptions {
			mode := apiModes[(i+int(sig))%len(apiModes)]
			t.Run(sig.String()+" "+in.name, func(t *testing.T) {
				t.Parallel()
				// Each process is told by a number of its own.
				number := strings.NewReplacer("61731", mark(sig, i, 1), "61732", mark(sig, i, 2))
				s := newStation(t, mode, number.Replace(in.script))
				e, took := s.interrupt(in.sign, []syscall.Signal{sig}, "run", "--json", "please work")
				done := e.done(t)
				if e.status != 130 || took > stopsWithin || done.Reason != "user_cancel" || e.stderr != "" {
					t.Errorf("status %d after %v, %+v, stderr %q", e.status, took, done, e.stderr)
				}
				noneLeft(t, mark(sig, i, 1), mark(sig, i, 2))
				s.resumes()
			})
		}
	}
}

// mark is a number of seconds that no other process sleeps for.
func mark(sig syscall.Signal, i, n int) string {
	return "6" + string(rune('1'+i)) + string(rune('0'+int(sig)/10)) + string(rune('0'+int(sig)%10)) + string(rune('0'+n))
}

// noneLeft wants no process that sleeps for one of the marks.
func noneLeft(t *testing.T, marks ...string) {
	t.Helper()
	if _, err := exec.LookPath("ps"); err != nil {
		t.Skip("processes cannot be listed: there is no ps")
	}
	out, err := exec.Command("ps", "-eo", "pid,stat,args").Output()
	if err != nil {
		t.Fatal(err)
	}
	for l := range strings.Lines(string(out)) {
		for _, m := range marks {
			if strings.Contains(l, "sleep "+m) {
				t.Errorf("left behind: %s", strings.TrimSpace(l))
			}
		}
	}
}

// timeout(1) and others send a signal to a process and once more to its group;
// that is one stop, and a clean one.
func TestSignalThatComesTwiceIsOneStop(t *testing.T) {
	t.Parallel()
	in := interruptions[1]
	s := newStation(t, apiModes[0], strings.NewReplacer("61731", "61991", "61732", "61992").Replace(in.script))
	e, took := s.interrupt(in.sign, []syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, "run", "--json", "please work")
	if done := e.done(t); e.status != 130 || took > stopsWithin || done.Reason != "user_cancel" {
		t.Errorf("status %d after %v, %+v", e.status, took, done)
	}
	noneLeft(t, "61991", "61992")
	s.resumes()
}

func TestStopWithoutJSONSaysSo(t *testing.T) {
	t.Parallel()
	s := newStation(t, apiModes[1], "reply\n  text Half a\n  stall\nreply\n  text Went on.\n")
	c := s.command("run", "please work")
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); len(s.srv.Requests()) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond)
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its status is what is looked at
	if c.ProcessState.ExitCode() != 130 || out.String() != "" {
		t.Errorf("status %d, stdout %q, stderr %q", c.ProcessState.ExitCode(), out.String(), errs.String())
	}
	if !regexp.MustCompile(`^rondo: stopped; rondo run --resume \S+ goes on\n$`).MatchString(errs.String()) {
		t.Errorf("stderr is %q", errs.String())
	}
}

func TestSignalWhileThePromptIsReadStopsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStation(t, apiModes[0], "reply\n  text never\n")
	c := s.command("run")
	in, err := c.StdinPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	stuck := time.AfterFunc(20*time.Second, func() { _ = c.Process.Kill() })
	defer stuck.Stop()
	time.Sleep(500 * time.Millisecond)
	at := time.Now()
	if err := c.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	_ = c.Wait() // its status is looked at
	status, ok := c.ProcessState.Sys().(syscall.WaitStatus)
	if took := time.Since(at); took > stopsWithin || !ok || !status.Signaled() || status.Signal() != syscall.SIGINT {
		t.Errorf("it ended with %v after %v", c.ProcessState, took)
	}
}
