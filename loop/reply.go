package loop

import (
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// How often in a row an odd reply is answered with another try.
const (
	maxEmpty     = 3
	maxThinking  = 2
	maxAnnounced = 3
	maxLength    = 3
	maxCutCall   = 3
	maxPause     = 10
)

// verdict is what a reply leads to: a message for the history, tools to run, or
// the end of the run; none of them is another try.
type verdict struct {
	accept   *message.Message
	runTools bool
	reason   Reason
	detail   string
	// spent says that the model at hand brings nothing; another might.
	spent bool
}

// judge decides what a reply leads to.
//
//	complete calls           run them
//	text, finished           end_turn
//	text cut by length       go on where it stopped, at most 3 times
//	call cut by length       again with more room, at most 3 times; never run
//	paused                   send it back as it is
//	calls announced, absent  ask again, at most 3 times
//	thinking only            ask for the answer, at most 2 times
//	empty, or blanks         ask again, at most 3 times, then another model
//	filtered, refused        no_tool_calls, with the refusal as the response
//
// What comes in several parts is joined into one message.
func judge(s *State, r *model.Reply) verdict {
	m := join(s.Pending, r.Message)
	switch {
	case r.Finish == model.FinishContentFilter:
		return s.refused(m, r)
	case r.Finish == model.FinishPause:
		return s.paused(m)
	case r.Finish == model.FinishLength:
		return s.cut(m, r)
	case r.Message.HasCalls():
		s.settle()
		return verdict{accept: m, runTools: true}
	case r.Announced:
		return s.again(m, &s.Attempts.Announced, maxAnnounced, announcedText, "the model announced tool calls and sent none")
	case speaks(r.Message):
		s.settle()
		return verdict{accept: m, reason: EndTurn}
	case r.Message.Reasoning() != "":
		return s.again(m, &s.Attempts.Thinking, maxThinking, thinkingText, "the model thought and gave no answer")
	case s.Pending != nil && speaks(s.Pending):
		s.settle() // nothing more to say is an end, too
		return verdict{accept: m, reason: EndTurn}
	}
	v := s.again(m, &s.Attempts.Empty, maxEmpty, emptyText, "the model sent an empty reply")
	v.spent = v.reason != ""
	return v
}

// settle forgets the tries that led to a good reply.
func (s *State) settle() {
	s.Pending, s.Paused, s.Attempts = nil, false, Attempts{}
}

// again asks once more with a note, or ends the run after most tries.
func (s *State) again(m *message.Message, tries *int, most int, note, detail string) verdict {
	if *tries++; *tries <= most {
		s.Note = note
		return verdict{}
	}
	return s.giveUp(m, fmt.Sprintf("%s, %d times", detail, *tries))
}

// giveUp ends the run with as much of the reply as there is.
func (s *State) giveUp(m *message.Message, detail string) verdict {
	s.settle()
	v := verdict{reason: NoToolCalls, detail: detail}
	if m = withoutCalls(m); speaks(m) {
		v.accept = m
	} else {
		v.accept = message.NewAssistant(message.Text("[" + detail + "]"))
	}
	return v
}

func (s *State) refused(m *message.Message, r *model.Reply) verdict {
	s.settle()
	m = withoutCalls(m)
	if !speaks(m) {
		text := r.Refusal
		if text == "" {
			text = "[the reply was withheld by the provider's content filter]"
		}
		m = message.NewAssistant(message.Text(text))
	}
	return verdict{accept: m, reason: NoToolCalls, detail: "the provider's content filter or the model refused"}
}

func (s *State) paused(m *message.Message) verdict {
	if s.Attempts.Pause++; s.Attempts.Pause > maxPause {
		return s.giveUp(m, fmt.Sprintf("the model paused %d times", s.Attempts.Pause))
	}
	s.Pending, s.Paused = m, true
	return verdict{}
}

func (s *State) cut(m *message.Message, r *model.Reply) verdict {
	switch {
	case r.Message.HasCalls():
		return s.again(s.Pending, &s.Attempts.CutCall, maxCutCall, cutCallText, "a tool call was cut off by the limit on the reply's length")
	case !speaks(r.Message):
		return s.again(s.Pending, &s.Attempts.Thinking, maxThinking, thinkingCutText, "the model's thinking used up the limit on the reply's length")
	}
	if s.Attempts.Length++; s.Attempts.Length > maxLength {
		return s.giveUp(m, fmt.Sprintf("the reply was cut off by its limit on length %d times", s.Attempts.Length))
	}
	s.Pending, s.Paused, s.Note = m, false, continueText
	return verdict{}
}

// speaks reports whether m has text: blanks alone are none, and no provider
// takes them back.
func speaks(m *message.Message) bool { return strings.TrimSpace(m.Text()) != "" }

// join makes one message of the beginning of a reply and what followed it. A
// text that goes on becomes one part.
func join(head, tail *message.Message) *message.Message {
	if head == nil {
		return tail
	}
	m := *tail
	m.Parts = append([]message.Part(nil), head.Parts...)
	rest := tail.Parts
	if n := len(m.Parts); n > 0 && len(rest) > 0 && m.Parts[n-1].Kind == message.KindText && rest[0].Kind == message.KindText {
		m.Parts[n-1] = message.Text(m.Parts[n-1].Text + rest[0].Text)
		rest = rest[1:]
	}
	m.Parts = append(m.Parts, rest...)
	return &m
}

// withoutCalls returns m without its tool calls; an empty message for nil.
func withoutCalls(m *message.Message) *message.Message {
	if m == nil {
		return message.NewAssistant()
	}
	c := *m
	c.Parts = nil
	for _, p := range m.Parts {
		if p.Kind != message.KindToolCall {
			c.Parts = append(c.Parts, p)
		}
	}
	return &c
}
