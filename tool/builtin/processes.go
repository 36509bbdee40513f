package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
)

// Processes are the commands that sessions have running in the background. Each
// belongs to the session that started it and ends with that: see Hooks, and Close
// for the end of the program. They are safe for concurrent use.
type Processes struct {
	o ProcessesOptions

	mu       sync.Mutex
	all      []*background // in the order in which they began
	sessions map[string]*sessionProcesses
	moved    map[string]string // sessions to those that they go on as by now
	closed   bool
}

// sessionProcesses is what is known of the processes of a session.
type sessionProcesses struct {
	looked bool // its history was looked at
	last   int  // the number of the last process
}

// session returns what is known of a session. p.mu is held.
func (p *Processes) session(id string) *sessionProcesses {
	s := p.sessions[id]
	if s == nil {
		s = &sessionProcesses{}
		p.sessions[id] = s
	}
	return s
}

// ProcessesOptions are how processes are run.
type ProcessesOptions struct {
	// Start starts a command; nil stands for proc.Start. It is the place for a
	// sandbox.
	Start func(c proc.Cmd, terminal *proc.Terminal) (*proc.Background, error)
	// MaxRunning bounds how many of one session run at the same time, 8 by
	// default.
	MaxRunning int
}

// background is a process of a session.
type background struct {
	*proc.Background
	id       int
	session  string
	command  string
	dir      string
	terminal bool

	// What follows is guarded by Processes.mu.
	input string // all that was written to it
	told  bool   // the model knows that it has ended
}

// NewProcesses returns the processes of a program, of which none runs.
func NewProcesses(o ProcessesOptions) *Processes {
	if o.Start == nil {
		o.Start = proc.Start
	}
	if o.MaxRunning <= 0 {
		o.MaxRunning = 8
	}
	return &Processes{o: o, sessions: map[string]*sessionProcesses{}, moved: map[string]string{}}
}

// Close ends all processes, with all that they started. It waits until ctx ends at
// most.
func (p *Processes) Close(ctx context.Context) {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.end(ctx, func(*background) bool { return true })
}

// endTime bounds how long the processes of a session may take to end.
const endTime = 2 * time.Second

// endSession ends the processes of a session, also if it was continued.
func (p *Processes) endSession(ctx context.Context, session string) {
	ctx, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	p.mu.Lock()
	session = cmp.Or(p.moved[session], session)
	maps.DeleteFunc(p.moved, func(_, to string) bool { return to == session })
	delete(p.sessions, session)
	p.mu.Unlock()
	p.end(ctx, func(b *background) bool { return b.session == session })
}

// end ends the chosen processes at the same time, and forgets them.
func (p *Processes) end(ctx context.Context, which func(*background) bool) {
	p.mu.Lock()
	var all, others []*background
	for _, b := range p.all {
		if which(b) {
			all = append(all, b)
		} else {
			others = append(others, b)
		}
	}
	p.all = others
	p.mu.Unlock()
	var wg sync.WaitGroup
	for _, b := range all {
		wg.Go(func() { b.Stop(ctx) })
	}
	wg.Wait()
}

// start starts a command for a session.
func (p *Processes) start(session string, c proc.Cmd, terminal *proc.Terminal, command string) (*background, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errors.New("the program is ending: nothing is started any more")
	}
	running := 0
	for _, b := range p.all {
		if _, ended := b.Ended(); b.session == session && !ended {
			running++
		}
	}
	if running >= p.o.MaxRunning {
		return nil, fmt.Errorf("%d processes run in the background already, which is the most: end one that is not needed with the tool process", running)
	}
	b, err := p.o.Start(c, terminal)
	if err != nil {
		return nil, err
	}
	of := p.session(session)
	of.last++
	started := &background{Background: b, id: of.last, session: session, command: command, dir: c.Dir, terminal: terminal != nil}
	p.prune(session)
	p.all = append(p.all, started)
	return started, nil
}

// endedMost bounds how many processes of a session are kept that have ended and
// are told.
const endedMost = 16

// prune forgets the oldest processes that have ended, are told and left nothing
// running.
func (p *Processes) prune(session string) {
	kept := 0
	for _, b := range slices.Backward(p.all) {
		if res, ended := b.Ended(); b.session == session && ended && b.told && len(res.Left) == 0 {
			if kept++; kept > endedMost {
				p.all = slices.DeleteFunc(p.all, func(other *background) bool { return other == b })
			}
		}
	}
}

// of returns the processes of a session in the order in which they began.
func (p *Processes) of(session string) []*background {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []*background
	for _, b := range p.all {
		if b.session == session {
			all = append(all, b)
		}
	}
	return all
}

// get returns a process of a session.
func (p *Processes) get(session string, id int) (*background, error) {
	var ids []string
	for _, b := range p.of(session) {
		if b.id == id {
			return b, nil
		}
		ids = append(ids, strconv.Itoa(b.id))
	}
	if len(ids) == 0 {
		return nil, fmt.Errorf("there is no process %d: none was started in this session, or they ended with the session or the program that started them", id)
	}
	return nil, fmt.Errorf("there is no process %d in this session; there are %s", id, strings.Join(ids, ", "))
}

// tell notes that the model knows of the end of a process.
func (p *Processes) tell(b *background) {
	p.mu.Lock()
	defer p.mu.Unlock()
	b.told = true
}

// state words how far a process is.
func (b *background) state() string {
	res, ended := b.Ended()
	if !ended {
		return fmt.Sprintf("is running, for %s", seconds(time.Since(b.Begun())))
	}
	how := fmt.Sprintf("exit status %d", res.ExitCode)
	switch {
	case res.Cancelled:
		how = "killed with all that it had started"
	case res.TimedOut:
		how = "its time was up"
	case res.Signal != "":
		how = "ended by signal: " + res.Signal
	}
	if len(res.Left) > 0 {
		how += fmt.Sprintf("; it left running: pid %s", strings.Trim(fmt.Sprint(res.Left), "[]"))
	}
	return fmt.Sprintf("has ended after %s: %s", seconds(res.Duration), how)
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
