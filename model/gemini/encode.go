package gemini

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// Encode returns the body of the request that asks for req, in pieces to be
// sent one after the other. The encoded history comes out of req.Cache without
// being copied, and only messages that are new to it are encoded. The model and
// whether the reply is streamed stand in the address, not in the body.
//
// Tools are sent with what model.PlainSchema leaves of their schemas. Images of
// tool results stand in the results or, with Profile.NoToolImages, behind them.
// An effort becomes a budget for thinking of 1024 (minimal, low), 8192 (medium)
// or 24576 (high and above) tokens, on top of a limit that is not above it, or,
// with Profile.ThinkingLevels, a level.
//
// A member of p.Extra takes the place of the one that Encode would write, and
// an empty one leaves it out; tools are added to those of the request. It is an
// error if one is no JSON or has no place there, if a tool's schema is none, or
// if the history ends with calls that have no result.
func Encode(p *model.Profile, req *model.Request) ([][]byte, error) {
	e, err := encode(p, req)
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

func encode(p *model.Profile, req *model.Request) (*encoded, error) {
	if open := req.History.OpenCalls(); len(open) > 0 {
		return nil, fmt.Errorf("call %q at the end of the history has no result", open[0].ID)
	}
	if err := wire.CheckExtra(p, "contents", "systemInstruction"); err != nil {
		return nil, err
	}
	cache := req.Cache
	if cache == nil {
		cache = new(model.Cache)
	}
	e := &encoder{profile: p}
	history := cache.Sync(req.History.Messages(), e.encoding())
	head, err := e.head(req, cache)
	if err != nil {
		return nil, err
	}
	out := &encoded{stream: !req.NoStream && !p.NoStream, names: head.names}
	out.pieces = appendNote([][]byte{head.bytes, history}, req)
	out.pieces = append(out.pieces, e.tail(req))
	return out, nil
}

// encoder encodes for one profile.
type encoder struct {
	profile *model.Profile
}

// encoding makes a unit of each message, but of calls and their results
// together, as results are known by the calls alone. System messages take no
// place among them.
func (e *encoder) encoding() model.Encoding {
	p := e.profile
	key := strings.Join([]string{
		"gemini", p.Provider, p.Model, p.Account,
		strconv.FormatBool(p.NoImages), strconv.FormatBool(p.NoToolImages), strconv.FormatBool(p.SignedCalls),
	}, "\x00")
	return model.Encoding{Key: key, Next: nextUnit, Append: e.appendUnit}
}

func nextUnit(msgs []*message.Message) int {
	n := 1
	if msgs[0].Role != message.Assistant {
		return n
	}
	for n < len(msgs) && msgs[n].Role == message.Tool {
		n++
	}
	return n
}

func (e *encoder) appendUnit(dst []byte, msgs []*message.Message) []byte {
	switch msgs[0].Role {
	case message.System:
		return dst
	case message.Assistant:
		dst = e.appendModel(dst, msgs[0])
		if len(msgs) > 1 {
			dst = e.appendResults(append(dst, ','), msgs[0], msgs[1:])
		}
		return dst
	}
	return e.appendUser(dst, msgs[0])
}

// goOn is what the user says behind a reply that is to be gone on with: the API
// wants the user to have the last word.
const goOn = "Go on."

// appendNote puts the request's note into the last content if that is the
// user's, else into one of its own.
func appendNote(pieces [][]byte, req *model.Request) [][]byte {
	note := strings.TrimSpace(req.Ephemeral)
	last := req.History.Last()
	switch {
	case last == nil, last.Role == message.System:
		if note == "" {
			return pieces
		}
		return append(pieces, userContent("", note))
	case last.Role == message.Assistant:
		if note == "" {
			note = goOn
		}
		return append(pieces, userContent(",", note))
	case note == "":
		return pieces
	}
	end := pieces[len(pieces)-1]
	pieces[len(pieces)-1] = end[:len(end)-len("]}")]
	return append(pieces, append(closeParts(appendText([]byte{','}, note), 0, ""), '}'))
}

func userContent(separator, text string) []byte {
	b := append([]byte(separator), `{"role":"user","parts":[`...)
	return append(closeParts(b, len(b), text), '}')
}
