package modeltest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// anthropicProtocol is Anthropic Messages.
type anthropicProtocol struct{}

func (anthropicProtocol) mode() model.Mode { return model.AnthropicMessages }

func (anthropicProtocol) refusal(f refusal) []byte {
	return encode(o("type", "error", "error", o("type", f.kind, "message", f.msg)))
}

var anthropicMembers = []string{
	"model", "messages", "max_tokens", "system", "tools", "tool_choice", "stream", "temperature", "top_k",
	"top_p", "stop_sequences", "metadata", "thinking", "service_tier", "output_config", "cache_control",
}

func (p anthropicProtocol) check(c *checker, body node) {
	root := body.object(append(anthropicMembers, c.srv.opts.Extra...)...)
	req := c.req
	req.Model = root.need("model").text()
	req.MaxOutputTokens = root.need("max_tokens").positive()
	req.Stream = root.get("stream").boolean()
	root.get("cache_control").cacheControl()
	p.tools(c, root)
	p.system(c, root.get("system"))
	thinks := p.thinking(c, root)
	conv := anthropicConversation{checker: c, ids: map[string]bool{}}
	msgs := root.need("messages").items()
	if root.get("messages").exists() && len(msgs) == 0 {
		c.fault("messages", "", "messages: at least one message is required")
	}
	for i, m := range msgs {
		conv.message(m, i == len(msgs)-1)
	}
	conv.unanswered()
	if thinks {
		conv.thinksFirst()
	}
	req.Sent = len(req.Messages)
}

func (anthropicProtocol) tools(c *checker, root object) {
	for _, t := range root.get("tools").items() {
		ob := t.object("type", "name", "description", "input_schema", "cache_control", "strict")
		if ob.get("type").exists() {
			ob.oneOf("type", "custom")
		}
		ob.get("cache_control").cacheControl()
		c.tool(ob.need("name").toolName(), ob.get("description").str(), ob.need("input_schema"))
	}
	choice := root.get("tool_choice")
	if !choice.exists() {
		return
	}
	if len(c.req.Tools) == 0 {
		c.fault("tool_choice", "", "tool_choice: tool_choice may only be specified while providing tools.")
	}
	ob := choice.object("type", "name", "disable_parallel_tool_use")
	switch ob.oneOf("type", "auto", "any", "tool", "none") {
	case "any":
		c.req.ToolChoice = model.ToolRequired
	case "none":
		c.req.ToolChoice = model.ToolNone
	case "tool":
		c.req.ToolChoice = c.chosen(ob.need("name"))
	}
}

func (anthropicProtocol) system(c *checker, n node) {
	var parts []message.Part
	if n.v.Kind() == '[' {
		for _, item := range n.items() {
			ob := item.object("type", "text", "cache_control")
			ob.oneOf("type", "text")
			parts = append(parts, message.Text(ob.need("text").text()))
			ob.get("cache_control").cacheControl()
		}
	} else if n.exists() {
		parts = append(parts, message.Text(n.text()))
	}
	if len(parts) > 0 {
		m := &message.Message{Role: message.System, Parts: parts}
		c.req.System = m.Text()
		c.req.Messages = append(c.req.Messages, m)
	}
}

