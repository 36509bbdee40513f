package model

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/rondo-engine/rondo/message"
)

// Mode is a wire protocol.
type Mode string

// The API modes.
const (
	ChatCompletions   Mode = "chat_completions"
	CodexResponses    Mode = "codex_responses"
	AnthropicMessages Mode = "anthropic_messages"
	GeminiGenerate    Mode = "gemini_generate_content"
)

// ParseMode reads the name of a mode; "responses" stands for codex_responses.
func ParseMode(s string) (Mode, error) {
	switch m := Mode(s); m {
	case ChatCompletions, CodexResponses, AnthropicMessages, GeminiGenerate:
		return m, nil
	case "responses":
		return CodexResponses, nil
	}
	return "", fmt.Errorf("unknown api mode %q: it is one of chat_completions, codex_responses (also responses), anthropic_messages, gemini_generate_content", s)
}

// Profile says who answers and how it wants to be spoken to. Encoders are
// functions of a history and a profile. It is immutable once in use.
type Profile struct {
	// Provider and Model name the model; Account is a digest of the key, so
	// that state bound to an account is told apart without showing the key.
	Provider string
	Model    string
	Account  string
	Mode     Mode
	// BaseURL is the endpoint without the path of the call, such as
	// https://api.openai.com/v1.
	BaseURL string
	// ContextWindow and MaxOutput are in tokens; MaxOutput 0 sends no limit
	// where the protocol allows that.
	ContextWindow int
	MaxOutput     int
	// Price is in US dollars for a million tokens; nil when unknown.
	Price *Price
	Quirks
}

// Price is what a million tokens cost in US dollars. Input is for tokens that
// were neither read from nor written to a cache.
type Price struct {
	Input, CacheRead, CacheWrite, Output float64
}

// Cost returns what u costs in US dollars.
func (p *Price) Cost(u Usage) float64 {
	plain := max(0, u.Input-u.CacheRead-u.CacheWrite) // what is read may have been written just before, and count twice
	return (float64(plain)*p.Input + float64(u.CacheRead)*p.CacheRead + float64(u.CacheWrite)*p.CacheWrite + float64(u.Output)*p.Output) / 1e6
}

// Quirks are the ways in which an endpoint differs from the protocol that it
// speaks. The zero value is the protocol as documented by its author.
type Quirks struct {
	// MaxTokensField is the name of the limit on the reply in
	// chat_completions: max_completion_tokens, or max_tokens when empty.
	MaxTokensField string
	// DeveloperRole sends the system prompt under the role developer.
	DeveloperRole bool
	// NoStreamOptions leaves out stream_options.
	NoStreamOptions bool
	// NoStream asks for replies in one piece.
	NoStream bool
	// ReasoningField is the field of chat_completions messages in which
	// reasoning is sent back (reasoning_content, reasoning); empty sends none.
	ReasoningField string
	// ThinkTags reads reasoning out of think tags at the start of a reply.
	ThinkTags bool
	// StartsInThink means that replies begin inside of a think tag.
	StartsInThink bool
	// CacheMarks sets cache_control marks: always in anthropic_messages, in
	// chat_completions for Claude behind OpenRouter.
	CacheMarks bool
	// NoCacheMarks leaves them out in anthropic_messages.
	NoCacheMarks bool
	// ToolIDAlphabet limits tool call ids: "" none, "mistral" nine letters
	// and digits, "anthropic" letters, digits, _ and - up to 64.
	ToolIDAlphabet string
	// ServerState lets codex_responses keep the conversation on the server
	// (store and previous_response_id) rather than replay it.
	ServerState bool
	// NoImages leaves out images, with a note in their place.
	NoImages bool
	// ImageSide and ImageBytes bound an image that the endpoint takes, in
	// pixels a side and in bytes before base64; 0 leaves what holds for most.
	ImageSide, ImageBytes int
	// NoToolImages moves images of tool results into a user message.
	NoToolImages bool
	// NoEffort leaves out the reasoning effort.
	NoEffort bool
	// Thinking asks anthropic_messages for thinking without an effort.
	Thinking bool
	// AdaptiveThinking means that the model sets its own budget for thinking in
	// anthropic_messages and refuses one from outside.
	AdaptiveThinking bool
	// ThinkingLevels means that the model takes a level of thinking in
	// gemini_generate_content, where older ones take a budget.
	ThinkingLevels bool
	// SignedCalls means that the model refuses calls of its running turn
	// without a thought signature in gemini_generate_content.
	SignedCalls bool
	// Headers are sent with each request.
	Headers map[string]string
	// Extra are members added to each request's body, JSON by name.
	Extra map[string]string
}

// Origin returns the origin of what the endpoint says.
func (p *Profile) Origin() message.Origin {
	return message.Origin{Provider: p.Provider, Model: p.Model, Account: p.Account}
}

// Made reports whether the endpoint is o, as far as both are known: what is
// not known counts as the same.
func (p *Profile) Made(o message.Origin) bool {
	same := func(a, b string) bool { return a == "" || b == "" || a == b }
	return same(o.Provider, p.Provider) && same(o.Model, p.Model) && same(o.Account, p.Account)
}

// ResolveMode chooses the API mode, strongest first: the explicit one, the
// provider's own, what the base URL hints at, chat_completions.
func ResolveMode(explicit Mode, provider, baseURL string) Mode {
	if explicit != "" {
		return explicit
	}
	switch strings.ToLower(provider) {
	case "anthropic", "claude":
		return AnthropicMessages
	case "openai-codex", "codex", "openai-responses":
		return CodexResponses
	case "gemini-native":
		return GeminiGenerate
	}
	u, err := url.Parse(baseURL)
	if err != nil {
		return ChatCompletions
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	switch host := strings.ToLower(u.Hostname()); {
	case host == "api.anthropic.com", strings.HasSuffix(path, "/anthropic"):
		return AnthropicMessages
	case host == "api.openai.com":
		return CodexResponses
	case host == "generativelanguage.googleapis.com" && !strings.HasSuffix(path, "/openai"):
		return GeminiGenerate
	}
	return ChatCompletions
}
