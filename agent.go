package rondo

import (
	"context"
	"iter"
	"maps"
	"sync"

	"github.com/rondo-engine/rondo/message"
)

// Request is one turn.
type Request struct {
	// Text is the user's message, Attachments what goes with it. Both empty
	// goes on with a session that was interrupted.
	Text        string
	Attachments []message.Part
	// Mode says whether the turn plans or carries out; by default it goes on
	// as the session does.
	Mode Mode
	// System replaces the agent's system prompt when not empty.
	System string
	// History is what was said before. nil loads it from the session. It is
	// not changed.
	History []*message.Message
	// SessionID continues a session; empty begins a new one.
	SessionID string
	// TaskID names the run; generated when empty.
	TaskID string
	// Busy says what happens when the session is busy with another run; by
	// default the request is refused.
	Busy Busy
	// Listeners take the events of this run besides the agent's own.
	Listeners []Listener

	// up is where a child's events go; nil but for a child.
	up *uplink
}

// Chat runs one turn in a session of its own and returns the final response.
// The error says why when the turn did not end by itself; the response is then
// what there is.
func (a *Agent) Chat(ctx context.Context, text string) (string, error) {
	r, err := a.Run(ctx, Request{Text: text})
	return r.FinalResponse, err
}

// Run runs one turn to its end. The Result is filled whatever happens; the
// error is a *RunError when the run ended because of a failure or was stopped,
// and another error when it could not begin.
func (a *Agent) Run(ctx context.Context, req Request) (Result, error) {
	s := a.Session(req.SessionID)
	defer s.Close()
	return s.Run(ctx, req)
}

// Stream runs one turn and yields its events as they happen, EventDone last.
// An error that kept the run from beginning is yielded alone; how the run ended
// is in the Result of EventDone. Stopping the iteration cancels the run and
// waits for its end.
func (a *Agent) Stream(ctx context.Context, req Request) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		s := a.Session(req.SessionID)
		defer s.Close()
		for ev, err := range s.Stream(ctx, req) {
			if !yield(ev, err) {
				return
			}
		}
	}
}

// liveSessions are the sessions in use, so that two requests for one session
// meet in one Session.
type liveSessions struct {
	mu   sync.Mutex
	byID map[string]*Session
}

// Session returns the session with the given id, or a new one when id is empty.
// Whether the store knows it is found out by its first run. Close it when it is
// no longer needed.
func (a *Agent) Session(id string) *Session {
	a.live.mu.Lock()
	defer a.live.mu.Unlock()
	s := a.live.byID[id]
	if s == nil {
		s = newSession(a, id)
		if a.live.byID == nil {
			a.live.byID = make(map[string]*Session)
		}
		a.live.byID[s.id] = s
	}
	s.users++
	return s
}

// Close gives the session back. A run that goes on is not stopped by it.
func (s *Session) Close() {
	if s.letGo() {
		s.endSession()
	}
}

// letGo reports whether nobody has the session any more.
func (s *Session) letGo() bool {
	live := &s.agent.live
	live.mu.Lock()
	defer live.mu.Unlock()
	if s.users--; s.users == 0 {
		maps.DeleteFunc(live.byID, func(_ string, other *Session) bool { return other == s })
		s.release()
	}
	return s.users == 0
}

// retain keeps the session in use for a run, whoever closes it meanwhile.
func (s *Session) retain() {
	live := &s.agent.live
	live.mu.Lock()
	defer live.mu.Unlock()
	s.users++
	if live.byID[s.id] == nil {
		live.byID[s.id] = s
	}
}
