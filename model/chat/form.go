package chat

import (
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model/wire"
)

// lenient is how replies are read: what is wrong in them but understood is not
// worth losing a reply for.
var lenient = wire.Lenient()

// chunk is a chat.completion.chunk, or a chat.completion, with the members
// under which errors come besides. See
// https://platform.openai.com/docs/api-reference/chat-streaming.
type chunk struct {
	ID      loose          `json:"id"`
	Model   loose          `json:"model"`
	Object  loose          `json:"object"`
	Choices list[choice]   `json:"choices"`
	Usage   jsontext.Value `json:"usage"`
	Error   jsontext.Value `json:"error"`
	Errors  jsontext.Value `json:"errors"`
	Message jsontext.Value `json:"message"`
	Detail  jsontext.Value `json:"detail"`
	Groq    *struct {
		Usage jsontext.Value `json:"usage"`
		Error jsontext.Value `json:"error"`
	} `json:"x_groq"`
}

type choice struct {
	Index   number         `json:"index"`
	Delta   *delta         `json:"delta"`
	Message *delta         `json:"message"`
	Finish  loose          `json:"finish_reason"`
	Error   jsontext.Value `json:"error"`
	Usage   jsontext.Value `json:"usage"` // Moonshot
}

// delta is what is new of a message, or all of it.
type delta struct {
	Content          jsontext.Value       `json:"content"`
	ReasoningContent loose                `json:"reasoning_content"`
	Reasoning        loose                `json:"reasoning"`
	ReasoningText    loose                `json:"reasoning_text"` // Copilot
	Thinking         loose                `json:"thinking"`
	ReasoningDetails list[jsontext.Value] `json:"reasoning_details"`
	Refusal          loose                `json:"refusal"`
	ToolCalls        list[toolCall]       `json:"tool_calls"`
	FunctionCall     *function            `json:"function_call"`
	ExtraContent     jsontext.Value       `json:"extra_content"`
}

type toolCall struct {
	Index    *number   `json:"index"`
	ID       loose     `json:"id"`
	Function *function `json:"function"`
	Custom   *struct {
		Name  loose          `json:"name"`
		Input jsontext.Value `json:"input"`
	} `json:"custom"`
	ExtraContent jsontext.Value `json:"extra_content"`
}

type function struct {
	Name      loose          `json:"name"`
	Arguments jsontext.Value `json:"arguments"`
}

// loose is a string that some send as another type: null is empty, anything
// else its JSON.
type loose string

// UnmarshalJSONFrom reads any JSON value.
func (s *loose) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err == nil {
		*s = loose(textOf(v))
	}
	return err
}

// textOf returns the content of a string, nothing for null, and the JSON of
// anything else.
func textOf(v jsontext.Value) string {
	switch v.Kind() {
	case 'n', 0:
		return ""
	case '"':
		return wire.Unescape(v[1 : len(v)-1])
	}
	return string(v)
}

// number is an integer that some send as a float or in a string; anything else
// is 0.
type number int64

// UnmarshalJSONFrom reads any JSON value.
func (n *number) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	v, err := dec.ReadValue()
	if err != nil {
		return err
	}
	if f, err := strconv.ParseFloat(textOf(v), 64); err == nil {
		*n = number(f)
	}
	return nil
}

// list is an array that some send as its only element; anything else is empty.
type list[T any] []T

// UnmarshalJSONFrom reads any JSON value.
func (l *list[T]) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	switch dec.PeekKind() {
	case '[':
		return json.UnmarshalDecode(dec, (*[]T)(l), lenient)
	case '{':
		*l = make([]T, 1)
		return json.UnmarshalDecode(dec, &(*l)[0], lenient)
	}
	return dec.SkipValue()
}

// isObject reports whether v is an object with something in it.
func isObject(v jsontext.Value) bool {
	if v.Kind() != '{' {
		return false
	}
	for _, c := range v[1:] {
		if c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			return c != '}'
		}
	}
	return false
}

// saysSomething reports whether v is neither missing nor empty in any way.
func saysSomething(v jsontext.Value) bool {
	switch v.Kind() {
	case '{':
		return isObject(v)
	case '"':
		return len(v) > len(`""`)
	case '[':
		return len(v) > len(`[]`)
	}
	return false
}
