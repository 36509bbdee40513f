package approval

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func request(command string) Request {
	return Request{Session: "s1", CallID: "c1", Arguments: []byte(`{"command":"` + command + `"}`), Command: command}
}

// answers is an Ask that gives one decision and counts how often it is asked.
func answers(d Decision, asked *int) func(context.Context, Prompt) (Answer, error) {
	return func(_ context.Context, p Prompt) (Answer, error) {
		*asked++
		return Answer{Decision: d, CallID: p.CallID, Digest: p.Digest()}, nil
	}
}

func TestModesDecideWhatIsNotAskedFor(t *testing.T) {
	const harmless, risky, floor = "ls", "git push --force", "rm -rf /"
	for _, c := range []struct {
		mode  Mode
		allow []bool // harmless, risky, floor
		why   string // of the risky one
	}{
		{"", []bool{true, false, false}, "nobody to ask"},
		{AskMode, []bool{true, false, false}, "nobody to ask"},
		{DenyMode, []bool{true, false, false}, "approve: deny"},
		{AllMode, []bool{true, true, false}, ""},
	} {
		g := &Gate{Checker: newChecker(Rules{}), Mode: c.mode}
		for i, command := range []string{harmless, risky, floor} {
			got := g.Decide(t.Context(), request(command))
			if got.Allow != c.allow[i] || !got.Allow && got.Reason == "" || command == risky && !strings.Contains(got.Reason, c.why) {
				t.Errorf("mode %q, %s: %+v", c.mode, command, got)
			}
		}
	}
}

func TestRulesOfTheUser(t *testing.T) {
	g := &Gate{Checker: newChecker(Rules{
		Allow: []string{"git push *", "sudo apt-get install *", "apt-get *", "rm *", `> /srv/log`},
		Deny:  []string{"git push * main", "npm *"},
	})}
	for command, want := range map[string]bool{
		"git push --force": true, "git push -f origin main": false, "sh -c 'git push -f origin main'": false, "npm ci": false,
		"env npm ci": false, "sudo apt-get install -y jq": true, "sudo apt-get remove jq": false, "rm -rf ../other": true, "rm -rf /": false,
		"git reset --hard": false, "echo x > /srv/log": true, "echo x > /srv/other": false,
	} {
		if got := g.Decide(t.Context(), request(command)); got.Allow != want {
			t.Errorf("%s: %+v", command, got)
		}
	}
}

func TestAnswersHoldAsLongAsTheySay(t *testing.T) {
	for decision, want := range map[Decision][]int{ // times asked after: first, again, other session
		Once: {1, 2, 3}, Session: {1, 1, 2}, Always: {1, 1, 1}, No: {1, 2, 3}, "": {1, 2, 3},
	} {
		asked, kept := 0, []string(nil)
		g := &Gate{
			Checker: newChecker(Rules{}), Ask: answers(decision, &asked),
			Persist: func(rules []string) error { kept = append(kept, rules...); return nil },
		}
		r := request("rm -rf ../a*b")
		for i, session := range []string{"s1", "s1", "s2"} {
			r.Session = session
			allowed := g.Decide(t.Context(), r).Allow
			if asked != want[i] || allowed != (decision != No && decision != "") {
				t.Errorf("%s, step %d: asked %d times, allowed %v", decision, i, asked, allowed)
			}
		}
		if (decision == Always) != slices.Equal(kept, []string{`rm -rf ../a\*b`}) {
			t.Errorf("%s: kept %q", decision, kept)
		}
		if decision == Always {
			later := &Gate{Checker: newChecker(Rules{Allow: kept})}
			if !later.Decide(t.Context(), r).Allow || later.Decide(t.Context(), request("rm -rf ../axb")).Allow {
				t.Error("the rule that was kept does not match that command alone")
			}
		}
	}
}

func TestAYesIsForOneDirectoryAndForWhatIsKnown(t *testing.T) {
	asked := 0
	g := &Gate{Checker: newChecker(Rules{}), Ask: answers(Session, &asked)}
	r := request("rm -rf ../other")
	g.Decide(t.Context(), r)
	r.Dir = workspace + "/../../x/y"
	g.Decide(t.Context(), r)
	if asked != 2 {
		t.Errorf("asked %d times for two directories", asked)
	}
	for range 2 {
		g.Decide(t.Context(), request("rm -rf $(cat list)"))
	}
	if asked != 4 {
		t.Errorf("what is not known was remembered")
	}
}

func TestAnAnswerBindsToOneCall(t *testing.T) {
	r := request("git push --force")
	for name, a := range map[string]Answer{
		"another call":       {Always, "c2", r.Digest()},
		"another digest":     {Always, "c1", request("ls").Digest()},
		"neither of the two": {Once, "", ""},
	} {
		g := &Gate{Checker: newChecker(Rules{}), Ask: func(context.Context, Prompt) (Answer, error) { return a, nil }}
		if got := g.Decide(t.Context(), r); got.Allow || !strings.Contains(got.Reason, "another call") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestNoAnswerIsANo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Gate{Checker: newChecker(Rules{}), Ask: func(ctx context.Context, _ Prompt) (Answer, error) {
			<-ctx.Done()
			time.Sleep(time.Second) // one that does not look at the context
			return Answer{}, nil
		}}
		begun := time.Now()
		got := g.Decide(t.Context(), request("git push --force"))
		if waited := time.Since(begun); got.Allow || waited != 300*time.Second || !strings.Contains(got.Reason, "nobody answered") {
			t.Errorf("after %v: %+v", waited, got)
		}
		time.Sleep(2 * time.Second)
	})
	g := &Gate{Checker: newChecker(Rules{}), Ask: func(context.Context, Prompt) (Answer, error) { return Answer{}, errors.New("no terminal") }}
	if got := g.Decide(t.Context(), request("git push --force")); got.Allow || !strings.Contains(got.Reason, "no terminal") {
		t.Errorf("got %+v", got)
	}
}

func TestAYesThatCannotBeKeptHoldsForTheSession(t *testing.T) {
	asked := 0
	g := &Gate{Checker: newChecker(Rules{}), Ask: answers(Always, &asked), Persist: func([]string) error { return errors.New("disk full") }}
	got := g.Decide(t.Context(), request("git push --force"))
	if !got.Allow || !strings.Contains(got.Reason, "disk full") {
		t.Errorf("got %+v", got)
	}
	if g.Decide(t.Context(), request("git push --force")); asked != 1 {
		t.Errorf("asked %d times", asked)
	}
	g.Forget("s1")
	if g.Decide(t.Context(), request("git push --force")); asked != 2 {
		t.Errorf("asked %d times after the session", asked)
	}
}

// The approval part of scenario 109.
func TestNobodyIsAskedForAChild(t *testing.T) {
	asked := 0
	g := &Gate{Checker: newChecker(Rules{}), Ask: answers(Once, &asked)}
	r := request("git push --force")
	r.Alone = true
	if got := g.Decide(t.Context(), r); got.Allow || asked > 0 || !strings.Contains(got.Reason, "nobody to ask") {
		t.Errorf("got %+v, asked %d times", got, asked)
	}
}
