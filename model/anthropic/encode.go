package anthropic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// Encode returns the body of the request that asks for req, in pieces to be
// sent one after the other. The encoded history comes out of req.Cache without
// being copied, and only messages that are new to it are encoded.
//
// The limit on the reply is always sent: the request's, else the profile's,
// else 8192 tokens; it is lowered where prompt and reply would not fit into
// the context window by a rough count of the prompt. Thinking gets a budget of
// 1024 (minimal), 4000 (low), 8000 (medium), 16000 (high) or 32000 (xhigh, max)
// tokens, on top of a limit that is not above it; models with AdaptiveThinking
// are told the effort instead.
//
// A member of p.Extra takes the place of the one that Encode would write, and
// an empty one leaves it out; tools are added to those of the request. It is an
// error if one is no JSON or has no place there, if a tool's schema is none, or
// if the history ends with calls that have no result.
//
// A history may end with an assistant message: one with FinishPause is sent
// back as it is for the model to go on.
func Encode(p *model.Profile, req *model.Request) ([][]byte, error) {
	e, err := encode(p, req, false)
	if err != nil {
		return nil, err
	}
	return e.pieces, nil
}

// encoded is a request that is ready to be sent.
type encoded struct {
	pieces [][]byte
	stream bool
	// names are the tools' names by those they are sent under, where they differ.
	names map[string]string
}

// encode leaves out everything of thinking if plain is set.
func encode(p *model.Profile, req *model.Request, plain bool) (*encoded, error) {
	if open := req.History.OpenCalls(); len(open) > 0 {
		return nil, fmt.Errorf("call %q at the end of the history has no result", open[0].ID)
	}
	if err := wire.CheckExtra(p, "messages", "model", "stream", "system"); err != nil {
		return nil, err
	}
	e := &encoder{profile: p, plain: plain, cache: req.Cache}
	if e.cache == nil {
		e.cache = new(model.Cache)
	}
	thinks := e.thinks(req)
	history := e.cache.Sync(e.messages(req, thinks), e.encoding())
	head, err := e.head(req)
	if err != nil {
		return nil, err
	}
	out := &encoded{stream: !req.NoStream && !p.NoStream, names: head.names}
	out.pieces = append(out.pieces, head.bytes)
	out.pieces = e.appendHistory(out.pieces, history, head)
	out.pieces = e.appendNote(out.pieces, req)
	prompt := len(head.bytes) + len(history) + len(req.Ephemeral) - e.memory().mediaBytes(e.cache.Units())
	out.pieces = append(out.pieces, e.tail(req, out.stream, thinks, prompt/bytesPerToken))
	return out, nil
}

// encoder encodes for one profile.
type encoder struct {
	profile *model.Profile
	plain   bool
	cache   *model.Cache
	// paused is the assistant message that ends the request and has tools of
	// the server running; nil for none.
	paused *message.Message
}

// memory is what is kept in the cache beside the history.
type memory struct {
	head *head
	// media is, for each unit, how much base64 there is up to its end: it
	// says nothing of tokens.
	media []int
}

func (m *memory) mediaBytes(units int) int {
	if units == 0 || units > len(m.media) {
		return 0
	}
	return m.media[units-1]
}

func (e *encoder) memory() *memory {
	m, ok := e.cache.Aux.(*memory)
	if !ok {
		m = new(memory)
		e.cache.Aux = m
	}
	return m
}

// encoding makes a unit of each message of the wire: the results of a round
// are one. System messages take no place among them.
func (e *encoder) encoding() model.Encoding {
	p := e.profile
	key := strings.Join([]string{
		"anthropic", p.Provider, p.Model, p.Account,
		strconv.FormatBool(p.NoImages), strconv.FormatBool(p.NoToolImages), strconv.FormatBool(e.plain),
	}, "\x00")
	return model.Encoding{Key: key, Next: nextUnit, Append: e.appendUnit}
}

func nextUnit(msgs []*message.Message) int {
	n := 1
	for msgs[0].Role == message.Tool && n < len(msgs) && msgs[n].Role == message.Tool {
		n++
	}
	return n
}

func (e *encoder) appendUnit(dst []byte, msgs []*message.Message) []byte {
	e.countMedia(msgs)
	switch msgs[0].Role {
	case message.System:
		return dst
	case message.Assistant:
		return e.appendAssistant(dst, msgs[0])
	case message.Tool:
		return e.appendResults(dst, msgs)
	}
	return e.appendUser(dst, msgs[0])
}

func (e *encoder) countMedia(msgs []*message.Message) {
	m, unit := e.memory(), e.cache.Units()
	m.media = m.media[:min(unit, len(m.media))]
	sum := m.mediaBytes(unit)
	for _, msg := range msgs {
		for i := range msg.Parts {
			if media := msg.Parts[i].Media; media != nil {
				sum += len(media.Data)
			}
		}
	}
	m.media = append(m.media, sum)
}

// messages returns the messages to send: those of the history, but an assistant
// message that ends the request in the form that the API takes there. That is
// without white space at its end, without thinking while the model is not to
// think, and with the server's tools that still run: a copy, as its encoding
// must not be kept for when it ends the request no more.
func (e *encoder) messages(req *model.Request, thinks bool) []*message.Message {
	msgs := req.History.Messages()
	last := req.History.Last()
	if last == nil || last.Role != message.Assistant {
		return msgs
	}
	fit := *last
	fit.Parts = slices.Clone(last.Parts)
	if !thinks {
		fit.Parts = slices.DeleteFunc(fit.Parts, func(p message.Part) bool {
			return p.State != nil && (p.State.Kind == stateThinking || p.State.Kind == stateRedacted)
		})
	}
	if n := len(fit.Parts); n > 0 && fit.Parts[n-1].Kind == message.KindText {
		fit.Parts[n-1].Text = strings.TrimRightFunc(fit.Parts[n-1].Text, unicode.IsSpace)
	}
	if len(runningTools(last)) > 0 {
		e.paused = &fit
	} else if slices.Equal(fit.Parts, last.Parts) {
		return msgs
	}
	return append(slices.Clone(msgs[:len(msgs)-1]), &fit)
}

// appendNote puts the request's note behind the marks: into the last message if
// that is the user's, else into one of its own. A paused reply, which ends with
// a block of the server's, is not to be followed by anything: its request goes
// without the note.
func (e *encoder) appendNote(pieces [][]byte, req *model.Request) [][]byte {
	last := req.History.Last()
	if strings.TrimSpace(req.Ephemeral) == "" {
		return pieces
	}
	note := append(wire.AppendString([]byte(`{"type":"text","text":`), req.Ephemeral), "}]}"...)
	if last == nil || last.Role == message.System {
		return append(pieces, []byte(`{"role":"user","content":[`), note)
	}
	if last.Role == message.Assistant {
		if n := len(last.Parts); n > 0 && last.Parts[n-1].Kind == message.KindOpaque {
			return pieces
		}
		return append(pieces, []byte(`,{"role":"user","content":[`), note)
	}
	end := pieces[len(pieces)-1]
	pieces[len(pieces)-1] = end[:len(end)-len("]}")]
	return append(pieces, []byte(","), note)
}
