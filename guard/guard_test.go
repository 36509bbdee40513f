package guard_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const workspace = "/home/ada/src/app"

func options() guard.Options {
	return guard.Options{
		Workspace: workspace, Home: "/home/ada", Getenv: func(string) (string, bool) { return "", false },
	}
}

// command is a call of the shell with the grants of one session.
func command(text string, grants *guard.Grants) guard.Request {
	args, _ := json.Marshal(map[string]string{"command": text})
	return guard.Request{
		Tool: &tool.Tool{Name: "shell", Toolset: "shell"}, Call: tool.Call{ID: "c1", Name: "shell", Session: "s1", Args: args}, Grants: grants,
	}
}

// answers is an Ask that gives one decision and counts how often it is asked.
func answers(d guard.Decision, asked *int) func(context.Context, guard.Prompt) (guard.Answer, error) {
	return func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
		*asked++
		return p.Answer(d), nil
	}
}

// Also the part of scenario 117 on yolo mode: the floor holds in all modes.
func TestModesDecideWhatIsNotAskedFor(t *testing.T) {
	const harmless, risky, floor = "ls", "git push --force", "rm -rf /"
	for _, c := range []struct {
		mode  guard.Mode
		allow []bool // harmless, risky, floor
		why   string // of the risky one
	}{
		{"", []bool{true, false, false}, "nobody to ask"},
		{guard.AskMode, []bool{true, false, false}, "nobody to ask"},
		{guard.DenyMode, []bool{true, false, false}, "approve: deny"},
		{guard.AllMode, []bool{true, true, false}, ""},
	} {
		o := options()
		o.Mode = c.mode
		for i, text := range []string{harmless, risky, floor} {
			got := guard.New(o).Decide(t.Context(), command(text, nil))
			if got.Allow != c.allow[i] || !got.Allow && got.Reason == "" || text == risky && !strings.Contains(got.Reason, c.why) {
				t.Errorf("mode %q, %s: %+v", c.mode, text, got)
			}
		}
	}
}

func TestRulesOfTheUser(t *testing.T) {
	o := options()
	o.Allow = []string{"git push *", "sudo apt-get install *", "apt-get *", "rm *", `> /srv/log`}
	o.Deny = []string{"git push * main", "npm *"}
	g := guard.New(o)
	for text, want := range map[string]bool{
		"git push --force": true, "git push -f origin main": false, "sh -c 'git push -f origin main'": false, "npm ci": false,
		"env npm ci": false, "sudo apt-get install -y jq": true, "sudo apt-get remove jq": false, "rm -rf ../other": true, "rm -rf /": false,
		"git reset --hard": false, "echo x > /srv/log": true, "echo x > /srv/other": false,
	} {
		if got := g.Decide(t.Context(), command(text, nil)); got.Allow != want {
			t.Errorf("%s: %+v", text, got)
		}
	}
}

func TestAnswersHoldAsLongAsTheySay(t *testing.T) {
	for decision, want := range map[guard.Decision][]int{ // times asked after: first, again, other session
		guard.Once: {1, 2, 3}, guard.Session: {1, 1, 2}, guard.Always: {1, 1, 1}, guard.No: {1, 2, 3}, "": {1, 2, 3},
	} {
		asked, kept := 0, []string(nil)
		o := options()
		o.Ask = answers(decision, &asked)
		o.Persist = func(rules []string) error { kept = append(kept, rules...); return nil }
		g := guard.New(o)
		one, other := new(guard.Grants), new(guard.Grants)
		for i, session := range []*guard.Grants{one, one, other} {
			allowed := g.Decide(t.Context(), command("rm -rf ../a*b", session)).Allow
			if asked != want[i] || allowed != (decision != guard.No && decision != "") {
				t.Errorf("%s, step %d: asked %d times, allowed %v", decision, i, asked, allowed)
			}
		}
		if (decision == guard.Always) != slices.Equal(kept, []string{`rm -rf ../a\*b`}) {
			t.Errorf("%s: kept %q", decision, kept)
		}
		if decision == guard.Always {
			o.Allow, o.Ask = kept, nil
			later := guard.New(o)
			if !later.Decide(t.Context(), command("rm -rf ../a*b", nil)).Allow || later.Decide(t.Context(), command("rm -rf ../axb", nil)).Allow {
				t.Error("the rule that was kept does not match that command alone")
			}
		}
	}
}

func TestAYesIsForOneDirectoryAndForWhatIsKnown(t *testing.T) {
	asked := 0
	o := options()
	o.Ask = answers(guard.Session, &asked)
	g, grants := guard.New(o), new(guard.Grants)
	r := command("rm -rf ../other", grants)
	g.Decide(t.Context(), r)
	r.Call.Args = json.RawMessage(`{"command":"rm -rf ../other","workdir":"../../x/y"}`)
	g.Decide(t.Context(), r)
	if asked != 2 {
		t.Errorf("asked %d times for two directories", asked)
	}
	for range 2 {
		g.Decide(t.Context(), command("rm -rf $(cat list)", grants))
	}
	if asked != 4 {
		t.Errorf("what is not known was remembered")
	}
}

