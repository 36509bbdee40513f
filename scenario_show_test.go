package rondo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// request shows what was sent: in full, or what came to it since the request
// before.
func (st *stage) request(r *modeltest.Request) {
	said := slices.DeleteFunc(slices.Clone(r.Messages), func(m *message.Message) bool { return m.Role == message.System })
	msgs := lines(said, false)
	if r.System != "" {
		msgs = append([]string{"system: " + r.System}, msgs...)
	}
	if len(r.Tools) == 0 && len(st.tools.all) > 0 {
		msgs = append(msgs, "(no tools)")
	}
	fmt.Fprintf(&st.out, "request %d\n", r.Number)
	n := 0
	for n < len(st.shown) && n < len(msgs) && msgs[n] == st.shown[n] {
		n++
	}
	if n > 0 {
		fmt.Fprintf(&st.out, "  (%d as before)\n", n)
	}
	for _, m := range msgs[n:] {
		st.out.WriteString(indent(m) + "\n")
	}
	st.shown = msgs
}

func (st *stage) block(name string, body []string) {
	st.out.WriteString(name + "\n")
	for _, l := range body {
		st.out.WriteString(indent(l) + "\n")
	}
}

func indent(s string) string { return "  " + strings.ReplaceAll(s, "\n", "\n  | ") }

// lines shows each message as its role, for a result the id of its call and its
// status, then its text and its calls. Requests do not show the status, and
// their reasoning differs from protocol to protocol.
func lines(msgs []*message.Message, all bool) []string {
	out := make([]string, 0, len(msgs))
	for _, m := range msgs {
		s := string(m.Role)
		if m.Role == message.Tool {
			s += " " + m.ToolCallID
		}
		if all && m.Status != "" && m.Status != message.StatusOK {
			s += " " + string(m.Status)
		}
		s += ":"
		if r := m.Reasoning(); all && r != "" {
			s += " {" + r + "}"
		}
		if text := m.Text(); text != "" {
			s += " " + text
		}
		for _, c := range m.Calls() {
			s += fmt.Sprintf(" <%s %s %s>", c.ID, c.Name, compact(c.Arguments))
		}
		out = append(out, s)
	}
	return out
}

// compact shows arguments in the one form that all protocols can carry.
func compact(args string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(args)) != nil {
		return args
	}
	if args := b.String(); args != "null" {
		return args
	}
	return "{}"
}

// nameNewIDs writes new1, new2 and so on for call ids that the scenario does
// not have: each adapter has its own way of making them.
func (sc *scenario) nameNewIDs(shown string) string {
	known := sc.files["script"] + sc.files["history"]
	names := map[string]string{}
	return callID.ReplaceAllStringFunc(shown, func(mark string) string {
		id := callID.FindStringSubmatch(mark)[2]
		if strings.Contains(known, "#"+id+" ") || strings.Contains(known, "#"+id+"\n") || strings.Contains(known, `"`+id+`"`) {
			return mark
		}
		if names[id] == "" {
			names[id] = fmt.Sprintf("new%d", len(names)+1)
		}
		return strings.Replace(mark, id, names[id], 1)
	})
}

// callID matches the places of a line at which the id of a call stands.
var callID = regexp.MustCompile(`(?m)( <|^  tool |^  tool_(?:use_start|result): )(\w+)(?: \w+ |:| error| interrupted)`)

func encodeAll(msgs []*message.Message) string {
	var b []byte
	for _, m := range msgs {
		b = append(message.AppendJSON(b, m), '\n')
	}
	return string(b)
}

// eventLines shows the events that tell what happens; deltas of a kind in a row
// are joined.
func eventLines(events []rondo.Event) []string {
	var out []string
	last := rondo.EventType("")
	for _, e := range events {
		switch e.Type {
		case rondo.EventText, rondo.EventThinking:
			if e.Type == last {
				out[len(out)-1] += e.Text
				continue
			}
			out = append(out, string(e.Type)+": "+e.Text)
		case rondo.EventToolUse:
			out = append(out, fmt.Sprintf("%s: %s %s %s", e.Type, e.ToolUse.ID, e.ToolUse.Name, e.ToolUse.Arguments))
		case rondo.EventToolResult:
			out = append(out, fmt.Sprintf("%s: %s %s", e.Type, e.ToolResult.ID, e.ToolResult.Status))
		case rondo.EventError:
			line := fmt.Sprintf("%s: %s", e.Type, e.Failure.Class)
			if e.Failure.RetryIn > 0 {
				line += fmt.Sprintf(", again in %v", e.Failure.RetryIn)
			}
			out = append(out, line)
		case rondo.EventReset, rondo.EventDone, rondo.EventStep:
			out = append(out, string(e.Type))
		case rondo.EventStatus:
			out = append(out, "status: "+e.Text)
		default:
			continue
		}
		last = e.Type
	}
	return out
}
