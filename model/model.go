// Package model is what rondo knows of language models: one interface that
// streams, one form of request, reply, usage and error, and the profile that
// says how a particular endpoint wants to be spoken to.
//
// The adapters below it (chat, responses, anthropic, gemini) translate between this
// form and one wire protocol each; package wire carries their bytes. The loop
// sees only what stands here.
package model

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Model answers requests. Implementations are safe for concurrent use.
type Model interface {
	// Stream sends req and yields what comes back as it comes back. A
	// successful stream ends with exactly one delta of kind DeltaDone, a
	// failed one with exactly one error, which is an *Error; nothing follows
	// either. Breaking off the iteration or cancelling ctx ends the request
	// and yields nothing more than ctx's error.
	Stream(ctx context.Context, req *Request) iter.Seq2[Delta, error]
	// Profile tells who answers and how it is spoken to.
	Profile() *Profile
}

// Request is one call of a model. It is not changed by the model, and a model
// keeps nothing of it but in Cache.
type Request struct {
	// System is the system prompt; empty for none.
	System string
	// History is what was said so far. It ends with a user or tool message.
	History message.History
	// Tools are the tools on offer; nil for none. The same ToolSet must be
	// passed by pointer from round to round so that its encoding is reused.
	Tools *ToolSet
	// ToolChoice is auto when empty.
	ToolChoice ToolChoice
	// Ephemeral is a note from the engine for this request only. It follows
	// the last message and is not part of the history or the cached prefix.
	Ephemeral string
	// MaxOutputTokens bounds the reply; 0 takes the profile's value.
	MaxOutputTokens int
	// Effort asks for reasoning: "", "none", "minimal", "low", "medium",
	// "high". Empty leaves the provider's default.
	Effort string
	// NoStream asks for the reply in one piece.
	NoStream bool
	// Cache keeps the encoded history between the requests of one
	// conversation; nil encodes all anew. It must not be shared between
	// conversations that run at the same time.
	Cache *Cache
}

// SystemTexts returns the system prompt and the history's own system messages,
// those that say something.
func (r *Request) SystemTexts() []string {
	texts := []string{r.System}
	for _, m := range r.History.Messages() {
		if m.Role != message.System {
			break
		}
		texts = append(texts, m.Text())
	}
	return slices.DeleteFunc(texts, func(s string) bool { return strings.TrimSpace(s) == "" })
}

// ToolChoice says whether the model may, must or must not call a tool.
type ToolChoice string

// The tool choices. Any other value is the name of the tool that must be called.
const (
	ToolAuto     ToolChoice = ""
	ToolNone     ToolChoice = "none"
	ToolRequired ToolChoice = "required"
)

// ToolSpec is what a model is told of a tool.
type ToolSpec struct {
	Name        string
	Description string
	// Schema is the JSON schema of the arguments, an object at its root.
	Schema json.RawMessage
}

// ToolSet is an ordered set of tools. It is immutable.
type ToolSet struct {
	Specs []ToolSpec
}

// DeltaKind says what a Delta brings.
type DeltaKind uint8

// The kinds of deltas. Text and reasoning bring the next piece of it.
// DeltaCall announces a tool call once its name is known, DeltaCallArgs brings
// the next piece of its arguments. DeltaDone ends the stream.
//
// The others come from package resilient, with a Notice: DeltaReset takes back
// all deltas of the reply so far, because it failed after some were seen;
// DeltaRetry says that an attempt failed and another follows after a wait,
// DeltaSwitch that another model is asked from here on. They come in this order.
// DeltaWait says how much is left of a wait that takes long.
const (
	DeltaText DeltaKind = iota + 1
	DeltaReasoning
	DeltaCall
	DeltaCallArgs
	DeltaDone
	DeltaReset
	DeltaRetry
	DeltaSwitch
	DeltaWait
)

// Delta is one step of a streamed reply. It carries only what is new.
type Delta struct {
	Kind DeltaKind
	// Text is the new piece of text, reasoning or arguments.
	Text string
	// Index counts the tool calls of the reply from 0; Name is the tool's
	// name (DeltaCall only).
	Index int
	Name  string
	// Reply is the whole reply (DeltaDone only).
	Reply *Reply
	// Notice is why the reply begins anew (DeltaReset, DeltaRetry, DeltaSwitch
	// and DeltaWait only).
	Notice *Notice
}

// Notice tells of an attempt that failed and of what follows it.
type Notice struct {
	// Err is how the attempt failed.
	Err *Error
	// Attempt counts the failed attempts of the decorator that tells of them,
	// from 1 (DeltaRetry and DeltaWait only).
	Attempt int
	// Wait is how long the next attempt is put off, from when the notice is
	// given; there is nothing to tell a person when it is 0.
	Wait time.Duration
	// To is the model that is asked next, and stays (DeltaSwitch only).
	To *Profile
}

// Finish says why a reply ended.
type Finish string

// The finish reasons of all providers, in one form. A reply with complete tool
// calls is FinishToolCalls whatever the provider called it, unless it was cut
// or refused. FinishPause asks to send the reply back and go on.
const (
	FinishStop          Finish = "stop"
	FinishToolCalls     Finish = "tool_calls"
	FinishLength        Finish = "length"
	FinishContentFilter Finish = "content_filter"
	FinishPause         Finish = "pause"
	// FinishError stands only in descriptions of failed replies.
	FinishError Finish = "error"
)

// Reply is a whole answer of a model.
type Reply struct {
	// Message is the assistant message. It may be empty.
	Message *message.Message
	Finish  Finish
	// Announced is set when the provider's finish reason said tool calls; it
	// tells a reply that lost its calls from one that asked for none.
	Announced bool
	// Refusal is the provider's or model's words on why it refused, if any.
	Refusal string
	Usage   Usage
	// ID is the provider's id of the reply, if any.
	ID string
	// Model is the name of the model that answered, as the provider tells it.
	Model string
}

// Usage counts tokens in one form for all providers. Input counts all of the
// prompt, cached or not; Reasoning is part of Output.
type Usage struct {
	Input      int64 `json:"input_tokens"`
	CacheRead  int64 `json:"cache_read_tokens"`
	CacheWrite int64 `json:"cache_write_tokens"`
	Output     int64 `json:"output_tokens"`
	Reasoning  int64 `json:"reasoning_tokens"`
}

// Add returns the sum of u and v.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
	}
}

// HitRate returns the share of the prompts that was read from a cache, from 0
// to 1.
func (u Usage) HitRate() float64 {
	if u.Input <= 0 {
		return 0
	}
	return float64(u.CacheRead) / float64(u.Input)
}

// KeySource gives out the key for a call. Implementations are safe for
// concurrent use and keep keys out of their errors.
type KeySource interface {
	// Key returns the key to use now; empty for none.
	Key(ctx context.Context) (string, error)
}

// StaticKey is a KeySource with one key that never changes.
type StaticKey string

// Key returns the key.
func (k StaticKey) Key(context.Context) (string, error) { return string(k), nil }

// String hides the key from anything that prints it.
func (k StaticKey) String() string { return "[key]" }

// GoString hides the key from anything that prints it.
func (k StaticKey) GoString() string { return "[key]" }
