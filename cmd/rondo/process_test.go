package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

var apiModes = []model.Mode{model.ChatCompletions, model.CodexResponses, model.AnthropicMessages}

// station is where the program is run as a process of its own: a home, a
// workspace, and a model server that says what a script tells it to.
type station struct {
	t    *testing.T
	srv  *modeltest.Server
	mode model.Mode
	home string
	work string
	env  []string
}

// newStation starts a server with the script; it is checked for faults at the
// end of the test.
func newStation(t *testing.T, mode model.Mode, script string) *station {
	t.Helper()
	scripts, err := modeltest.Parse("script", script)
	if err != nil {
		t.Fatal(err)
	}
	srv, err := modeltest.Start(modeltest.Options{Scripts: scripts, Key: "sk-test-key"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, f := range srv.Faults() {
			t.Errorf("the server refused %s", f)
		}
		srv.Close()
	})
	return &station{t: t, srv: srv, mode: mode, home: t.TempDir(), work: t.TempDir()}
}

// command is the program with the given words, which are "run" and its flags or
// another command.
func (s *station) command(args ...string) *exec.Cmd {
	if args[0] == "run" && s.srv != nil {
		args = slices.Concat([]string{"run", "--base-url", s.srv.BaseURL(s.mode), "--api-mode", string(s.mode), "--model", "m"}, args[1:])
	}
	c := exec.Command("rondo", args...)
	c.Dir = s.work
	c.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + s.home, "RONDO_HOME=" + filepath.Join(s.home, "state"), "RONDO_API_KEY=sk-test-key",
	}, s.env...)
	return c
}

// ending is how the program ended.
type ending struct {
	status         int
	stdout, stderr string
}

// run runs the program to its end.
func (s *station) run(args ...string) ending {
	s.t.Helper()
	var out, errs bytes.Buffer
	c := s.command(args...)
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		s.t.Fatal(err)
	}
	return ending{c.ProcessState.ExitCode(), out.String(), errs.String()}
}

// line is an event of --json, as far as tests look at it.
type line struct {
	Type          string
	SessionID     string `json:"session_id"`
	Seq           int64
	Text          string
	Name          string
	Status        json.RawMessage
	Reason        string
	Detail        string
	FinalResponse string `json:"final_response"`
	Rounds        int
	Usage         struct {
		Input    int64 `json:"input_tokens"`
		Output   int64 `json:"output_tokens"`
		APICalls int   `json:"api_calls"`
	}
}

// events reads the lines of --json and holds what is true of all of them: each
// is JSON, the numbers rise, all name one session, done comes last and once.
func (e ending) events(t *testing.T) []line {
	t.Helper()
	var all []line
	for text := range strings.Lines(e.stdout) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("a line is no JSON: %v: %s", err, text)
		}
		if len(all) > 0 && (l.Seq <= all[len(all)-1].Seq || l.SessionID != all[0].SessionID) {
			t.Errorf("after event %d of %s comes %d of %s", all[len(all)-1].Seq, all[0].SessionID, l.Seq, l.SessionID)
		}
		all = append(all, l)
	}
	if n := slices.IndexFunc(all, func(l line) bool { return l.Type == "done" }); n < 0 || n != len(all)-1 {
		t.Fatalf("done is line %d of %d; stderr: %s", n+1, len(all), e.stderr)
	}
	return all
}

func (e ending) done(t *testing.T) line {
	t.Helper()
	all := e.events(t)
	return all[len(all)-1]
}

// longTask is a script of so many rounds, each with parallel calls that do
// something else than those before.
func longTask(rounds int) string {
	var b strings.Builder
	b.WriteString("reply when tools none\n  text Summed up.\n")
	for i := 1; i < rounds; i++ {
		fmt.Fprintf(&b, "reply\n  think Round %d.\n  text Working.\n", i)
		fmt.Fprintf(&b, "  call write_file {\"path\":\"f%d.txt\",\"content\":\"%d\\n\"}\n", i, i)
		fmt.Fprintf(&b, "  call shell {\"command\":\"echo %d\"}\n", i)
		fmt.Fprintf(&b, "  call read_file {\"path\":\"f%d.txt\"}\n", max(i-1, 1))
	}
	b.WriteString("reply\n  words All is done.\n")
	return b.String()
}

func TestLongTaskEndsWell(t *testing.T) {
	t.Parallel()
	for _, mode := range apiModes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, mode, longTask(30))
			e := s.run("run", "--json", "please work")
			done := e.done(t)
			if e.status != 0 || done.Reason != "end_turn" || done.FinalResponse != "All is done." || done.Rounds != 30 || done.Usage.APICalls != 30 {
				t.Errorf("status %d, %+v; stderr: %s", e.status, done, e.stderr)
			}
			if done.Usage.Input == 0 || done.Usage.Output == 0 {
				t.Errorf("usage is %+v", done.Usage)
			}
			if b, err := os.ReadFile(filepath.Join(s.work, "f29.txt")); err != nil || string(b) != "29\n" {
				t.Errorf("the last file holds %q, %v", b, err)
			}
			ok := 0
			for _, l := range e.events(t) {
				if l.Type == "tool_result" && string(l.Status) == `"ok"` {
					ok++
				}
			}
			if ok != 29*3 || s.srv.Conns() != 1 {
				t.Errorf("%d results are ok, over %d connections", ok, s.srv.Conns())
			}
		})
	}
}

func TestMaxTurnsEndsWithASummary(t *testing.T) {
	t.Parallel()
	for _, mode := range apiModes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, mode, longTask(30))
			e := s.run("run", "--json", "--max-turns", "5", "please work")
			if done := e.done(t); e.status != 3 || done.Reason != "max_rounds" || done.FinalResponse != "Summed up." || done.Rounds != 5 {
				t.Errorf("status %d, %+v; stderr: %s", e.status, done, e.stderr)
			}
			if n := len(s.srv.Requests()); n != 6 {
				t.Errorf("the server had %d requests", n)
			}
			e = s.run("run", "--max-turns", "2", "please work again")
			if e.status != 3 || e.stdout != "Summed up.\n" {
				t.Errorf("without --json: status %d, stdout %q, stderr %q", e.status, e.stdout, e.stderr)
			}
		})
	}
}
