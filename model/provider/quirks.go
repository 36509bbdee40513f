package provider

import (
	"path"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// Overrides are quirks that a user sets; nil fields leave what is known. See
// model.Quirks for what each means.
type Overrides struct {
	MaxTokensField   *string
	DeveloperRole    *bool
	NoStreamOptions  *bool
	NoStream         *bool
	ReasoningField   *string
	ThinkTags        *bool
	StartsInThink    *bool
	CacheMarks       *bool
	NoCacheMarks     *bool
	ToolIDAlphabet   *string
	ServerState      *bool
	NoImages         *bool
	NoToolImages     *bool
	ImageSide        *int
	ImageBytes       *int
	NoEffort         *bool
	Thinking         *bool
	AdaptiveThinking *bool
	Headers          map[string]string
	Extra            map[string]string
}

// Apply sets in q what o says.
func (o *Overrides) Apply(q *model.Quirks) {
	set(&q.MaxTokensField, o.MaxTokensField)
	set(&q.DeveloperRole, o.DeveloperRole)
	set(&q.NoStreamOptions, o.NoStreamOptions)
	set(&q.NoStream, o.NoStream)
	set(&q.ReasoningField, o.ReasoningField)
	set(&q.ThinkTags, o.ThinkTags)
	set(&q.StartsInThink, o.StartsInThink)
	set(&q.CacheMarks, o.CacheMarks)
	set(&q.NoCacheMarks, o.NoCacheMarks)
	set(&q.ToolIDAlphabet, o.ToolIDAlphabet)
	set(&q.ServerState, o.ServerState)
	set(&q.NoImages, o.NoImages)
	set(&q.NoToolImages, o.NoToolImages)
	set(&q.ImageSide, o.ImageSide)
	set(&q.ImageBytes, o.ImageBytes)
	set(&q.NoEffort, o.NoEffort)
	set(&q.Thinking, o.Thinking)
	set(&q.AdaptiveThinking, o.AdaptiveThinking)
	q.Headers = merge(q.Headers, o.Headers)
	q.Extra = merge(q.Extra, o.Extra)
}

func set[T any](field, value *T) {
	if value != nil {
		*field = *value
	}
}

func merge(base, over map[string]string) map[string]string {
	if len(over) == 0 {
		return base
	}
	all := make(map[string]string, len(base)+len(over))
	for k, v := range base {
		all[k] = v
	}
	for k, v := range over {
		all[k] = v
	}
	return all
}

// quirk is a row of what is known: what holds for the endpoints of a mode
// whose provider, host and model it names; empty fields name all. Patterns are
// those of path.Match, of which one in a list must match; a model's pattern is
// matched against the last segment of its name, in lower case.
type quirk struct {
	// why says where it is known from.
	why       string
	mode      model.Mode
	providers []string
	hosts     []string
	models    []string
	set       func(*model.Quirks)
}

// quirks are applied in order: a later row overrides an earlier one.
var quirks = []quirk{
	{
		why: "tool messages of the chat protocol hold text only", mode: model.ChatCompletions,
		set: func(q *model.Quirks) { q.NoToolImages = true },
	},
	{
		why: "OpenAI and Azure deprecate max_tokens and refuse it for reasoning models", mode: model.ChatCompletions,
		hosts: []string{"api.openai.com", "*.openai.azure.com", "*.services.ai.azure.com", "api.cerebras.ai"},
		set:   func(q *model.Quirks) { q.MaxTokensField = "max_completion_tokens" },
	},
	{
		why: "OpenAI's reasoning models take the system prompt as developer", mode: model.ChatCompletions,
		hosts:  []string{"api.openai.com", "*.openai.azure.com", "*.services.ai.azure.com"},
		models: []string{"o1*", "o3*", "o4*", "gpt-5*", "gpt-6*"},
		set:    func(q *model.Quirks) { q.DeveloperRole = true },
	},
	{
		why: "Mistral refuses unknown members; it reports usage without being asked", mode: model.ChatCompletions,
		providers: []string{"mistral"}, hosts: []string{"api.mistral.ai"},
		set: func(q *model.Quirks) { q.NoStreamOptions = true },
	},
	{
		why: "Mistral's tokeniser takes tool call ids of nine letters and digits only", mode: model.ChatCompletions,
		models: []string{"mistral*", "ministral*", "magistral*", "codestral*", "devstral*", "pixtral*"},
		set:    func(q *model.Quirks) { q.ToolIDAlphabet = "mistral" },
	},
	{
		why: "Claude refuses other tool call ids, also behind a gateway", models: []string{"claude*"},
		set: func(q *model.Quirks) { q.ToolIDAlphabet = "anthropic" },
	},
	{
		why: "the Messages API restricts tool call ids", mode: model.AnthropicMessages,
		set: func(q *model.Quirks) { q.ToolIDAlphabet = "anthropic" },
	},
	{
		why: "their thinking models want their reasoning back beside tool calls", mode: model.ChatCompletions,
		providers: []string{"deepseek", "moonshot", "zai"}, hosts: []string{"api.deepseek.com", "api.moonshot.*", "api.z.ai", "open.bigmodel.cn"},
		set: func(q *model.Quirks) { q.ReasoningField = "reasoning_content" },
	},
	{
		why: "OpenRouter passes reasoning back to models that want it", mode: model.ChatCompletions,
		providers: []string{"openrouter"}, hosts: []string{"openrouter.ai"},
		set: func(q *model.Quirks) {
			q.ReasoningField = "reasoning"
			q.Headers = map[string]string{"X-Title": "rondo"}
		},
	},
	{
		why: "these servers take reasoning back under the name that they send it by", mode: model.ChatCompletions,
		providers: []string{"avian", "xai", "llamacpp"}, hosts: []string{"api.avian.io", "api.x.ai"},
		set: func(q *model.Quirks) { q.ReasoningField = "reasoning_content" },
	},
	{
		why: "and these under their shorter one", mode: model.ChatCompletions,
		providers: []string{"ollama", "ollama-cloud", "gpustack", "cerebras", "crusoe", "vercel"},
		hosts:     []string{"ollama.com", "api.cerebras.ai", "*.crusoecloud.com", "ai-gateway.vercel.sh"},
		set:       func(q *model.Quirks) { q.ReasoningField = "reasoning" },
	},
	{
		why: "from Opus 4.7 on Claude refuses a budget for thinking and sets its own", mode: model.AnthropicMessages,
		models: []string{
			"*claude-opus-4-[7-9]*", "*claude-opus-4.[7-9]*", "*claude-opus-[5-9]*", "*claude-sonnet-[5-9]*", "*claude-haiku-[5-9]*",
			"*claude-fable-*", "*claude-mythos-*",
		},
		set: func(q *model.Quirks) { q.AdaptiveThinking = true },
	},
	{
		why: "OpenRouter passes cache marks to Claude", mode: model.ChatCompletions,
		hosts: []string{"openrouter.ai"}, models: []string{"claude*"},
		set: func(q *model.Quirks) { q.CacheMarks = true },
	},
	{
		why: "local servers and gateways hand on what the model's template makes", mode: model.ChatCompletions,
		providers: []string{Custom, "ollama", "lmstudio", "llamacpp", "vllm"},
		set:       func(q *model.Quirks) { q.ThinkTags = true },
	},
	{
		why: "these models think in tags wherever the host does not parse them", mode: model.ChatCompletions,
		models: []string{"*deepseek-r1*", "qwq*", "qwen3*", "minimax-m*", "*-thinking*"},
		set:    func(q *model.Quirks) { q.ThinkTags = true },
	},
	{
		why: "Groq takes requests of at most 4 MB with images in them", mode: model.ChatCompletions,
		providers: []string{"groq"}, hosts: []string{"api.groq.com"},
		set: func(q *model.Quirks) { q.ImageBytes = 1_000_000 },
	},
	{
		why: "function responses hold JSON only before Gemini 3", mode: model.GeminiGenerate,
		models: []string{"gemini-1*", "gemini-2*", "gemma*"},
		set:    func(q *model.Quirks) { q.NoToolImages = true },
	},
	{
		why: "Gemini 3 takes a level of thinking, and wants its signatures back", mode: model.GeminiGenerate,
		models: []string{"gemini-[3-9]*"},
		set:    func(q *model.Quirks) { q.ThinkingLevels, q.SignedCalls = true, true },
	},
}

// quirksFor collects what is known of an endpoint.
func quirksFor(mode model.Mode, provider, host, name string) model.Quirks {
	var q model.Quirks
	for i := range quirks {
		if quirks[i].holds(mode, provider, host, name) {
			quirks[i].set(&q)
		}
	}
	return q
}

func (r *quirk) holds(mode model.Mode, provider, host, name string) bool {
	if r.mode != "" && r.mode != mode {
		return false
	}
	if len(r.models) > 0 && !matchAny(r.models, strings.ToLower(path.Base(name))) {
		return false
	}
	if len(r.providers)+len(r.hosts) == 0 {
		return true
	}
	return matchAny(r.providers, provider) || matchAny(r.hosts, strings.ToLower(host))
}

func matchAny(patterns []string, s string) bool {
	for _, p := range patterns {
		if ok, _ := path.Match(p, s); ok {
			return true
		}
	}
	return false
}
