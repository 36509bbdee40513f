package window

import (
	"context"
	"errors"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// Engine decides when a conversation is compressed, and how. One engine serves
// all sessions of an agent: it is safe for concurrent use, and what it has to
// remember of a session stands in the session's history.
type Engine interface {
	// Due reports whether the conversation is to be compressed before the
	// model is called again.
	Due(v *View) bool
	// Compress returns what is to stand in place of v.History, which is not
	// changed. The error wraps ErrNothing when there is nothing that could be
	// left out, and ErrSummariser when no model could be had for it and one
	// may be had later.
	Compress(ctx context.Context, v *View) (Pass, error)
	// Describe says in a sentence how the engine works.
	Describe() string
	// Tools are tools of the engine's own, offered to the model beside the
	// others; nil for none.
	Tools() []*tool.Tool
}

// The errors of Engine.Compress.
var (
	ErrNothing    = errors.New("there is nothing that could be left out of the conversation")
	ErrSummariser = errors.New("no model could be had for the summary")
)

// View is what an engine sees of a conversation, and what it may do. Sizes are
// in tokens.
type View struct {
	History message.History
	// Fixed is the size of what stands in front of the history, Tokens that of
	// the next prompt as a whole.
	Fixed, Tokens int
	// Room is how large a prompt may be, Limit from which size on the
	// conversation is to be compressed, Target how large it should be at most
	// afterwards.
	Room, Limit, Target int
	// Hard asks for as much room as can be made, and for a result even if no
	// model can be had.
	Hard bool
	// Asked says that the user wants it.
	Asked bool
	// NoModel says that models are not to be asked: they failed a moment ago.
	NoModel bool
	// Focus is what the user wants kept above all; empty for nothing.
	Focus string
	// Carry is what has to be carried over word for word, such as a list of
	// things to do.
	Carry []Section
	// Record says where the whole of the conversation can be read; empty where
	// it cannot.
	Record string
	// Summariser is asked for summaries; nil where there is none.
	Summariser Summariser
	// Estimate returns the size of messages.
	Estimate func(msgs ...*message.Message) int
	// Spill saves the whole of a result that is shrunk and returns where it
	// can be read; nil saves nothing.
	Spill func(call *message.ToolCall, text string) (path string, err error)
	// BeforeSummary is told what is about to be summarised; nil does nothing.
	BeforeSummary func(ctx context.Context, transcript string)
	// Hide takes secrets out of a text that is sent to a summariser or kept in
	// a summary; nil changes nothing.
	Hide func(string) string
}

// Section is a text under a heading.
type Section struct{ Title, Text string }

// Summariser is a model for side tasks.
type Summariser interface {
	// Ask returns the reply to a request that has no tools.
	Ask(ctx context.Context, req *model.Request) (*model.Reply, error)
	// Room is how large its prompts may be, in tokens; 0 when it is not known.
	Room() int
}

// Method says how a pass made room.
type Method string

// The methods of Compressor.
const (
	// Shrunk: old results of tools became a line each.
	Shrunk Method = "shrink"
	// Summarised: a model wrote a summary.
	Summarised Method = "summary"
	// Recorded: a summary was made from the record, without a model.
	Recorded Method = "record"
)

// Pass is what an engine brought.
type Pass struct {
	// Messages are the new history.
	Messages []*message.Message
	Method   Method
	// NoModel says that a model was to write a summary and could not be had:
	// none is asked for a while.
	NoModel bool
}

// Bounds are the sizes that compression goes by.
type Bounds struct{ Room, Limit, Target int }

// The shares of a model's room that compression goes by.
const (
	// growth is what has to come in before the next compression.
	growth = 0.20
	// leastSaved is what a pass has to bring.
	leastSaved = 0.10
	// urgentFrom is where the conversation has to be compressed, whatever
	// happened before.
	urgentFrom = 0.85
	// hopelessFrom is the share of what stands in front of the history from
	// which on no compression can help.
	hopelessFrom = 0.90
)

// BoundsOf returns the sizes for a context window in tokens of which room may be
// prompt: compression begins at the share threshold of the window. Where much
// of it is taken by what stands in front of the history (fixed), it begins at
// the same share of the rest.
func BoundsOf(contextWindow, room, fixed int, threshold float64) Bounds {
	limit := min(int(threshold*float64(contextWindow)), int(urgentFrom*float64(room)))
	limit = max(limit, fixed+int(threshold*float64(max(room-fixed, 0))))
	return Bounds{Room: room, Limit: limit, Target: max(limit-int(growth*float64(room)), fixed+(limit-fixed)/2)}
}
