package modeltest

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// geminiProtocol is generateContent of the Gemini API, whose path names the
// model and says whether the reply is to be streamed.
type geminiProtocol struct {
	model  string
	stream bool
	events bool // alt=sse
}

const geminiModels = "/v1beta/models"

// geminiCall returns the protocol of a call to u, nil if there is no such call.
func geminiCall(u *url.URL) protocol {
	rest, _ := strings.CutPrefix(u.Path, geminiModels+"/")
	name, method, _ := strings.Cut(rest, ":")
	switch method {
	case "generateContent", "streamGenerateContent":
		return geminiProtocol{model: name, stream: method[0] == 's', events: u.Query().Get("alt") == "sse"}
	}
	return nil
}

func (geminiProtocol) mode() model.Mode { return model.GeminiGenerate }

func (geminiProtocol) refusal(f refusal) []byte {
	if f.status == http.StatusOK { // inside of a reply
		f.status = geminiStatus(f.kind)
	}
	body := o("code", f.status, "message", f.msg, "status", geminiStatusName(f.status))
	if f.code == "invalid_api_key" {
		body = append(body, "details", []any{o(
			"@type", "type.googleapis.com/google.rpc.ErrorInfo", "reason", "API_KEY_INVALID", "domain", "googleapis.com")})
	}
	return encode(o("error", body))
}

// geminiStatus is the status of an error that a script names in the words of
// another provider.
func geminiStatus(kind string) int {
	switch kind {
	case "rate_limit_exceeded", "rate_limit_error":
		return http.StatusTooManyRequests
	case "overloaded_error":
		return http.StatusServiceUnavailable
	case "invalid_request_error":
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

func geminiStatusName(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "UNAUTHENTICATED"
	case http.StatusForbidden:
		return "PERMISSION_DENIED"
	case http.StatusNotFound:
		return "NOT_FOUND"
	case http.StatusTooManyRequests:
		return "RESOURCE_EXHAUSTED"
	case http.StatusInternalServerError:
		return "INTERNAL"
	case http.StatusServiceUnavailable:
		return "UNAVAILABLE"
	case http.StatusGatewayTimeout:
		return "DEADLINE_EXCEEDED"
	}
	if status >= 500 {
		return "UNKNOWN"
	}
	return "INVALID_ARGUMENT"
}

// geminiKey refuses a request whose key is missing or wrong.
func (c *checker) geminiKey(key string) *refusal {
	status, msg := http.StatusBadRequest, "API key not valid. Please pass a valid API key."
	if key == "" {
		status, msg = http.StatusForbidden, "Method doesn't allow unregistered callers. Please use API Key or other form of API consumer identity to call this API."
	}
	c.fault("header", "invalid_api_key", "%s", msg)
	f := c.first()
	f.status = status
	return f
}

// geminiUnknown reports a member that the API does not have.
func (c *checker) geminiUnknown(path string) {
	at, name := "", path
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		at, name = fmt.Sprintf(" at '%s'", path[:i]), path[i+1:]
	}
	c.fault(path, "", "Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, at)
}

var (
	geminiMembers = []string{
		"contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent", "model", "labels",
	}
	geminiConfig = []string{
		"maxOutputTokens", "temperature", "topP", "topK", "candidateCount", "stopSequences", "seed", "presencePenalty",
		"frequencyPenalty", "responseMimeType", "responseSchema", "responseJsonSchema", "responseModalities", "thinkingConfig",
		"mediaResolution", "speechConfig", "responseLogprobs", "logprobs",
	}
)

func (p geminiProtocol) check(c *checker, body node) {
	c.req.Model, c.req.Stream = p.model, p.stream
	root := body.object(append(geminiMembers, c.srv.opts.Extra...)...)
	if p.stream && !p.events {
		c.fault("alt", "", "This server streams events only: ask for alt=sse.")
	}
	p.config(c, root.get("generationConfig"))
	p.tools(c, root)
	p.choice(c, root.get("toolConfig"))
	conv := geminiConversation{checker: c}
	conv.system(root.get("systemInstruction"))
	contents := root.get("contents").items()
	if len(contents) == 0 {
		c.fault("contents", "", "* GenerateContentRequest.contents: contents is not specified\n")
	}
	for _, n := range contents {
		conv.content(n)
	}
	conv.end()
	c.req.Sent = len(c.req.Messages)
}

func (geminiProtocol) config(c *checker, n node) {
	if !n.exists() {
		return
	}
	ob := n.object(geminiConfig...)
	c.req.MaxOutputTokens = ob.get("maxOutputTokens").positive()
	thinking := ob.get("thinkingConfig")
	if !thinking.exists() {
		return
	}
	t := thinking.object("includeThoughts", "thinkingBudget", "thinkingLevel")
	t.get("includeThoughts").boolean()
	budget, level := t.get("thinkingBudget"), t.get("thinkingLevel")
	if budget.exists() && level.exists() {
		c.fault(thinking.path, "", "You can only set only one of thinking budget and thinking level.")
	}
	if budget.exists() && budget.v.Kind() != '0' {
		budget.wrong("TYPE_INT32")
	}
	c.req.Effort = strings.ToLower(level.str())
	if level.exists() && !slices.Contains([]string{"minimal", "low", "medium", "high"}, c.req.Effort) {
		c.fault(level.path, "", "Invalid value at '%s' (type.googleapis.com/google.ai.generativelanguage.v1beta.ThinkingConfig.ThinkingLevel), %s", level.path, level.v)
	}
}

func (geminiProtocol) tools(c *checker, root object) {
	for _, t := range root.get("tools").items() {
		ob := t.object("functionDeclarations", "googleSearch", "codeExecution", "urlContext")
		for _, d := range ob.get("functionDeclarations").items() {
			fn := d.object("name", "description", "parameters", "response", "behavior")
			name := c.geminiName(fn.need("name"))
			schema := fn.get("parameters")
			if schema.exists() {
				c.geminiSchema(schema, true)
			}
			c.offer(name, fn.get("description").str(), schema)
		}
	}
}

func (geminiProtocol) choice(c *checker, n node) {
	if !n.exists() {
		return
	}
	config := n.object("functionCallingConfig", "retrievalConfig").get("functionCallingConfig")
	ob := config.object("mode", "allowedFunctionNames")
	mode, allowed := ob.get("mode").str(), ob.get("allowedFunctionNames")
	names := allowed.items()
	switch mode {
	case "ANY":
		c.req.ToolChoice = model.ToolRequired
		if len(c.req.Tools) == 0 {
			c.fault(config.path, "", "Function calling config is set without function_declarations.")
		}
		for _, name := range names {
			chosen := c.chosen(name)
			if len(names) == 1 {
				c.req.ToolChoice = chosen
			}
		}
		return
	case "NONE":
		c.req.ToolChoice = model.ToolNone
	case "", "AUTO":
	default:
		c.fault(config.path, "", "Invalid value at '%s.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), %q", config.path, mode)
	}
	if len(names) > 0 {
		c.fault(allowed.path, "", "Allowed function names should only be set when the calling mode is ANY.")
	}
}
