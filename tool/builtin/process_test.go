//go:build unix

package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

// station is a session with processes in the background.
type station struct {
	*bench
	processes *Processes
	spill     string
}

func newStation(t *testing.T, o ProcessesOptions) *station {
	t.Helper()
	b := newBench(t, map[string]string{"sub/f": ""})
	s := &station{bench: b, processes: NewProcesses(o), spill: t.TempDir()}
	ws, err := OpenWorkspace(b.dir, WorkspaceOptions{Readable: []string{s.spill}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ws.Close() })
	b.reg, err = tool.NewRegistry(All(Options{Workspace: ws, Processes: s.processes, SpillDir: s.spill})...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.processes.Close(context.Background()) })
	return s
}

// in runs a call of a session.
func (s *station) in(session, name string, a args) (tool.Result, error) {
	s.t.Helper()
	job := s.job(name, a)
	job.Call.Session, job.Call.Progress = session, func(string) {}
	return job.Tool.Run(s.t.Context(), job.Call)
}

// start starts a command in the background and returns its number.
func (s *station) start(session string, a args) int {
	s.t.Helper()
	a["background"] = true
	res, err := s.in(session, "shell", a)
	if err != nil {
		s.t.Fatal(err)
	}
	rest, ok := strings.CutPrefix(res.Text, startText)
	id, _ := number(rest)
	if !ok || id == 0 {
		s.t.Fatalf("got %q", res.Text)
	}
	return id
}

// until polls a process until text has come, for ten seconds at most, and returns
// what was printed, which came before included, and what was said of it last.
func (s *station) until(id int, text, before string) string {
	s.t.Helper()
	all := before
	for range 50 {
		if strings.Contains(all, text) {
			return all
		}
		res, err := s.in("s", "process", args{"action": "poll", "id": id, "wait": 200})
		if err != nil {
			s.t.Fatal(err)
		}
		if i := strings.LastIndex(all, "["); i >= 0 { // what was said before
			all = all[:i]
		}
		all += res.Text
	}
	s.t.Fatalf("%q did not come, but %q", text, all)
	return ""
}

func TestProcessInTheBackground(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	id := s.start("s", args{"command": `pwd; while read -r x; do echo "got $x"; done; exit 3`, "workdir": "sub"})
	s.until(id, filepath.Join(s.dir, "sub"), "")
	res, err := s.in("s", "process", args{"action": "write", "id": id, "input": "one\n", "wait": 20_000})
	if err != nil || !strings.HasPrefix(res.Text, "got one\n[process ") || !strings.Contains(res.Text, "is running, for ") {
		t.Errorf("got %q, %v", res.Text, err)
	}
	res, err = s.in("s", "process", args{"action": "list"})
	if err != nil || !strings.HasPrefix(res.Text, fmt.Sprintf("%d is running, for ", id)) || !strings.Contains(res.Text, ": pwd; while read") {
		t.Errorf("got %q, %v", res.Text, err)
	}
	if _, err = s.in("s", "process", args{"action": "write", "id": id, "eof": true}); err != nil {
		t.Error(err)
	}
	s.until(id, "exit status 3", "")
	if res, err = s.in("s", "process", args{"action": "poll", "id": id}); err != nil || !strings.HasPrefix(res.Text, "[nothing new was printed; process") {
		t.Errorf("got %q, %v", res.Text, err)
	}
	if d := res.Details.(ProcessDetails); d.Running || d.ExitCode != 3 || d.ID != id {
		t.Errorf("details %+v", d)
	}
}

func TestProcessThatFailsAtOnceIsTold(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	for range 20 { // on a slow machine it may take longer than it is waited for
		res, err := s.in("s", "shell", args{"command": "no-such-program", "background": true})
		if err == nil && strings.Contains(res.Text, "not found") && strings.Contains(res.Text, "exit status 127") && res.Status == message.StatusError {
			return
		}
	}
	t.Error("it was never told")
}

func TestProcessIsKilled(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	id := s.start("s", args{"command": "echo on; sleep 5251 & setsid sleep 5252 & wait"})
	s.until(id, "on", "")
	res, err := s.in("s", "process", args{"action": "kill", "id": id})
	if err != nil || !strings.Contains(res.Text, "killed with all that it had started") {
		t.Errorf("got %q, %v", res.Text, err)
	}
	s.noneLeft("sleep 5251", "sleep 5252")
}

