package model

import "strings"

// thinkTags are the names of the tags that models put around their thoughts.
var thinkTags = [...]string{"think", "thinking", "reasoning", "thought"}

const (
	thinkSpace = " \t\r\n"
	// maxThinkLead is how much white space, in bytes, may stand before a tag.
	maxThinkLead = 256
	// thinkGap parts the thoughts of two blocks.
	thinkGap = "\n\n"
)

// ThinkSplitter parts reasoning that a model writes between think tags at the
// start of its reply from the reply's text, over any cut of the text. Blocks
// that follow each other at the start all count; tags in what comes later are
// text. A block that is never closed is reasoning to the end. White space
// around the blocks is dropped. Within a block a closing tag between backticks
// is only talked about.
type ThinkSplitter struct {
	place  thinkPlace
	starts bool   // the reply begins inside of a block without a tag
	blocks int    // opened so far
	name   string // of the open block's tag; empty when any closes it
	gap    bool   // the next thought is the first of a further block
	tick   bool   // the thought so far ends in a backtick
	held   string // what may be a tag, or may stand before one
}

type thinkPlace uint8

const (
	thinkOutside thinkPlace = iota // no text yet
	thinkInside
	thinkOver // the text has begun
)

// NewThinkSplitter makes a splitter for one reply. With startsInThink the reply
// begins inside of a block whose opening tag need not be there.
func NewThinkSplitter(startsInThink bool) *ThinkSplitter {
	return &ThinkSplitter{starts: startsInThink}
}

// Over makes all that is still to come text: the reply turned out to bring its
// reasoning in another way. It has no effect once Split has been called.
func (s *ThinkSplitter) Over() {
	if s.blocks == 0 && s.held == "" && s.place == thinkOutside {
		s.place = thinkOver
	}
}

// Split takes the next piece of the reply and passes what it is sure of to
// emit, in order, as DeltaText or DeltaReasoning. It holds back only what may
// be the beginning of a tag, or white space at the very start.
func (s *ThinkSplitter) Split(text string, emit func(DeltaKind, string)) {
	if s.held != "" {
		text, s.held = s.held+text, ""
	}
	for text != "" {
		switch s.place {
		case thinkOver:
			emit(DeltaText, text)
			return
		case thinkOutside:
			text = s.open(text)
		case thinkInside:
			text = s.close(text, emit)
		}
	}
}

// End passes what was held back to emit.
func (s *ThinkSplitter) End(emit func(DeltaKind, string)) {
	text := s.held
	s.held = ""
	if text == "" {
		return
	}
	if s.place == thinkOutside && !s.starts {
		emit(DeltaText, text)
		return
	}
	if _, n := matchTag(text, "</", s.name); n <= 0 {
		s.think(text, emit)
	}
}

// open looks for an opening tag at the start of text. It returns what is to be
// looked at next.
func (s *ThinkSplitter) open(text string) string {
	rest := strings.TrimLeft(text, thinkSpace)
	lead := len(text) - len(rest)
	if s.blocks > 0 {
		text = rest
	}
	if rest == "" && lead <= maxThinkLead {
		s.held = text
		return ""
	}
	name, n := matchTag(rest, "<", "")
	switch {
	case lead > maxThinkLead && s.blocks == 0, n == 0:
		s.place = thinkOver
		if s.starts {
			s.enter("")
		}
		return text
	case n < 0:
		s.held = text
		return ""
	}
	s.enter(name)
	return rest[n:]
}

func (s *ThinkSplitter) enter(name string) {
	s.place, s.name, s.starts, s.tick = thinkInside, name, false, false
	s.gap = s.blocks > 0
	s.blocks++
}

// close looks for the closing tag in text. It returns what stands after it.
func (s *ThinkSplitter) close(text string, emit func(DeltaKind, string)) string {
	for from := 0; ; {
		i := strings.IndexByte(text[from:], '<')
		if i < 0 {
			s.think(text, emit)
			return ""
		}
		i += from
		_, n := matchTag(text[i:], "</", s.name)
		if n == 0 {
			from = i + 1
			continue
		}
		quoted := n > 0 && s.quoted(text, i)
		if n < 0 || quoted && i+n == len(text) {
			s.think(text[:i], emit)
			s.held = text[i:]
			return ""
		}
		if quoted && text[i+n] == '`' {
			from = i + n
			continue
		}
		s.think(text[:i], emit)
		s.place = thinkOutside
		return text[i+n:]
	}
}

// quoted reports whether a backtick stands before byte i of text.
func (s *ThinkSplitter) quoted(text string, i int) bool {
	if i == 0 {
		return s.tick
	}
	return text[i-1] == '`'
}

func (s *ThinkSplitter) think(text string, emit func(DeltaKind, string)) {
	if text == "" {
		return
	}
	s.tick = text[len(text)-1] == '`'
	if s.gap {
		text, s.gap = thinkGap+text, false
	}
	emit(DeltaReasoning, text)
}

// matchTag tells whether text begins with a think tag, whose name is only if
// that is not empty. It returns the tag's name and length; a length of 0 for no
// tag, a negative one when more text has to tell.
func matchTag(text, bracket, only string) (name string, length int) {
	if len(text) < len(bracket) {
		if strings.HasPrefix(bracket, text) {
			return "", -1
		}
		return "", 0
	}
	if text[:len(bracket)] != bracket {
		return "", 0
	}
	text = text[len(bracket):]
	for _, tag := range thinkTags {
		if only != "" && tag != only {
			continue
		}
		n := min(len(text), len(tag))
		if !strings.EqualFold(text[:n], tag[:n]) {
			continue
		}
		if len(text) == n {
			length = -1
		} else if text[n] == '>' {
			return tag, len(bracket) + n + 1
		}
	}
	return "", length
}