// thinking reads whether the model is to think, and what that forbids.
func (anthropicProtocol) thinking(c *checker, root object) bool {
	if oc := root.get("output_config"); oc.exists() {
		effort := oc.object("effort", "format").get("effort")
		c.req.Effort = effort.str()
		if effort.exists() && !slices.Contains([]string{"low", "medium", "high", "max"}, c.req.Effort) {
			c.fault(effort.path, "", "This model does not support effort level '%s'. Supported levels: high, low, max, medium.", c.req.Effort)
		}
	}
	n := root.get("thinking")
	if !n.exists() {
		return false
	}
	ob := n.object("type", "budget_tokens", "display")
	kind := ob.oneOf("type", "enabled", "disabled", "adaptive")
	if kind == "disabled" {
		return false
	}
	if c.req.ToolChoice != model.ToolAuto && c.req.ToolChoice != model.ToolNone {
		c.fault("tool_choice", "", "Thinking may not be enabled when tool_choice forces tool use.")
	}
	if root.get("temperature").exists() && string(root.get("temperature").v) != "1" {
		c.fault("temperature", "", "`temperature` may only be set to 1 when thinking is enabled.")
	}
	if kind == "adaptive" {
		return false
	}
	budget := ob.need("budget_tokens").positive()
	if budget < 1024 {
		c.fault("thinking.budget_tokens", "", "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	}
	if budget >= c.req.MaxOutputTokens {
		c.fault("max_tokens", "", "`max_tokens` must be greater than `thinking.budget_tokens`.")
	}
	return true
}

// anthropicConversation reads the messages in order.
type anthropicConversation struct {
	*checker
	ids  map[string]bool
	open []*message.ToolCall
	// openAt is the number of the message that made the open calls.
	openAt int
	first  []string // the type of the first block of each assistant message
	roles  []string // of the messages so far
}

func (c *anthropicConversation) message(n node, last bool) {
	ob := n.object("role", "content")
	role := ob.oneOf("role", "user", "assistant")
	if len(c.roles) == 0 && role != "user" {
		c.fault(n.path, "", `messages: first message must use the "user" role`)
	}
	if len(c.roles) > 0 && c.roles[len(c.roles)-1] == role {
		c.fault(n.path, "", `messages: roles must alternate between "user" and "assistant", but found multiple "%s" roles in a row`, role)
	}
	c.roles = append(c.roles, role)
	content := ob.need("content")
	if role == "user" {
		c.user(content)
		return
	}
	c.unanswered()
	m := &message.Message{Role: message.Assistant}
	first := "text"
	if content.v.Kind() == '"' {
		m.Parts = append(m.Parts, message.Text(content.text()))
	}
	for i, b := range c.blocks(content) {
		if i == 0 {
			first = b.kind()
		}
		m.Parts = append(m.Parts, c.said(b))
	}
	c.first = append(c.first, first)
	if text := m.Text(); last && text != strings.TrimRight(text, " \t\r\n") {
		c.fault(n.path, "", "messages: final assistant content cannot end with trailing whitespace")
	}
	c.req.Messages = append(c.req.Messages, m)
}

func (c *anthropicConversation) blocks(n node) []node {
	if n.v.Kind() == '"' {
		return nil
	}
	items := n.items()
	if len(items) == 0 {
		c.fault(n.path, "", "%s: all messages must have non-empty content", n.path)
	}
	return items
}

// user reads a user message, which begins with the results of the calls before.
func (c *anthropicConversation) user(content node) {
	m := &message.Message{Role: message.User}
	if content.v.Kind() == '"' {
		m.Parts = append(m.Parts, message.Text(content.text()))
	}
	for _, b := range c.blocks(content) {
		if b.kind() != "tool_result" {
			c.unanswered()
			m.Parts = append(m.Parts, c.part(b))
			continue
		}
		if len(m.Parts) > 0 {
			c.fault(b.path, "", "%s: `tool_result` blocks must stand in front of other content", b.path)
		}
		c.req.Messages = append(c.req.Messages, c.result(b))
	}
	c.unanswered()
	if len(m.Parts) > 0 {
		c.req.Messages = append(c.req.Messages, m)
	}
}

// unanswered wants that no call is open any more.
func (c *anthropicConversation) unanswered() {
	if len(c.open) == 0 {
		return
	}
	var ids []string
	for _, call := range c.open {
		ids = append(ids, call.ID)
	}
	c.open = nil
	c.fault(fmt.Sprintf("messages.%d", c.openAt), "", "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", c.openAt, strings.Join(ids, ", "))
}

// part reads a block of the user's.
func (c *anthropicConversation) part(n node) message.Part {
	switch n.kind() {
	case "text":
		return message.Text(c.textBlock(n))
	case "image":
		ob := n.object("type", "source", "cache_control")
		ob.get("cache_control").cacheControl()
		return c.source(ob.need("source"), true)
	case "document":
		ob := n.object("type", "source", "title", "context", "citations", "cache_control")
		ob.get("cache_control").cacheControl()
		p := c.source(ob.need("source"), false)
		p.Kind, p.Media.Name = message.KindFile, ob.get("title").str()
		return p
	}
	c.fault(n.path, "", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'document', 'image', 'text', 'tool_result'", n.path, n.kind())
	return message.Text("")
}

func (c *anthropicConversation) textBlock(n node) string {
	ob := n.object("type", "text", "cache_control", "citations")
	text, mark := ob.need("text"), ob.get("cache_control")
	if mark.exists() && text.exists() && text.str() == "" {
		c.fault(mark.path, "", "%s: cache_control cannot be set for empty text blocks", mark.path)
	}
	mark.cacheControl()
	s := text.text()
	if s != "" && strings.TrimSpace(s) == "" {
		c.fault(text.path, "", "messages: text content blocks must contain non-whitespace text")
	}
	return s
}

func (c *anthropicConversation) source(n node, picture bool) message.Part {
	ob := n.object("type", "media_type", "data", "url")
	switch ob.oneOf("type", "base64", "url", "text") {
	case "base64":
		mime, data := ob.need("media_type").str(), ob.need("data").str()
		if picture {
			return c.image(n.path, mime, data)
		}
		return message.Image(mime, data)
	case "url":
		return c.imageURL(ob.need("url"))
	}
	return message.Image(ob.get("media_type").str(), ob.get("data").str())
}

func (c *anthropicConversation) id(n node) string {
	id := n.str()
	if n.exists() && !namePattern().MatchString(id) {
		n.pattern("^[a-zA-Z0-9_-]{1,64}$")
	}
	return id
}

func (c *anthropicConversation) result(n node) *message.Message {
	ob := n.object("type", "tool_use_id", "content", "is_error", "cache_control")
	ob.get("cache_control").cacheControl()
	m := &message.Message{Role: message.Tool, ToolCallID: c.id(ob.need("tool_use_id")), Status: message.StatusOK}
	if ob.get("is_error").boolean() {
		m.Status = message.StatusError
	}
	switch content := ob.get("content"); content.v.Kind() {
	case '"':
		m.Parts = []message.Part{message.Text(content.str())}
	case '[':
		for _, b := range content.items() {
			m.Parts = append(m.Parts, c.part(b))
		}
	}
	switch {
	case !slices.ContainsFunc(c.open, func(call *message.ToolCall) bool { return call.ID == m.ToolCallID }):
		c.fault(n.path, "", "%s: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", n.path, m.ToolCallID)
	case c.open[0].ID != m.ToolCallID:
		c.fault(n.path, "", "%s: `tool_result` blocks must come in the order of the `tool_use` blocks: expected %s, found %s", n.path, c.open[0].ID, m.ToolCallID)
	default:
		m.ToolName = c.open[0].Name
		c.open = c.open[1:]
	}
	return m
}

// said reads a block of the assistant's.
func (c *anthropicConversation) said(n node) message.Part {
	switch n.kind() {
	case "text":
		return message.Text(c.textBlock(n))
	case "thinking":
		ob := n.object("type", "thinking", "signature")
		text, signature := ob.need("thinking").str(), ob.need("signature")
		if signature.str() != c.srv.seal("thinking", c.req.Model, text) {
			c.fault(signature.path, "", "%s: Invalid `signature` in `thinking` block", n.path)
		}
		return message.Reasoning(text)
	case "redacted_thinking":
		data := n.object("type", "data").need("data")
		if data.str() != c.srv.seal("redacted", c.req.Model, "") {
			c.fault(data.path, "", "%s: Invalid `data` in `redacted_thinking` block", n.path)
		}
		return message.Part{Kind: message.KindOpaque}
	case "tool_use":
		return c.use(n)
	}
	c.fault(n.path, "", "%s: Input tag '%s' found using 'type' does not match any of the expected tags: 'redacted_thinking', 'text', 'thinking', 'tool_use'", n.path, n.kind())
	return message.Text("")
}

func (c *anthropicConversation) use(n node) message.Part {
	ob := n.object("type", "id", "name", "input", "cache_control")
	ob.get("cache_control").cacheControl()
	input := ob.need("input")
	if input.exists() && input.v.Kind() != '{' {
		c.fault(input.path, "", "%s: Input should be a valid dictionary", input.path)
	}
	call := &message.ToolCall{ID: c.id(ob.need("id")), Name: ob.need("name").toolName(), Arguments: compactJSON(input.v)}
	if c.ids[call.ID] {
		c.fault(n.below("id"), "", "messages: `tool_use` ids must be unique")
	}
	c.ids[call.ID] = true
	c.open, c.openAt = append(c.open, call), len(c.roles)-1
	return message.Part{Kind: message.KindToolCall, Call: call}
}

// thinksFirst wants the assistant message of a turn that is still running to
// begin with what it thought, as long as thinking is on.
func (c *anthropicConversation) thinksFirst() {
	last := c.req.Messages
	if len(last) == 0 || len(c.first) == 0 {
		return
	}
	i := len(last) - 1
	for i > 0 && last[i].Role == message.User {
		i--
	}
	first := c.first[len(c.first)-1]
	if last[i].Role == message.Tool && first != "thinking" && first != "redacted_thinking" {
		c.fault("messages", "", "messages: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks).", first)
	}
}