// noneLeft waits until no process has one of the command lines.
func (s *station) noneLeft(commands ...string) {
	s.t.Helper()
	var left []string
	for range 200 {
		out, err := exec.Command("ps", "-eo", "args").Output()
		if err != nil {
			s.t.Skip("no ps here:", err)
		}
		left = slices.DeleteFunc(strings.Split(string(out), "\n"), func(line string) bool { return !slices.Contains(commands, strings.TrimSpace(line)) })
		if len(left) == 0 {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	s.t.Errorf("%q survived", left)
}

func TestProcessesBelongToTheirSession(t *testing.T) {
	s := newStation(t, ProcessesOptions{MaxRunning: 2})
	a, b := s.start("s", args{"command": "sleep 5261"}), s.start("s", args{"command": "sleep 5262"})
	if _, err := s.in("s", "shell", args{"command": "sleep 5263", "background": true}); err == nil || !strings.Contains(err.Error(), "2 processes run in the background already") {
		t.Errorf("error %v", err)
	}
	other := s.start("other", args{"command": "sleep 5264"})
	if a != 1 || b != 2 || other != 1 {
		t.Errorf("numbers %d, %d, %d", a, b, other)
	}
	for _, action := range []string{"poll", "write", "kill"} {
		_, err := s.in("other", "process", args{"action": action, "id": b, "input": "x"})
		if want := "no process 2 in this session; there are 1"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", action, err, want)
		}
	}
	hooks := s.processes.Hooks()
	for _, move := range [][2]string{{"s", "s1"}, {"s1", "s2"}} {
		if err := hooks.SessionContinued(t.Context(), move[0], move[1]); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.in("s2", "process", args{"action": "poll", "id": a}); err != nil {
		t.Error(err)
	}
	if err := hooks.SubagentStop(t.Context(), hook.Subagent{Session: "s"}); err != nil { // known by its first name
		t.Fatal(err)
	}
	s.noneLeft("sleep 5261", "sleep 5262")
	if _, err := s.in("other", "process", args{"action": "poll", "id": other}); err != nil {
		t.Error(err)
	}
	s.processes.Close(t.Context())
	s.noneLeft("sleep 5264")
	if _, err := s.in("other", "shell", args{"command": "sleep 5265", "background": true}); err == nil {
		t.Error("something was started after the end")
	}
}

func TestModelIsToldOfTheEndOfAProcessOnce(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	ask := func() string {
		text, err := s.processes.Hooks().PreModelCall(t.Context(), hook.ModelCall{Session: "s"})
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	id := s.start("s", args{"command": "read -r x; exit 4"})
	if got := ask(); got != "" {
		t.Errorf("told %q of a process that runs", got)
	}
	b, err := s.processes.get("s", id)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.CloseInput(); err != nil {
		t.Fatal(err)
	}
	<-b.Done()
	want := regexp.MustCompile(`^Background process \d+ \(read -r x; exit 4\) has ended after \d+\.\d s: exit status 4\. The tool process shows`)
	if got := ask(); !want.MatchString(got) {
		t.Errorf("told %q", got)
	}
	if got := ask(); got != "" {
		t.Errorf("told again: %q", got)
	}
	id = s.start("s", args{"command": "exit 5"})
	s.until(id, "exit status 5", "")
	if got := ask(); got != "" {
		t.Errorf("told %q of what it has polled", got)
	}
}

// history is what a session says that had a process running and goes on in another
// program.
func history(t *testing.T, s *station, id int, more ...*message.Message) message.History {
	t.Helper()
	arguments, err := json.Marshal(args{"command": "npm start", "background": true})
	if err != nil {
		t.Fatal(err)
	}
	call := &message.ToolCall{ID: "c1", Name: "shell", Arguments: string(arguments)}
	h, changes := message.Normalise(append([]*message.Message{
		message.NewUser("go"), message.NewAssistant(message.Part{Kind: message.KindToolCall, Call: call}),
		message.NewResult(call, message.StatusOK, fmt.Sprintf("%s%d.", startText, id)), message.NewAssistant(message.Text("It runs.")),
	}, more...))
	if len(changes) > 0 {
		t.Fatal(changes)
	}
	return h
}

func TestProcessesOfAnEarlierProgramAreToldToBeGone(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	for _, c := range []struct {
		name, want string
		history    message.History
	}{
		{"one that ran", "Background process 77 (npm start) is gone:", history(t, s, 77)},
		{"one that had ended", "", history(t, s, 77, message.NewUser("x").Inject("Background process 77 (npm start) has ended after 2.0 s: exit status 0."))},
		{"one that was told of before", "", history(t, s, 77, message.NewUser("x").Inject("Background process 77 (npm start) is gone: …"))},
	} {
		got, err := s.processes.Hooks().PreModelCall(t.Context(), hook.ModelCall{Session: c.name, History: c.history})
		if err != nil || !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
	if _, err := s.in("s", "process", args{"action": "poll", "id": 77}); err == nil || !strings.Contains(err.Error(), "ended with the session or the program") {
		t.Errorf("error %v", err)
	}
	id := s.start("here", args{"command": "sleep 5271"})
	got, err := s.processes.Hooks().PreModelCall(t.Context(), hook.ModelCall{Session: "here", History: history(t, s, id)})
	if err != nil || got != "" {
		t.Errorf("one that runs here: %q, %v", got, err)
	}
	carried := s.processes.Carried("here")
	if want := fmt.Sprintf("%s%d (sleep 5271)", startText, id); carried != want {
		t.Errorf("carried %q, want %q", carried, want)
	}
	h, _ := message.Normalise([]*message.Message{message.NewUser("Summary\n\n" + carried + "\n")})
	got, err = NewProcesses(ProcessesOptions{}).Hooks().PreModelCall(t.Context(), hook.ModelCall{Session: "here", History: h})
	if want := fmt.Sprintf("Background process %d (sleep 5271) is gone", id); err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("after a compression: %q, %v", got, err)
	}
}

func TestProcessInATerminal(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	id := s.start("s", args{
		"command": `stty size; printf '10%%\r50%%\r100%%\nred \033[31mtext\033[0m\n'; printf 'name? '; read -r x; echo "hello $x"`,
		"pty":     true, "columns": 91, "rows": 17,
	})
	got := s.until(id, "name?", "")
	for _, want := range []string{"17 91\n", "100%\n", "red text\n"} {
		if !strings.Contains(got, want) || strings.Contains(got, "\x1b") || strings.Contains(got, "50%") {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	res, err := s.in("s", "process", args{"action": "write", "id": id, "input": "you\n"})
	if err != nil {
		t.Fatal(err)
	}
	s.until(id, "hello you", res.Text)
	if _, err := s.in("s", "shell", args{"command": "ls", "pty": true}); err == nil {
		t.Error("a terminal for a command that is waited for")
	}
}

func TestLongOutputOfAProcessIsSavedWhereTheModelCanRead(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	id := s.start("s", args{"command": "yes 0123456789 | head -c 1000000; echo; echo END; read -r x"})
	b, err := s.processes.get("s", id)
	if err != nil {
		t.Fatal(err)
	}
	var res tool.Result
	for range 100 { // until it has printed all of it
		time.Sleep(20 * time.Millisecond)
		if info, err := os.Stat(s.spilled()); err == nil && info.Size() == 1_000_005 {
			break
		}
	}
	if res, err = s.processes.poll(t.Context(), b, 0); err != nil {
		t.Fatal(err)
	}
	if !res.Truncated || res.Source != s.spilled() || len(res.Text) > 45_000 || !strings.Contains(res.Text, "END\n[process ") {
		t.Errorf("%d bytes, source %s: %.100q", len(res.Text), res.Source, res.Text[len(res.Text)-100:])
	}
	if got := s.ok("read_file", args{"path": res.Source, "offset": 90910}); !strings.Contains(got, "END") {
		t.Errorf("read %q", got)
	}
}

// spilled is the file that output was saved to.
func (s *station) spilled() string {
	found, _ := filepath.Glob(filepath.Join(s.spill, "*")) // the pattern is well-formed
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

func TestWhatACallTypesIsToldForApproval(t *testing.T) {
	s := newStation(t, ProcessesOptions{})
	id := s.start("s", args{"command": "cat", "workdir": "sub"})
	types := func(session string, a args) *tool.Typed {
		job := s.job("process", a)
		job.Call.Session = session
		return job.Tool.Types(job.Call)
	}
	if _, err := s.in("s", "process", args{"action": "write", "id": id, "input": "one\n", "wait": 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.in("s", "process", args{"action": "write", "id": id, "input": "\x03", "wait": 1}); err != nil {
		t.Fatal(err)
	}
	want := tool.Typed{Command: "cat", Dir: filepath.Join(s.dir, "sub"), Before: "one\n", Text: "two"}
	if got := types("s", args{"action": "write", "id": id, "input": "two"}); got == nil || *got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, a := range []args{{"action": "poll", "id": id}, {"action": "write", "id": id, "input": "\x03\x03"}, {"action": "write", "id": id, "eof": true}} {
		if got := types("s", a); got != nil {
			t.Errorf("%v: %+v", a, got)
		}
	}
	if got := types("other", args{"action": "write", "id": id, "input": "x"}); got != nil {
		t.Errorf("of another session: %+v", got)
	}
}

func TestScreenText(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nb\n":                 "a\nb\n",
		"10%\r20%\r\n":             "20%\n",
		"12345\rab\n":              "ab345\n",
		"12345\r\x1b[Kab\n":        "ab\n",
		"abc\b\bX\n":               "aXc\n",
		"\x1b[1;31mred\x1b[0m":     "red",
		"\x1b]0;title\x07a":        "a",
		"\x1b]8;;x\x1b\\link":      "link",
		"\x1b(Ba\x1b=b\x1b7c":      "abc",
		"é\x1b[2Dx":                "x",
		"a\x1b[3Cb":                "a   b",
		"tab\there":                "tab\there",
		"\x1b[?2004hprompt$ \x07":  "prompt$ ",
		"half\x1b[3":               "half",
		"abcd\x1b[4G\x1b[P":        "abc",
		"\x00\x01x\x7f":            "x",
		"\x1b[Ha\x1b[5;3Hb\x1b[2A": "a\nb\n",
	} {
		if got := screenText(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
