package builtin

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/hook"
	"github.com/rondo-engine/rondo/message"
)

// Hooks tie the processes to the sessions of an agent: they end with their session,
// go on with it when it is continued after a compression, and the model is told
// when one has ended, or is gone because the program ended that had started it.
func (p *Processes) Hooks() hook.Hooks {
	return hook.Hooks{
		PreModelCall: func(_ context.Context, c hook.ModelCall) (string, error) {
			return p.news(c.Session, c.History), nil
		},
		SessionContinued: func(_ context.Context, from, to string) error {
			p.move(from, to)
			return nil
		},
		SessionEnd: func(ctx context.Context, s hook.Session) error {
			p.endSession(ctx, s.ID)
			return nil
		},
		SubagentStop: func(ctx context.Context, s hook.Subagent) error {
			p.endSession(context.WithoutCancel(ctx), s.Session)
			return nil
		},
	}
}

// move hands the processes of a session to the one that continues it.
func (p *Processes) move(from, to string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range p.all {
		if b.session == from {
			b.session = to
		}
	}
	p.sessions[to] = p.session(from)
	delete(p.sessions, from)
	for earlier, now := range p.moved {
		if now == from {
			p.moved[earlier] = to
		}
	}
	p.moved[from] = to
}

// news returns what a session's model is to be told of its processes: those that
// have ended since, and at first those that are gone.
func (p *Processes) news(session string, history message.History) string {
	var lines []string
	p.mu.Lock()
	of := p.session(session)
	first := !of.looked
	of.looked = true
	p.mu.Unlock()
	if first {
		lines = p.gone(session, history.Messages())
	}
	for _, b := range p.of(session) {
		if _, ended := b.Ended(); ended && p.untold(b) {
			lines = append(lines, fmt.Sprintf("Background process %d (%s) %s. The tool process shows what it printed (poll).", b.id, b.brief(), b.state()))
		}
	}
	return strings.Join(lines, "\n")
}

// untold reports whether the model does not know of the end of a process, and
// notes that it will.
func (p *Processes) untold(b *background) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	untold := !b.told
	b.told = true
	return untold
}

// gone names the processes that the history tells of and that this program has not
// started: they ended with the one that had.
func (p *Processes) gone(session string, msgs []*message.Message) []string {
	commands := map[string]string{} // by the ids of calls
	running, last := map[int]string{}, 0
	for _, m := range msgs {
		for _, c := range m.Calls() {
			var a shellArgs
			if c.Name == shellName && json.Unmarshal([]byte(c.Arguments), &a) == nil && a.Background {
				commands[c.ID] = " (" + brief(a.Command) + ")"
			}
		}
		ours := m.Role != message.Tool || m.ToolName == shellName || m.ToolName == processName
		for _, part := range m.Parts {
			if ours || part.Injected {
				last = max(last, follow(running, part.Text, commands[m.ToolCallID]))
			}
		}
	}
	for _, b := range p.of(session) {
		delete(running, b.id)
	}
	p.mu.Lock()
	p.session(session).last = max(p.session(session).last, last) // a number stands for one process
	p.mu.Unlock()
	ids := slices.Sorted(maps.Keys(running))
	var lines []string
	for _, id := range ids {
		lines = append(lines, fmt.Sprintf("Background process %d%s is gone: it ended with the session or the program that had started it. Start it again if it is needed.", id, running[id]))
	}
	return lines
}

// follow notes which processes a text says were started or have ended, and returns
// the highest number of one. command is that of the call whose result it is.
func follow(running map[int]string, text, command string) (last int) {
	if !strings.Contains(text, "rocess ") {
		return 0
	}
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, startText); ok {
			if id, rest := number(rest); id > 0 {
				running[id] = cmp.Or(command, strings.TrimRight(rest, ".\n"))
				last = max(last, id)
			}
			continue
		}
		for _, end := range []string{" has ended", " is gone"} {
			if before, _, ok := strings.Cut(line, end); ok {
				_, after, _ := strings.Cut(before, "rocess ")
				id, _ := number(after)
				delete(running, id)
			}
		}
	}
	return last
}

// number reads a number at the start of text.
func number(text string) (n int, rest string) {
	end := 0
	for end < len(text) && text[end] >= '0' && text[end] <= '9' {
		end++
	}
	n, err := strconv.Atoi(text[:end])
	if err != nil {
		return 0, text
	}
	return n, text[end:]
}

// Carried is what has to be carried over a compression of a session: which
// processes it has running. It is empty if there are none.
func (p *Processes) Carried(session string) string {
	var out strings.Builder
	for _, b := range p.of(session) {
		if _, ended := b.Ended(); !ended {
			fmt.Fprintf(&out, "%s%d (%s)\n", startText, b.id, b.brief())
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
