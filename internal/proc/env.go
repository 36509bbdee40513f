package proc

import "strings"

// callID is the variable that marks a command and its children.
const callID = "RONDO_CALL_ID"

// secretNames are the variables with keys of model providers whose names do not
// end in _API_KEY, and rondo's own with a password.
var secretNames = map[string]bool{
	"ANTHROPIC_AUTH_TOKEN": true, "CLAUDE_CODE_OAUTH_TOKEN": true, "AWS_BEARER_TOKEN_BEDROCK": true,
	"REPLICATE_API_TOKEN": true, "HF_TOKEN": true, "HUGGING_FACE_HUB_TOKEN": true, "HUGGINGFACEHUB_API_TOKEN": true,
	"AZURE_OPENAI_KEY": true, "OPENAI_KEY": true, "GITHUB_MODELS_TOKEN": true, "CLOUDFLARE_API_TOKEN": true,
	"COHERE_KEY": true, "CO_API_KEY": true, "RONDO_STORE": true,
}

// Environ returns the environment for a command: base without the keys of model
// providers, which are all variables that end in _API_KEY, RONDO_API_KEY among
// them, and some more that are known by name. Other secrets, such as
// GITHUB_TOKEN, stay: the programs that a user works with need them. The names
// in pass are kept in any case.
func Environ(base []string, pass ...string) []string {
	keep := make(map[string]bool, len(pass))
	for _, name := range pass {
		keep[name] = true
	}
	env := make([]string, 0, len(base))
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		if name == callID || isSecret(name) && !keep[name] {
			continue
		}
		env = append(env, entry)
	}
	return env
}

func isSecret(name string) bool {
	upper := strings.ToUpper(name)
	return strings.HasSuffix(upper, "_API_KEY") || strings.HasSuffix(upper, "_API_KEYS") || secretNames[upper]
}
