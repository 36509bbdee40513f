package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/pgtest"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
)

// runner runs the tests and ends what they share.
type runner struct {
	m        *testing.M
	database *pgtest.Server
}

// Run runs the tests and returns the status to end with. The program begins with
// one processor; the tests use all.
func (r runner) Run() int {
	runtime.SetDefaultGOMAXPROCS()
	if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0))); err != nil {
		panic(err)
	}
	code := r.m.Run()
	if err := r.database.Stop(); err != nil {
		return max(code, 1)
	}
	return code
}

// database is the PostgreSQL server of the tests.
var database = new(pgtest.Server)

// sharing returns stations of two machines that work in the same directory and
// keep their sessions in the same database.
func sharing(t *testing.T, script string) (here, there *station, databaseURL string) {
	databaseURL = database.Schema(t)
	here = newStation(t, model.ChatCompletions, script)
	here.env = []string{"RONDO_STORE=" + databaseURL}
	other := *here
	other.home = t.TempDir()
	return here, &other, databaseURL
}

func TestMachinesShareSessionsInADatabase(t *testing.T) {
	t.Parallel()
	here, there, _ := sharing(t, "reply\n  text The heron is grey.\nreply\n  text And the 東京 one, too.\n")
	e := here.run("run", "--json", "Look for the heron")
	if done := e.done(t); e.status != 0 || done.FinalResponse != "The heron is grey." {
		t.Fatalf("status %d, %+v; stderr: %s", e.status, done, e.stderr)
	}
	if _, err := os.Stat(filepath.Join(here.home, "state", "sessions.db")); err == nil {
		t.Error("there is a file of sessions")
	}
	e = there.run("run", "--resume", "look for the HERON", "Another?")
	if e.status != 0 || e.stdout != "And the 東京 one, too.\n" {
		t.Errorf("resumed elsewhere: %+v", e)
	}
	if r := here.srv.Requests(); len(r) != 2 || !strings.Contains(string(r[1].Body), "The heron is grey.") {
		t.Errorf("the model was asked %d times, and not told what was said before", len(r))
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"sessions", "list"}, "Look for the heron"},
		{[]string{"sessions", "show", "last"}, "[user]\nAnother?"},
		{[]string{"sessions", "search", "東京"}, "assistant: And the 東京 one"},
		{[]string{"sessions", "search", "GREY"}, "assistant: The heron is grey."},
		{[]string{"sessions", "export", "last"}, "And the 東京 one, too."},
		{[]string{"sessions", "check"}, "whole: 1 session with 4 messages"},
		{[]string{"sessions", "prune", "--older-than", "1d"}, "ID"},
		{[]string{"sessions", "rename", "last", "birds"}, ""},
		{[]string{"sessions", "show", "birds"}, "birds"},
		{[]string{"sessions", "delete", "--yes", "birds"}, ""},
	} {
		if e := here.run(c.args...); e.status != 0 || !strings.Contains(e.stdout, c.want) {
			t.Errorf("%v: %+v, want %q", c.args, e, c.want)
		}
	}
	if e := there.run("sessions", "show", "birds"); e.status != 2 {
		t.Errorf("a deleted session: %+v", e)
	}
	if e := here.run("sessions", "repair"); e.status != 2 || !strings.Contains(e.stderr, "from RONDO_STORE") {
		t.Errorf("repair: %+v", e)
	}
}

func TestARunThatWasKilledGoesOnElsewhereAtOnce(t *testing.T) {
	t.Parallel()
	here, there, databaseURL := sharing(t, `
reply
  call write_file {"path":"heron.txt","content":"grey\n"}
reply
  text Half a
  stall
reply
  text Went on.
`)
	c := here.command("run", "--json", "please work")
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	kill := func() { _ = c.Process.Kill() }
	stuck := time.AfterFunc(time.Minute, kill)
	defer stuck.Stop()
	task := ""
	for r := bufio.NewScanner(out); r.Scan(); {
		if strings.Contains(r.Text(), "Half a") {
			inUse(t, there)
			task = awaitState(t, databaseURL)
			kill()
		}
	}
	_ = c.Wait() // it was killed
	if e := there.run("sessions", "list"); !strings.Contains(e.stdout, "interrupted") {
		t.Errorf("after the kill: %+v", e)
	}
	e := there.run("run", "--json", "--resume", "last")
	done := e.done(t)
	if e.status != 0 || done.FinalResponse != "Went on." || done.Rounds != 2 {
		t.Errorf("status %d, %+v; stderr: %s", e.status, done, e.stderr)
	}
	if strings.Contains(e.stdout, `"tool_use_start"`) {
		t.Errorf("the call was repeated: %s", e.stdout)
	}
	if !strings.Contains(e.stdout, `"task_id":"`+task+`"`) {
		t.Errorf("task %q went on as another: %s", task, e.stdout)
	}
}

