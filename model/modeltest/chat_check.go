package modeltest

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// chatProtocol is OpenAI Chat Completions.
type chatProtocol struct{}

func (chatProtocol) mode() model.Mode { return model.ChatCompletions }

func (chatProtocol) refusal(f refusal) []byte {
	return openAIRefusal(f)
}

func openAIRefusal(f refusal) []byte {
	return encode(o("error", o("message", f.msg, "type", f.kind, "param", orNull(f.param), "code", orNull(f.code))))
}

func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

var chatMembers = []string{
	"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls",
	"max_tokens", "max_completion_tokens", "reasoning_effort", "temperature", "top_p", "stop", "n", "seed",
	"user", "response_format", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs",
	"top_logprobs", "metadata", "store", "service_tier", "modalities", "prediction", "prompt_cache_key",
	"safety_identifier", "verbosity",
}

func (p chatProtocol) check(c *checker, body node) {
	root := body.object(append(chatMembers, c.srv.opts.Extra...)...)
	req := c.req
	req.Model = root.need("model").text()
	req.Stream = root.get("stream").boolean()
	req.Effort = c.effort(root.get("reasoning_effort"))
	req.MaxOutputTokens = max(root.get("max_tokens").positive(), root.get("max_completion_tokens").positive())
	if opts := root.get("stream_options"); opts.exists() {
		if !req.Stream {
			c.fault(opts.path, "invalid_value", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
		}
		req.usageWish = opts.object("include_usage", "include_obfuscation").get("include_usage").boolean()
	}
	p.tools(c, root)
	conv := chatConversation{checker: c, ids: map[string]bool{}}
	msgs := root.need("messages").items()
	if root.get("messages").exists() && len(msgs) == 0 {
		c.fault("messages", "empty_array", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	for i, m := range msgs {
		conv.message(m, i == len(msgs)-1)
	}
	conv.endResults("messages")
	req.Sent = len(req.Messages)
}

// effort reads how hard the model is to think.
func (c *checker) effort(n node) string {
	s := n.str()
	if n.exists() && !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh"}, s) {
		c.fault(n.path, "invalid_value", "Invalid value: '%s'. Supported values are: 'none', 'minimal', 'low', 'medium', 'high', and 'xhigh'.", s)
	}
	return s
}

func (chatProtocol) tools(c *checker, root object) {
	tools := root.get("tools").items()
	if root.get("tools").exists() && len(tools) == 0 {
		c.fault("tools", "empty_array", "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	for _, t := range tools {
		ob := t.object("type", "function", "cache_control")
		c.chatMark(ob.get("cache_control"))
		ob.oneOf("type", "function")
		fn := ob.need("function").object("name", "description", "parameters", "strict")
		fn.get("strict").boolean()
		c.tool(fn.need("name").toolName(), fn.get("description").str(), fn.get("parameters"))
	}
	choice := root.get("tool_choice")
	if choice.exists() && len(tools) == 0 {
		c.fault("tool_choice", "invalid_value", "'tool_choice' is only allowed when 'tools' are specified.")
	}
	if root.get("parallel_tool_calls").exists() && len(tools) == 0 {
		c.fault("parallel_tool_calls", "invalid_value", "'parallel_tool_calls' is only allowed when 'tools' are specified.")
	}
	if choice.v.Kind() == '{' {
		ob := choice.object("type", "function")
		ob.oneOf("type", "function")
		c.req.ToolChoice = c.chosen(ob.need("function").object("name").need("name"))
		return
	}
	c.req.ToolChoice = c.choiceWord(choice)
}

// choiceWord reads a tool choice that is a word.
func (c *checker) choiceWord(n node) model.ToolChoice {
	switch word := n.str(); word {
	case "", "auto":
		return model.ToolAuto
	case "none", "required":
		return model.ToolChoice(word)
	default:
		c.fault(n.path, "invalid_value", "Invalid value: '%s'. Supported values are: 'none', 'auto', and 'required'.", word)
		return model.ToolAuto
	}
}

// chosen reads the name of a tool that must be called.
func (c *checker) chosen(n node) model.ToolChoice {
	name := n.str()
	if !slices.ContainsFunc(c.req.Tools, func(t model.ToolSpec) bool { return t.Name == name }) {
		c.fault(n.path, "invalid_value", "Tool choice '%s' not found in 'tools' parameter.", name)
	}
	return model.ToolChoice(name)
}

// oneOf wants a member to be one of some words.
func (ob object) oneOf(name string, words ...string) string {
	n := ob.need(name)
	s := n.str()
	if n.exists() && !slices.Contains(words, s) {
		if ob.c.dots {
			ob.c.fault(n.path, "", "%s: Input should be '%s'", n.path, strings.Join(words, "' or '"))
		} else {
			ob.c.fault(n.path, "invalid_value", "Invalid value: '%s'. Supported values are: '%s'.", s, strings.Join(words, "' and '"))
		}
	}
	return s
}

func (c *checker) chatMark(n node) {
	if !n.exists() {
		return
	}
	if !c.srv.opts.ChatCacheMarks {
		c.unknown(n.path)
	}
	n.cacheControl()
}

// chatConversation reads the messages in order.
type chatConversation struct {
	*checker
	ids  map[string]bool
	open []*message.ToolCall
}

func (c *chatConversation) message(n node, last bool) {
	role := ""
	if ms, err := members(n.v); err == nil {
		for _, m := range ms {
			if m.name == "role" {
				role = unquote(m.value)
			}
		}
	}
	if role != "tool" {
		c.endResults(n.path)
	}
	var m *message.Message
	switch role {
	case "system", "developer":
		m = c.system(n)
	case "user":
		ob := n.object("role", "content", "name")
		m = &message.Message{Role: message.User, Parts: c.content(ob.need("content"), true)}
		c.alternates(n, message.User, last)
	case "assistant":
		m = c.assistant(n)
		c.alternates(n, message.Assistant, false)
	case "tool":
		m = c.result(n)
	default:
		c.fault(n.below("role"), "invalid_value", "Invalid value: '%s'. Supported values are: 'system', 'assistant', 'user', 'tool', and 'developer'.", role)
		return
	}
	c.req.Messages = append(c.req.Messages, m)
}

func (c *chatConversation) system(n node) *message.Message {
	ob := n.object("role", "content", "name")
	m := &message.Message{Role: message.System, Parts: c.content(ob.need("content"), false)}
	for _, before := range c.req.Messages {
		if before.Role != message.System {
			c.fault(n.path, "invalid_value", "Invalid value for '%s': System message must be at the beginning.", n.path)
			break
		}
	}
	c.req.System += m.Text()
	return m
}

// alternates wants another role than before. A user message may follow another
// one at the very end, where engines put notes.
func (c *chatConversation) alternates(n node, role message.Role, mayRepeat bool) {
	var before message.Role
	if l := len(c.req.Messages); l > 0 {
		before = c.req.Messages[l-1].Role
	}
	switch {
	case before == role && !mayRepeat:
		c.fault(n.path, "invalid_value", "Invalid value for '%s': After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", n.path)
	case role == message.Assistant && (before == "" || before == message.System):
		c.fault(n.path, "invalid_value", "Invalid value for '%s': the first message must be of the user.", n.path)
	}
}

func (c *chatConversation) content(n node, images bool) []message.Part {
	if n.v.Kind() != '[' {
		return []message.Part{message.Text(n.text())}
	}
	items := n.items()
	if len(items) == 0 {
		c.fault(n.path, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", n.path)
	}
	var parts []message.Part
	for _, item := range items {
		parts = append(parts, c.part(item, images))
	}
	return parts
}

func (c *chatConversation) part(n node, images bool) message.Part {
	ob := n.object("type", "text", "image_url", "file", "cache_control")
	kind := ob.need("type").str()
	if mark := ob.get("cache_control"); mark.exists() {
		c.chatMark(mark)
	}
	switch {
	case kind == "text":
		return message.Text(ob.need("text").text())
	case kind == "image_url" && images:
		url := ob.need("image_url").object("url", "detail")
		return c.imageURL(url.need("url"))
	case kind == "file" && images:
		f := ob.need("file").object("file_data", "file_id", "filename")
		return message.Part{Kind: message.KindFile, Media: &message.Media{Data: f.get("file_data").str(), Name: f.get("filename").str()}}
	case kind == "image_url":
		c.fault(n.path, "invalid_value", "Invalid '%s'. Image URLs are only allowed for messages with role 'user', but this message contains an image URL.", n.path)
	default:
		c.fault(n.path, "invalid_value", "Invalid value: '%s'. Supported values are: 'text', 'image_url', and 'file'.", kind)
	}
	return message.Text("")
}

func (c *chatConversation) assistant(n node) *message.Message {
	ob := n.object("role", "content", "tool_calls", "refusal", "name", "reasoning_content", "reasoning")
	m := &message.Message{Role: message.Assistant}
	for _, name := range []string{"reasoning_content", "reasoning"} {
		if r := ob.get(name); r.exists() && !r.null() {
			m.Parts = append(m.Parts, c.reasoning(r))
		}
	}
	content, calls := ob.get("content"), ob.get("tool_calls")
	if content.exists() && !content.null() {
		m.Parts = append(m.Parts, c.content(content, false)...)
	}
	for _, call := range calls.items() {
		if tc := c.call(call); tc != nil {
			m.Parts = append(m.Parts, message.Part{Kind: message.KindToolCall, Call: tc})
			c.open = append(c.open, tc)
		}
	}
	if calls.exists() && !m.HasCalls() {
		c.fault(calls.path, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", calls.path)
	}
	if !m.HasCalls() && m.Text() == "" {
		c.fault(content.path, "invalid_value", "Invalid value for '%s': expected a string, got null.", content.path)
	}
	return m
}

// reasoning accepts what this server thought for that model and nothing else.
func (c *checker) reasoning(n node) message.Part {
	text := n.text()
	if !c.srv.thought(c.req.Model, text) {
		c.fault(n.path, "invalid_value", "Invalid value for '%s': this reasoning was not produced by model '%s'.", n.path, c.req.Model)
	}
	return message.Reasoning(text)
}

var mistralID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9]{9}$`) })

func (c *chatConversation) callID(n node) string {
	id := n.callID()
	if c.srv.opts.MistralIDs && n.exists() && !mistralID().MatchString(id) {
		c.fault(n.path, "3280", "Tool call id was %s but must be a-z, A-Z, 0-9, with a length of 9.", id)
	}
	return id
}

func (c *chatConversation) call(n node) *message.ToolCall {
	ob := n.object("id", "type", "function")
	ob.oneOf("type", "function")
	fn := ob.need("function").object("name", "arguments")
	call := &message.ToolCall{
		ID: c.callID(ob.need("id")), Name: fn.need("name").toolName(), Arguments: fn.need("arguments").arguments(),
	}
	if c.ids[call.ID] {
		c.fault(n.below("id"), "invalid_value", "Duplicate value for 'tool_call_id' of '%s'.", call.ID)
	}
	c.ids[call.ID] = true
	return call
}

func (c *chatConversation) result(n node) *message.Message {
	ob := n.object("role", "content", "tool_call_id", "name")
	m := &message.Message{Role: message.Tool, ToolCallID: c.callID(ob.need("tool_call_id"))}
	if content := ob.need("content"); content.v.Kind() == '[' {
		m.Parts = c.content(content, c.srv.opts.ChatToolImages)
	} else {
		m.Parts = []message.Part{message.Text(content.str())}
	}
	switch {
	case len(c.open) == 0:
		c.fault(n.path, "", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.")
	case c.open[0].ID != m.ToolCallID:
		c.fault(n.below("tool_call_id"), "", "The tool results must come in the order of the 'tool_calls': expected '%s', got '%s'.", c.open[0].ID, m.ToolCallID)
	default:
		m.ToolName = c.open[0].Name
		c.open = c.open[1:]
	}
	return m
}

// endResults wants all calls to be answered before what stands at path.
func (c *chatConversation) endResults(path string) {
	if len(c.open) == 0 {
		return
	}
	var ids []string
	for _, call := range c.open {
		ids = append(ids, call.ID)
	}
	c.open = nil
	c.fault(path, "", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
}
