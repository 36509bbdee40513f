package provider

import (
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// Known is a provider that rondo knows by name.
type Known struct {
	// Name is what users call it; Aliases are other names for it.
	Name    string
	Aliases []string
	// BaseURL is its endpoint; empty when each customer has one of their own.
	BaseURL string
	// KeyEnv are the environment variables that may hold its key, the
	// preferred one first. None for a server that needs no key.
	KeyEnv []string
	// URLEnv is the environment variable that may move the endpoint.
	URLEnv string
	// Mode is the API mode that it always speaks; empty leaves it to the URL.
	Mode model.Mode
	// Catalogue are what to put before a model's name to find it in the
	// catalogue, in the order to try; nil for Name and a slash.
	Catalogue []string
	// DefaultModel overrides the catalogue's recommendation.
	DefaultModel string
	// NamePrefixes are how the names of its own models begin.
	NamePrefixes []string
	// Vendors means that its model names are VENDOR/MODEL.
	Vendors bool
	// Local means a server on the user's machine.
	Local bool
	// SendLimit sends the catalogue's output limit where the protocol would
	// allow none, because the provider's own default cuts replies short.
	SendLimit bool
}

// Custom is the name of the provider behind a base URL that is not known.
const Custom = "custom"

// known is in the order in which providers are taken when nothing else
// decides.
var known = []Known{
	{
		Name: "openai", BaseURL: "https://api.openai.com/v1", KeyEnv: []string{"OPENAI_API_KEY"}, URLEnv: "OPENAI_BASE_URL",
		NamePrefixes: []string{"gpt-", "chatgpt-", "o1", "o3", "o4", "codex-"},
	},
	{
		Name: "anthropic", Aliases: []string{"claude"}, BaseURL: "https://api.anthropic.com", KeyEnv: []string{"ANTHROPIC_API_KEY"},
		URLEnv: "ANTHROPIC_BASE_URL", Mode: model.AnthropicMessages, NamePrefixes: []string{"claude-"},
	},
	{
		Name: "openrouter", BaseURL: "https://openrouter.ai/api/v1", KeyEnv: []string{"OPENROUTER_API_KEY"},
		URLEnv: "OPENROUTER_BASE_URL", Vendors: true,
	},
	{
		Name: "google", Aliases: []string{"gemini"}, BaseURL: "https://generativelanguage.googleapis.com/v1beta/openai",
		KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, URLEnv: "GEMINI_BASE_URL",
		Catalogue: []string{"gemini/"}, NamePrefixes: []string{"gemini-", "gemma-"},
	},
	{
		Name: "deepseek", BaseURL: "https://api.deepseek.com/v1", KeyEnv: []string{"DEEPSEEK_API_KEY"}, URLEnv: "DEEPSEEK_BASE_URL",
		Catalogue: []string{"deepseek/", "openrouter/deepseek/"}, NamePrefixes: []string{"deepseek-"}, SendLimit: true,
	},
	{
		Name: "mistral", BaseURL: "https://api.mistral.ai/v1", KeyEnv: []string{"MISTRAL_API_KEY"}, URLEnv: "MISTRAL_BASE_URL",
		Catalogue: []string{"openrouter/mistralai/"}, DefaultModel: "mistral-medium-latest",
		NamePrefixes: []string{"mistral-", "ministral-", "magistral-", "codestral-", "devstral-", "pixtral-"},
	},
	{
		Name: "xai", Aliases: []string{"grok"}, BaseURL: "https://api.x.ai/v1", KeyEnv: []string{"XAI_API_KEY"}, URLEnv: "XAI_BASE_URL",
		Catalogue: []string{"xai/", "openrouter/x-ai/"}, NamePrefixes: []string{"grok-"},
	},
	{
		Name: "moonshot", Aliases: []string{"kimi", "moonshotai"}, BaseURL: "https://api.moonshot.ai/v1",
		KeyEnv: []string{"MOONSHOT_API_KEY", "KIMI_API_KEY"}, URLEnv: "MOONSHOT_BASE_URL",
		NamePrefixes: []string{"kimi-", "moonshot-"},
	},
	{
		Name: "zai", Aliases: []string{"z.ai", "glm"}, BaseURL: "https://api.z.ai/api/paas/v4",
		KeyEnv: []string{"ZAI_API_KEY"}, URLEnv: "ZAI_BASE_URL", NamePrefixes: []string{"glm-"},
	},
	{
		Name: "qwen", Aliases: []string{"dashscope", "alibaba"}, BaseURL: "https://dashscope-intl.aliyuncs.com/compatible-mode/v1",
		KeyEnv: []string{"DASHSCOPE_API_KEY"}, URLEnv: "DASHSCOPE_BASE_URL",
		Catalogue: []string{"alibaba-singapore/", "alibaba-us/", "openrouter/qwen/"}, NamePrefixes: []string{"qwen", "qwq"},
	},
	{
		Name: "minimax", BaseURL: "https://api.minimax.io/anthropic", KeyEnv: []string{"MINIMAX_API_KEY"}, URLEnv: "MINIMAX_BASE_URL",
		NamePrefixes: []string{"minimax-"},
	},
	{
		Name: "groq", BaseURL: "https://api.groq.com/openai/v1", KeyEnv: []string{"GROQ_API_KEY"}, URLEnv: "GROQ_BASE_URL",
		Catalogue: []string{"groq/", "openrouter/"}, Vendors: true,
	},
	{
		Name: "cerebras", BaseURL: "https://api.cerebras.ai/v1", KeyEnv: []string{"CEREBRAS_API_KEY"}, URLEnv: "CEREBRAS_BASE_URL",
	},
	{
		Name: "together", Aliases: []string{"togetherai"}, BaseURL: "https://api.together.xyz/v1",
		KeyEnv: []string{"TOGETHER_API_KEY"}, URLEnv: "TOGETHER_BASE_URL", Catalogue: []string{"openrouter/"}, DefaultModel: none, Vendors: true,
	},
	{
		Name: "fireworks", BaseURL: "https://api.fireworks.ai/inference/v1", KeyEnv: []string{"FIREWORKS_API_KEY"},
		URLEnv: "FIREWORKS_BASE_URL", Catalogue: []string{"fireworks/", "fireworks/accounts/fireworks/models/"}, SendLimit: true,
	},
	{
		Name: "huggingface", Aliases: []string{"hf"}, BaseURL: "https://router.huggingface.co/v1", KeyEnv: []string{"HF_TOKEN"},
		URLEnv: "HF_BASE_URL", Vendors: true,
	},
	{
		Name: "vercel", BaseURL: "https://ai-gateway.vercel.sh/v1", KeyEnv: []string{"AI_GATEWAY_API_KEY", "VERCEL_API_KEY"},
		URLEnv: "AI_GATEWAY_BASE_URL", Vendors: true,
	},
	{
		Name: "nebius", BaseURL: "https://api.tokenfactory.nebius.com/v1", KeyEnv: []string{"NEBIUS_API_KEY"}, URLEnv: "NEBIUS_BASE_URL", Vendors: true,
	},
	{
		Name: "azure", KeyEnv: []string{"AZURE_OPENAI_API_KEY"}, URLEnv: "AZURE_OPENAI_BASE_URL",
		Catalogue: []string{"azure/", "openai/"}, DefaultModel: none,
	},
	{
		Name: "ollama", BaseURL: "http://127.0.0.1:11434/v1", URLEnv: "OLLAMA_HOST", Local: true,
	},
	{
		Name: "lmstudio", Aliases: []string{"lm-studio"}, BaseURL: "http://127.0.0.1:1234/v1", URLEnv: "LMSTUDIO_BASE_URL", Local: true,
	},
	{
		Name: "llamacpp", Aliases: []string{"llama.cpp", "llama-server"}, BaseURL: "http://127.0.0.1:8080/v1", URLEnv: "LLAMACPP_BASE_URL", Local: true,
	},
	{
		Name: "vllm", BaseURL: "http://127.0.0.1:8000/v1", URLEnv: "VLLM_BASE_URL", Local: true,
	},
	{
		Name: "openai-codex", Aliases: []string{"openai-responses"}, BaseURL: "https://api.openai.com/v1", KeyEnv: []string{"OPENAI_API_KEY"},
		URLEnv: "OPENAI_BASE_URL", Mode: model.CodexResponses, Catalogue: []string{"openai/"},
	},
	{
		Name: "gemini-native", BaseURL: "https://generativelanguage.googleapis.com/v1beta", KeyEnv: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
		URLEnv: "GEMINI_NATIVE_BASE_URL", Mode: model.GeminiGenerate, Catalogue: []string{"gemini/"},
	},
}

// none stands for a default model where there is none to recommend.
const none = "-"

// All returns the providers that rondo knows, in the order in which they are
// taken when nothing else decides. The slice must not be changed.
func All() []Known { return known }

// Find returns the provider with that name or alias, without regard to case.
func Find(name string) (Known, bool) {
	name = strings.ToLower(name)
	i := slices.IndexFunc(known, func(k Known) bool { return k.Name == name || slices.Contains(k.Aliases, name) })
	if i < 0 {
		return Known{}, false
	}
	return known[i], true
}

// Default returns the model to take when only the provider is chosen; empty
// when there is none to recommend.
func (k *Known) Default() string {
	switch k.DefaultModel {
	case none:
		return ""
	case "":
		return defaultModel(k.Name)
	}
	return k.DefaultModel
}

// makes reports whether name looks like one of the provider's own models.
func (k *Known) makes(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(k.NamePrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// names lists the names of all known providers.
func names() string {
	all := make([]string, len(known))
	for i := range known {
		all[i] = known[i].Name
	}
	return strings.Join(all, ", ")
}