// inUse wants the last session to be told as used by another process.
func inUse(t *testing.T, s *station) {
	t.Helper()
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if e := s.run("sessions", "list"); !strings.Contains(e.stdout, "running") {
		t.Errorf("while it runs: %+v", e)
	}
	if e := s.run("run", "--resume", "last", "me too"); e.status != 2 || !strings.Contains(e.stderr, "is in use by process ") || !strings.Contains(e.stderr, " on "+host) {
		t.Errorf("resumed while it runs: %+v", e)
	}
}

// awaitState waits until the state of the last session's run is shared, and
// returns the name of its task.
func awaitState(t *testing.T, databaseURL string) string {
	t.Helper()
	s, err := postgres.Open(t.Context(), databaseURL, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var state struct {
		TaskID string `json:"task_id"`
	}
	for range 500 {
		last, err := s.Find(t.Context(), store.Last, "")
		if err != nil {
			t.Fatal(err)
		}
		text, err := s.State(t.Context(), last.ID)
		if err != nil {
			t.Fatal(err)
		}
		if text != nil {
			if err := json.Unmarshal(text, &state); err != nil || state.TaskID == "" {
				t.Errorf("the state is %s, %v", text, err)
			}
			return state.TaskID
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the state of the run was not shared")
	return ""
}

func TestNothingShowsThePasswordOfTheDatabase(t *testing.T) {
	t.Parallel()
	here, _, databaseURL := sharing(t, "reply\n  call shell {\"command\":\"env\"}\nreply\n  text ok\n")
	u, err := url.Parse(databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	wrong := *u
	wrong.User = url.UserPassword(pgtest.User, "wr0ng/+word")
	shown := ""
	for _, c := range []struct {
		store  string
		args   []string
		status int
		want   string
	}{
		{databaseURL, []string{"config", "get", "store"}, 0, "postgres://rondo:****@" + u.Host + "/postgres?search_path="},
		{databaseURL, []string{"config"}, 0, "RONDO_STORE"},
		{databaseURL, []string{"doctor", "--base-url", "http://127.0.0.1:1/v1", "--model", "m"}, 0, "ok    sessions  0 in postgres://rondo:****@" + u.Host},
		{wrong.String(), []string{"doctor", "--base-url", "http://127.0.0.1:1/v1", "--model", "m"}, 2, "the server does not accept the password"},
		{wrong.String(), []string{"run", "hi"}, 2, "the server does not accept the password"},
		{"postgres://rondo:s3cret@127.0.0.1:1/x", []string{"run", "hi"}, 2, "the server cannot be reached"},
		{"postgres://rondo:s3cret/word@127.0.0.1/x", []string{"sessions", "list"}, 2, "the URL of the session store cannot be read"},
		{"mysql://rondo:s3cret@127.0.0.1/x", []string{"sessions", "list"}, 2, "store (from RONDO_STORE) must be the URL of a PostgreSQL database"},
		{databaseURL, []string{"run", "--json", "--approve", "all", "hi"}, 0, `"end_turn"`},
	} {
		here.env = []string{"RONDO_STORE=" + c.store}
		e := here.run(c.args...)
		if e.status != c.status || !strings.Contains(e.stdout+e.stderr, c.want) {
			t.Errorf("%v: %+v, want status %d and %q", c.args, e, c.status, c.want)
		}
		shown += e.stdout + e.stderr
	}
	for _, secret := range []string{"s3cret", "wr0ng", url.QueryEscape(pgtest.Password), "word@"} {
		if i := strings.Index(shown, secret); i >= 0 {
			t.Errorf("%q is shown: …%s…", secret, shown[max(0, i-100):min(len(shown), i+100)])
		}
	}
}