func TestAnAnswerBindsToOneCall(t *testing.T) {
	for name, forge := range map[string]func(*guard.Answer){
		"another call":       func(a *guard.Answer) { a.CallID = "c2" },
		"another digest":     func(a *guard.Answer) { a.Digest = strings.Repeat("0", 32) },
		"neither of the two": func(a *guard.Answer) { a.CallID, a.Digest = "", "" },
	} {
		o := options()
		o.Ask = func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
			a := p.Answer(guard.Always)
			forge(&a)
			return a, nil
		}
		if got := guard.New(o).Decide(t.Context(), command("git push --force", nil)); got.Allow || !strings.Contains(got.Reason, "another call") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// The part of scenario 117 on time-outs.
func TestNoAnswerIsANo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options()
		o.Ask = func(ctx context.Context, p guard.Prompt) (guard.Answer, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // one that does not look at the context
			return p.Answer(guard.Always), nil
		}
		grants := new(guard.Grants)
		begun := time.Now()
		got := guard.New(o).Decide(t.Context(), command("git push --force", grants))
		if waited := time.Since(begun); got.Allow || waited != 300*time.Second || !strings.Contains(got.Reason, "nobody answered") {
			t.Errorf("after %v: %+v", waited, got)
		}
		time.Sleep(2 * time.Second)
		o.Ask = nil
		if got := guard.New(o).Decide(t.Context(), command("git push --force", grants)); got.Allow {
			t.Error("the late answer counted")
		}
	})
	o := options()
	o.Ask = func(context.Context, guard.Prompt) (guard.Answer, error) {
		return guard.Answer{}, errors.New("no terminal")
	}
	if got := guard.New(o).Decide(t.Context(), command("git push --force", nil)); got.Allow || !strings.Contains(got.Reason, "no terminal") {
		t.Errorf("got %+v", got)
	}
}

func TestACancelIsANo(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := options()
	o.Ask = func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
		cancel()
		return p.Answer(guard.Once), nil
	}
	if got := guard.New(o).Decide(ctx, command("git push --force", nil)); got.Allow {
		t.Errorf("got %+v", got)
	}
}

func TestAYesThatCannotBeKeptHoldsForTheSession(t *testing.T) {
	asked := 0
	o := options()
	o.Ask, o.Persist = answers(guard.Always, &asked), func([]string) error { return errors.New("disk full") }
	g, grants := guard.New(o), new(guard.Grants)
	got := g.Decide(t.Context(), command("git push --force", grants))
	if !got.Allow || !strings.Contains(got.Notice, "disk full") {
		t.Errorf("got %+v", got)
	}
	if g.Decide(t.Context(), command("git push --force", grants)); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	if g.Decide(t.Context(), command("git push --force", new(guard.Grants))); asked != 2 {
		t.Errorf("asked %d times after the session", asked)
	}
}

// The approval part of scenario 109.
func TestNobodyIsAskedForAChild(t *testing.T) {
	asked := 0
	o := options()
	o.Ask = answers(guard.Once, &asked)
	r := command("git push --force", nil)
	r.Alone = true
	if got := guard.New(o).Decide(t.Context(), r); got.Allow || asked > 0 || !strings.Contains(got.Reason, "nobody to ask") {
		t.Errorf("got %+v, asked %d times", got, asked)
	}
}

func TestAPromptSaysWhatWouldHappen(t *testing.T) {
	var asked []guard.Prompt
	told := ""
	o := options()
	o.Ask = func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
		asked = append(asked, p)
		return p.Answer(guard.Once), nil
	}
	r := command("cd /srv && rm -rf www", nil)
	r.Asking = func(reason string) { told = reason }
	if got := guard.New(o).Decide(t.Context(), r); !got.Allow || len(asked) != 1 {
		t.Fatalf("got %+v, asked %d times", got, len(asked))
	}
	p := asked[0]
	if p.CallID != "c1" || len(p.Digest) != 32 || p.Session != "s1" || p.Tool != "shell" || p.Command != "cd /srv && rm -rf www" || p.Dir != workspace ||
		!slices.Equal(p.Keys, []string{"rm -rf www"}) || !strings.Contains(p.Reason, "/srv/www") || told != p.Reason {
		t.Errorf("asked %+v, told %q", p, told)
	}
}

func TestWhatIsTypedIntoAProgramIsJudgedToo(t *testing.T) {
	g := guard.New(options())
	r := command("", nil)
	r.Call.Args = json.RawMessage(`{"input":"rm -rf /\n"}`)
	if got := g.Decide(t.Context(), r); got.Allow {
		t.Error("the input went through")
	}
	r.Call.Args = json.RawMessage(`{"input":"yes\n"}`)
	if got := g.Decide(t.Context(), r); !got.Allow {
		t.Errorf("got %+v", got)
	}
	r.Call.Args = json.RawMessage(`{`)
	if got := g.Decide(t.Context(), r); got.Allow {
		t.Error("arguments that cannot be read went through")
	}
}
