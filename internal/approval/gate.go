package approval

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Mode says what becomes of what has to be asked for.
type Mode string

// The modes. The floor holds in all of them.
const (
	// AskMode asks; where there is nobody to ask, that is a no.
	AskMode Mode = "ask"
	// DenyMode refuses without asking.
	DenyMode Mode = "deny"
	// AllMode lets everything run but the floor and what the rules deny.
	AllMode Mode = "all"
)

// Decision is a person's answer.
type Decision string

// The decisions.
const (
	No      Decision = "no"
	Once    Decision = "once"
	Session Decision = "session"
	Always  Decision = "always"
)

// Request is a command that wants to run.
type Request struct {
	// Session and CallID name the tool call; Arguments are all of its
	// arguments, which an answer is bound to.
	Session, CallID string
	Arguments       []byte
	// Command is the command, Dir where it runs.
	Command, Dir string
	// Alone says that nobody is to be asked about it, as for a child agent.
	Alone bool
	// Asking, if not nil, is called when a person is about to be asked.
	Asking func(reason string)
}

// Digest names the arguments of a request.
func (r Request) Digest() string {
	sum := sha256.Sum256(r.Arguments)
	return hex.EncodeToString(sum[:16])
}

// Prompt is what a person is asked.
type Prompt struct {
	Request
	// Reason says why it is asked, Keys what a yes for always is remembered
	// for. If there are none, whatever yes holds only once.
	Reason string
	Keys   []string

	asks []Question
}

// Answer is a person's answer to a Prompt. It counts only for the call whose id
// and digest it carries.
type Answer struct {
	Decision       Decision
	CallID, Digest string
}

// Outcome is what becomes of a request.
type Outcome struct {
	Allow  bool
	Reason string
}

// Gate decides on requests. It is safe for concurrent use; the fields are not to
// be changed once it is in use.
type Gate struct {
	Checker *Checker
	// Mode is AskMode when empty.
	Mode Mode
	// Ask asks a person and waits for the answer; nil says that there is
	// nobody. An error is a no.
	Ask func(ctx context.Context, p Prompt) (Answer, error)
	// Timeout bounds the wait for an answer; 0 is 300 s. No answer is a no.
	Timeout time.Duration
	// Persist keeps rules that allow what was answered with Always. nil
	// keeps them as long as the Gate.
	Persist func(rules []string) error

	mu       sync.Mutex
	always   map[string]bool
	sessions map[string]map[remembered]bool
}

// remembered is a command that was answered with a yes, and where it runs.
type remembered struct{ key, dir string }

// Decide says whether a request may run, and asks if it has to.
func (g *Gate) Decide(ctx context.Context, r Request) Outcome {
	v := g.Checker.Check(r.Command, r.Dir)
	if v.Level == Ask && g.remembers(r.Session, v.Asks) {
		v.Level = Allow
	}
	switch {
	case v.Level == Allow, v.Level == Ask && g.Mode == AllMode:
		return Outcome{Allow: true}
	case v.Level == Deny:
		return Outcome{Reason: v.Reason + "; no setting allows it"}
	case g.Mode == DenyMode:
		return Outcome{Reason: v.Reason + "; the setting approve: deny refuses what would have to be asked for"}
	case g.Ask == nil || r.Alone:
		return Outcome{Reason: v.Reason + "; that needs a person's word, and there is nobody to ask"}
	}
	return g.ask(ctx, r, v)
}

// ask asks a person and takes the answer if it is one to this very call.
func (g *Gate) ask(ctx context.Context, r Request, v Verdict) Outcome {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(g.Timeout, 300*time.Second))
	defer cancel()
	p := Prompt{Request: r, Reason: v.Reason, Keys: keys(v.Asks), asks: v.Asks}
	type answered struct {
		Answer
		err error
	}
	reply := make(chan answered, 1)
	if r.Asking != nil {
		r.Asking(v.Reason)
	}
	go func() {
		a, err := g.Ask(ctx, p)
		reply <- answered{a, err}
	}()
	var a answered
	select {
	case a = <-reply:
	case <-ctx.Done():
		return Outcome{Reason: v.Reason + "; nobody answered, which is a no"}
	}
	switch {
	case a.err != nil:
		return Outcome{Reason: fmt.Sprintf("%s; nobody could be asked: %v", v.Reason, a.err)}
	case a.CallID != r.CallID || a.Digest != r.Digest():
		return Outcome{Reason: v.Reason + "; the answer was to another call, which is a no"}
	}
	return g.take(a.Decision, p)
}

// take carries out a decision.
func (g *Gate) take(d Decision, p Prompt) Outcome {
	switch d {
	case Once:
	case Session, Always:
		if err := g.remember(d, p); err != nil {
			return Outcome{Allow: true, Reason: "the answer holds for this session only: " + err.Error()}
		}
	default:
		return Outcome{Reason: p.Reason + "; the user said no"}
	}
	return Outcome{Allow: true}
}

// keys are what a yes can be remembered for: nothing, if a part of the command
// is not known.
func keys(asks []Question) []string {
	var all []string
	for _, q := range asks {
		if q.Key == "" {
			return nil
		}
		if !slices.Contains(all, q.Key) {
			all = append(all, q.Key)
		}
	}
	return all
}

func (g *Gate) remembers(session string, asks []Question) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, q := range asks {
		if q.Key == "" || !g.always[q.Key] && !g.sessions[session][remembered{q.Key, q.Dir}] {
			return false
		}
	}
	return true
}

// remember keeps a yes for the session or for always.
func (g *Gate) remember(d Decision, p Prompt) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sessions == nil {
		g.sessions, g.always = map[string]map[remembered]bool{}, map[string]bool{}
	}
	if g.sessions[p.Session] == nil {
		g.sessions[p.Session] = map[remembered]bool{}
	}
	for _, q := range p.asks {
		if q.Key != "" && len(p.Keys) > 0 {
			g.sessions[p.Session][remembered{q.Key, q.Dir}] = true
		}
	}
	if d != Always || len(p.Keys) == 0 {
		return nil
	}
	if g.Persist != nil {
		rules := make([]string, len(p.Keys))
		for i, k := range p.Keys {
			rules[i] = Exactly(k)
		}
		if err := g.Persist(rules); err != nil {
			return err
		}
	}
	for _, k := range p.Keys {
		g.always[k] = true
	}
	return nil
}

// Forget drops what was answered for a session that has ended.
func (g *Gate) Forget(session string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.sessions, session)
}
