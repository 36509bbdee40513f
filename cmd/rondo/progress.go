package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
)

// progress shows a person what goes on in a run, a line for each step.
type progress struct {
	w io.Writer
	// live shows the reply's text as it comes. Otherwise the text of a reply
	// is shown only once it turns out not to be the last one.
	live bool
	// verbose shows thinking and usage, too.
	verbose bool
	colour  bool

	text    strings.Builder
	inLine  bool // the last thing written did not end its line
	inThink bool
}

func (p *progress) event(e rondo.Event) {
	if len(e.Agent) > 0 {
		p.child(e)
		return
	}
	switch e.Type {
	case rondo.EventText:
		p.delta(e.Text)
	case rondo.EventThinking:
		p.thinking(e.Text)
	case rondo.EventReset:
		p.text.Reset()
		p.line(p.dim("  (the reply broke off and begins again)"))
	case rondo.EventToolUse:
		p.flush()
		p.line(p.bold("› "+e.ToolUse.Name) + " " + p.dim(brief(argumentText(e.ToolUse.Arguments), 100)))
	case rondo.EventToolResult:
		p.result(e.ToolResult)
	case rondo.EventStatus:
		p.line(p.dim("  " + e.Text))
	case rondo.EventPlan:
		p.plan(e.Plan)
	case rondo.EventCompaction:
		p.compaction(e.Compaction)
	case rondo.EventError:
		p.failure(e.Failure)
	case rondo.EventUsage:
		if p.verbose {
			p.line(p.dim(fmt.Sprintf("  %s/%s: %d tokens in (%d cached), %d out", e.Usage.Provider, e.Usage.Model, e.Usage.Input, e.Usage.CacheRead, e.Usage.Output)))
		}
	case rondo.EventDone:
		if p.live {
			p.endLine()
		}
	}
}

// plan tells where a plan stands; the plan itself is the run's response.
func (p *progress) plan(e *rondo.PlanEvent) {
	switch e.State {
	case "begun":
		p.line(p.dim("  plan mode: only tools that change nothing"))
	case "presented":
	default:
		p.line(p.dim("  the plan: " + e.State))
	}
}

// compaction tells of a compression when it is over.
func (p *progress) compaction(c *rondo.Compaction) {
	switch {
	case !c.Done:
		p.line(p.dim("  compressing the conversation …"))
	case c.Failure != "":
		p.line(p.dim("  the conversation was not compressed: " + brief(c.Failure, 200)))
	default:
		p.line(p.dim(fmt.Sprintf("  compressed from about %d tokens to %d (%s)", c.TokensBefore, c.TokensAfter, c.Method)))
	}
}

// child shows what a child agent does: its tool calls and what it has to tell.
func (p *progress) child(e rondo.Event) {
	who := "  " + strings.Repeat("  ", len(e.Agent)-1) + childName(e.Agent) + " "
	switch e.Type {
	case rondo.EventToolUse:
		p.line(p.dim(who + "› " + e.ToolUse.Name + " " + brief(argumentText(e.ToolUse.Arguments), 80)))
	case rondo.EventStatus:
		p.line(p.dim(who + e.Text))
	case rondo.EventError:
		p.line(p.dim(who) + p.paint("31", "! ") + e.Failure.Message)
	}
}

// childName is a short name of a child agent: the end of its task id.
func childName(path []string) string {
	id := path[len(path)-1]
	return "[" + id[max(0, len(id)-4):] + "]"
}

func (p *progress) delta(text string) {
	if p.inThink {
		p.endLine()
	}
	if !p.live {
		p.text.WriteString(text)
		return
	}
	io.WriteString(p.w, text)
	p.inLine = !strings.HasSuffix(text, "\n")
}

func (p *progress) thinking(text string) {
	if !p.live && !p.verbose {
		return
	}
	if !p.inThink {
		p.endLine()
	}
	io.WriteString(p.w, p.dim(text))
	p.inThink, p.inLine = true, true
}

// flush shows the text that came before a tool call.
func (p *progress) flush() {
	if s := strings.TrimSpace(p.text.String()); s != "" {
		p.line(s)
	}
	p.text.Reset()
}

func (p *progress) result(r *rondo.ToolResult) {
	mark := p.paint("32", "✓")
	if r.Status != message.StatusOK {
		mark = p.paint("31", "✗ "+string(r.Status))
	}
	p.line(fmt.Sprintf("  %s %s %s", mark, p.dim(r.Duration.Round(time.Millisecond).String()), p.dim(brief(r.Content, 100))))
}

func (p *progress) failure(f *rondo.Failure) {
	text := f.Message
	if f.RetryIn >= 0 {
		text += fmt.Sprintf(" - trying again in %v", f.RetryIn.Round(100*time.Millisecond))
	}
	p.line(p.paint("31", "! ") + text)
}

func (p *progress) line(s string) {
	p.endLine()
	io.WriteString(p.w, s+"\n")
}

func (p *progress) endLine() {
	if p.inLine {
		io.WriteString(p.w, "\n")
	}
	p.inLine, p.inThink = false, false
}

func (p *progress) dim(s string) string  { return p.paint("2", s) }
func (p *progress) bold(s string) string { return p.paint("1", s) }

func (p *progress) paint(code, s string) string {
	if !p.colour || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

// argumentText is the arguments of a call as a person reads them: the value of
// a single one, else all as JSON.
func argumentText(args json.RawMessage) string {
	var m map[string]any
	if json.Unmarshal(args, &m) == nil && len(m) <= 1 {
		for _, v := range m {
			return fmt.Sprint(v)
		}
		return ""
	}
	return string(args)
}

// brief is the beginning of a text on one line, at most n characters.
func brief(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
