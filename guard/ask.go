package guard

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/rondo-engine/rondo/internal/approval"
)

// Decision is a person's answer.
type Decision string

// The decisions. Session holds until the session is given back, Always for good.
const (
	No      Decision = "no"
	Once    Decision = "once"
	Session Decision = "session"
	Always  Decision = "always"
)

// Prompt is what a person is asked.
type Prompt struct {
	// CallID and Digest name the call; an Answer has to carry them.
	CallID, Digest string
	// Session is the session's id, Tool the tool's name.
	Session, Tool string
	// Command is the command that would run in Dir; Files are the files that
	// would be written, by a tool that runs no commands.
	Command, Dir string
	Files        []string
	// Reason says why it is asked, Keys what a yes for the session or for
	// always is remembered for. If there are none, whatever yes holds only
	// once.
	Reason string
	Keys   []string
}

// Answer is a person's answer to a Prompt. It counts only for the call whose id
// and digest it carries, so that a late one cannot open another call.
type Answer struct {
	Decision       Decision
	CallID, Digest string
}

// Answer makes an answer to p.
func (p Prompt) Answer(d Decision) Answer {
	return Answer{Decision: d, CallID: p.CallID, Digest: p.Digest}
}

// subject is a request with what was found out about it.
type subject struct {
	Request
	Command, Dir string
	Files        []string
	verdict      approval.Verdict
}

func (s *subject) prompt() Prompt {
	sum := sha256.Sum256(s.Call.Args)
	return Prompt{
		CallID: s.Call.ID, Digest: hex.EncodeToString(sum[:16]), Session: s.Call.Session, Tool: s.Tool.Name,
		Command: s.Command, Dir: s.Dir, Files: s.Files, Reason: s.verdict.Reason, Keys: keys(s.verdict.Asks),
	}
}

// decide applies mode, grants and answers to a verdict.
func (g *Guard) decide(ctx context.Context, s subject) Outcome {
	v := s.verdict
	if v.Level == approval.Ask && g.granted(s.Grants, v.Asks) {
		v.Level = approval.Allow
	}
	switch {
	case v.Level == approval.Allow, v.Level == approval.Ask && g.o.Mode == AllMode:
		return Outcome{Allow: true}
	case v.Level == approval.Deny:
		return Outcome{Reason: v.Reason + "; no setting allows it"}
	case g.o.Mode == DenyMode:
		return Outcome{Reason: v.Reason + "; the setting approve: deny refuses what would have to be asked for"}
	case g.o.Ask == nil || s.Alone:
		return Outcome{Reason: v.Reason + "; that needs a person's word, and there is nobody to ask"}
	}
	return g.ask(ctx, s)
}

// ask asks a person and takes the answer if it is one to this very call.
func (g *Guard) ask(ctx context.Context, s subject) Outcome {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(g.o.Timeout, 300*time.Second))
	defer cancel()
	p, reason := s.prompt(), s.verdict.Reason
	type answered struct {
		Answer
		err error
	}
	reply := make(chan answered, 1)
	if s.Asking != nil {
		s.Asking(reason)
	}
	go func() {
		a, err := g.o.Ask(ctx, p)
		reply <- answered{a, err}
	}()
	var a answered
	select {
	case a = <-reply:
	case <-ctx.Done():
		return Outcome{Reason: reason + "; nobody answered, which is a no"}
	}
	switch {
	case ctx.Err() != nil:
		return Outcome{Reason: reason + "; the answer came too late, which is a no"}
	case a.err != nil:
		return Outcome{Reason: fmt.Sprintf("%s; nobody could be asked: %v", reason, a.err)}
	case a.CallID != p.CallID || a.Digest != p.Digest:
		return Outcome{Reason: reason + "; the answer was to another call, which is a no"}
	}
	return g.take(a.Decision, s, p)
}

// take carries out a decision.
func (g *Guard) take(d Decision, s subject, p Prompt) Outcome {
	out := Outcome{Allow: true}
	switch d {
	case Once:
	case Session:
		s.Grants.add(s.verdict.Asks, p.Keys)
	case Always:
		s.Grants.add(s.verdict.Asks, p.Keys)
		if err := g.keep(p.Keys); err != nil {
			out.Notice = "the answer holds for this session only: " + err.Error()
		}
	default:
		return Outcome{Reason: p.Reason + "; the user said no"}
	}
	return out
}

// keys are what a yes can be remembered for: nothing, if a part of the command
// is not known.
func keys(asks []approval.Question) []string {
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
