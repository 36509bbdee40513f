package modeltest

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// responsesProtocol is OpenAI Responses.
type responsesProtocol struct{}

func (responsesProtocol) mode() model.Mode { return model.CodexResponses }

func (responsesProtocol) refusal(f refusal) []byte { return openAIRefusal(f) }

var responsesMembers = []string{
	"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream", "stream_options",
	"store", "include", "previous_response_id", "max_output_tokens", "max_tool_calls", "reasoning", "temperature",
	"top_p", "top_logprobs", "metadata", "prompt_cache_key", "prompt_cache_retention", "safety_identifier",
	"service_tier", "text", "truncation", "user", "background",
}

// rawItem is an item of a conversation as it was sent.
type rawItem = jsontext.Value

// storedResponse is a response that can be gone on from: what it was asked and
// what it said, behind an earlier one.
type storedResponse struct {
	previous *storedResponse
	items    []rawItem
	bytes    int
}

// all returns the items of the whole conversation, in order.
func (r *storedResponse) all() []rawItem {
	var chain [][]rawItem
	for ; r != nil; r = r.previous {
		chain = append(chain, r.items)
	}
	slices.Reverse(chain)
	return slices.Concat(chain...)
}

// total is how many tokens the conversation has.
func (r *storedResponse) total() int64 {
	n := 0
	for ; r != nil; r = r.previous {
		n += r.bytes
	}
	return tokens(n)
}

func (p responsesProtocol) check(c *checker, body node) {
	root := body.object(append(responsesMembers, c.srv.opts.Extra...)...)
	req := c.req
	req.Model = root.need("model").text()
	req.Stream = root.get("stream").boolean()
	req.store = !root.get("store").exists() || root.get("store").boolean()
	req.MaxOutputTokens = root.get("max_output_tokens").positive()
	for _, n := range root.get("include").items() {
		req.encrypted = req.encrypted || n.str() == "reasoning.encrypted_content"
	}
	if r := root.get("reasoning"); r.exists() && !r.null() {
		ob := r.object("effort", "summary", "generate_summary")
		req.Effort = c.effort(ob.get("effort"))
	}
	p.tools(c, root)
	if in := root.get("instructions"); in.exists() && !in.null() {
		req.System = in.text()
		req.Messages = append(req.Messages, &message.Message{Role: message.System, Parts: []message.Part{message.Text(req.System)}})
	}
	p.previous(c, root.get("previous_response_id"))
	p.input(c, root.need("input"))
}

func (responsesProtocol) tools(c *checker, root object) {
	for _, t := range root.get("tools").items() {
		ob := t.object("type", "name", "description", "parameters", "strict")
		ob.oneOf("type", "function")
		if strict := ob.get("strict"); !strict.null() {
			strict.boolean()
		}
		c.tool(ob.need("name").toolName(), ob.get("description").str(), ob.need("parameters"))
	}
	choice := root.get("tool_choice")
	if choice.v.Kind() == '{' {
		ob := choice.object("type", "name")
		ob.oneOf("type", "function")
		c.req.ToolChoice = c.chosen(ob.need("name"))
		return
	}
	c.req.ToolChoice = c.choiceWord(choice)
}

func (responsesProtocol) previous(c *checker, n node) {
	if !n.exists() || n.null() {
		return
	}
	c.req.PreviousResponse = n.str()
	c.srv.mu.Lock()
	defer c.srv.mu.Unlock()
	c.req.previous = c.srv.responses[c.req.PreviousResponse]
	if c.req.previous == nil {
		c.fault(n.path, "previous_response_not_found", "Previous response with id '%s' not found.", c.req.PreviousResponse)
	}
}

// input reads the items that the server knows and then those that were sent.
func (responsesProtocol) input(c *checker, n node) {
	conv := responsesConversation{checker: c, ids: map[string]bool{}}
	faults := len(c.req.Faults)
	known := c.req.previous.all()
	for _, v := range known {
		conv.item(node{c: c, path: "previous", v: v}, false)
	}
	c.req.Faults = c.req.Faults[:faults] // what the server said itself is right
	before := len(c.req.Messages)
	if n.v.Kind() == '"' {
		c.req.items = append(c.req.items, encode(o("type", "message", "role", "user", "content", n.text())))
		conv.append(message.User, message.Text(n.str()))
		c.req.Sent = 1
		return
	}
	items := n.items()
	if n.exists() && len(items) == 0 && len(known) == 0 {
		c.fault(n.path, "empty_array", "Invalid 'input': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	for i, item := range items {
		c.req.items = append(c.req.items, item.v)
		conv.item(item, i == len(items)-1)
	}
	conv.endReasoning()
	conv.endCalls("input")
	c.req.Sent = len(c.req.Messages) - before
}

// responsesConversation reads items in order. Items of the assistant in a row
// are one message.
type responsesConversation struct {
	*checker
	ids  map[string]bool
	open []*message.ToolCall
	// answering is set once a result has come: until all calls are answered
	// nothing else may.
	answering bool
	// reasoning is the item that waits for what followed it.
	reasoning     node
	lastReasoning string
}

func (c *responsesConversation) item(n node, last bool) {
	kind := n.kind()
	switch kind {
	case "", "message":
		c.message(n, last)
	case "reasoning":
		c.reason(n)
	case "function_call":
		c.call(n)
	case "function_call_output":
		c.endReasoning()
		c.output(n)
	default:
		c.fault(n.path, "invalid_value", "Invalid value: '%s'. Supported values are: 'message', 'reasoning', 'function_call', and 'function_call_output'.", kind)
	}
}

// append adds parts to the conversation: the assistant's to the message that it
// is speaking.
func (c *responsesConversation) append(role message.Role, parts ...message.Part) *message.Message {
	if n := len(c.req.Messages); role == message.Assistant && n > 0 && c.req.Messages[n-1].Role == role {
		m := c.req.Messages[n-1]
		m.Parts = append(m.Parts, parts...)
		return m
	}
	m := &message.Message{Role: role, Parts: parts}
	c.req.Messages = append(c.req.Messages, m)
	return m
}

func (c *responsesConversation) message(n node, last bool) {
	ob := n.object("type", "role", "content", "id", "status", "phase")
	role := message.Role(ob.oneOf("role", "user", "assistant", "system", "developer"))
	parts := c.content(ob.need("content"), role == message.Assistant)
	if role == message.Assistant {
		c.said(n, ob.get("id"), "msg")
		c.append(role, parts...)
		return
	}
	c.endReasoning()
	c.endCalls(n.path)
	before := message.System
	if l := len(c.req.Messages); l > 0 {
		before = c.req.Messages[l-1].Role
	}
	switch {
	case role != message.User:
		role = message.System
		if before != message.System {
			c.fault(n.path, "invalid_value", "Invalid value for '%s': System message must be at the beginning.", n.path)
		}
		m := c.append(role, parts...)
		c.req.System += m.Text()
		return
	case before == role && !last:
		c.fault(n.path, "invalid_value", "Invalid value for '%s': After the optional system message, conversation roles must alternate user/assistant/user/assistant/...", n.path)
	}
	c.append(role, parts...)
}

func (c *responsesConversation) content(n node, assistant bool) []message.Part {
	if n.v.Kind() != '[' {
		return []message.Part{message.Text(n.text())}
	}
	items := n.items()
	if len(items) == 0 {
		c.fault(n.path, "empty_array", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", n.path)
	}
	var parts []message.Part
	for _, item := range items {
		parts = append(parts, c.part(item, assistant))
	}
	return parts
}

func (c *responsesConversation) part(n node, assistant bool) message.Part {
	kind := n.kind()
	switch {
	case assistant && kind == "output_text":
		return message.Text(n.object("type", "text", "annotations", "logprobs").need("text").text())
	case assistant && kind == "refusal":
		return message.Text(n.object("type", "refusal").need("refusal").text())
	case assistant:
		c.fault(n.below("type"), "invalid_value", "Invalid value: '%s'. Supported values are: 'output_text' and 'refusal'.", kind)
	case kind == "input_text":
		return message.Text(n.object("type", "text").need("text").text())
	case kind == "input_image":
		return c.imageURL(n.object("type", "image_url", "detail").need("image_url"))
	case kind == "input_file":
		ob := n.object("type", "file_data", "file_url", "filename")
		return message.Part{Kind: message.KindFile, Media: &message.Media{
			Data: ob.get("file_data").str(), URL: ob.get("file_url").str(), Name: ob.get("filename").str(),
		}}
	default:
		c.fault(n.below("type"), "invalid_value", "Invalid value: '%s'. Supported values are: 'input_text', 'input_image', and 'input_file'.", kind)
	}
	return message.Text("")
}

// said notes an item of the assistant's. One that is sent with its id wants the
// reasoning that led to it.
func (c *responsesConversation) said(n, idNode node, prefix string) {
	if c.answering {
		c.endCalls(n.path)
	}
	if len(c.req.Messages) == 0 || c.req.Messages[len(c.req.Messages)-1].Role == message.System {
		c.fault(n.path, "invalid_value", "Invalid value for '%s': the first message must be of the user.", n.path)
	}
	id := ""
	if idNode.exists() {
		id = c.itemID(idNode, prefix)
	}
	c.srv.mu.Lock()
	after := c.srv.itemAfter[id]
	c.srv.mu.Unlock()
	if id != "" && after != "" && after != c.lastReasoning {
		c.fault("input", "", "Item '%s' of type '%s' was provided without its required 'reasoning' item: '%s'.", id, n.kind(), after)
	}
	c.reasoning, c.lastReasoning = node{}, ""
}

func (c *responsesConversation) itemID(n node, prefix string) string {
	id := n.str()
	if !strings.HasPrefix(id, prefix) {
		c.fault(n.path, "invalid_value", "Invalid '%s': '%s'. Expected an ID that begins with '%s'.", n.path, id, prefix)
	}
	if len(id) > 64 {
		c.fault(n.path, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", n.path, len(id))
	}
	return id
}

func (c *responsesConversation) call(n node) {
	ob := n.object("type", "id", "call_id", "name", "arguments", "status")
	c.said(n, ob.get("id"), "fc")
	call := &message.ToolCall{
		ID: ob.need("call_id").callID(), Name: ob.need("name").toolName(), Arguments: ob.need("arguments").arguments(),
	}
	if c.ids[call.ID] {
		c.fault(n.below("call_id"), "", "Duplicate function call with call_id %s.", call.ID)
	}
	c.ids[call.ID] = true
	c.open = append(c.open, call)
	c.append(message.Assistant, message.Part{Kind: message.KindToolCall, Call: call})
}

func (c *responsesConversation) output(n node) {
	ob := n.object("type", "id", "call_id", "output", "status")
	m := c.append(message.Tool)
	m.ToolCallID = ob.need("call_id").callID()
	if out := ob.need("output"); out.v.Kind() == '[' {
		m.Parts = c.content(out, false)
	} else {
		m.Parts = []message.Part{message.Text(out.str())}
	}
	switch {
	case len(c.open) == 0:
		c.fault(n.path, "", "No tool call found for function call output with call_id %s.", m.ToolCallID)
	case c.open[0].ID != m.ToolCallID:
		c.fault(n.path, "", "The outputs must come in the order of the function calls: expected '%s', got '%s'.", c.open[0].ID, m.ToolCallID)
	default:
		m.ToolName = c.open[0].Name
		c.open = c.open[1:]
	}
	c.answering = len(c.open) > 0
}

func (c *responsesConversation) endCalls(path string) {
	if len(c.open) > 0 {
		c.fault(path, "", "No tool output found for function call %s.", c.open[0].ID)
	}
	c.open, c.answering = nil, false
}

// reason reads a reasoning item: it must be this server's, for this model.
func (c *responsesConversation) reason(n node) {
	c.endReasoning()
	if c.answering {
		c.endCalls(n.path)
	}
	ob := n.object("type", "id", "summary", "content", "encrypted_content", "status")
	id := ob.get("id").str()
	var text string
	for _, part := range ob.need("summary").items() {
		s := part.object("type", "text")
		s.oneOf("type", "summary_text")
		text += s.need("text").str()
	}
	sealed := ob.get("encrypted_content")
	switch {
	case sealed.exists() && !sealed.null():
		issued, ok := c.srv.openReasoning(c.req.Model, sealed.str())
		if !ok {
			c.fault(sealed.path, "invalid_encrypted_content", "The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.")
		} else if id != "" && id != issued {
			c.fault(sealed.path, "invalid_encrypted_content", "The encrypted content could not be verified. Reason: Encrypted content item_id did not match the target item id.")
		}
		id = issued
	case !c.stored(id):
		c.fault(n.path, "", "Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", id)
	}
	c.reasoning, c.lastReasoning = n, id
	c.append(message.Assistant, message.Reasoning(text))
}

// stored reports whether a reasoning item is kept by the server.
func (c *responsesConversation) stored(id string) bool {
	c.srv.mu.Lock()
	defer c.srv.mu.Unlock()
	return id != "" && c.srv.reasonings[id] == c.req.Model
}

// endReasoning wants that no reasoning item stands without what followed it.
func (c *responsesConversation) endReasoning() {
	if !c.reasoning.exists() {
		return
	}
	c.fault("input", "", "Item '%s' of type 'reasoning' was provided without its required following item.", c.lastReasoning)
	c.reasoning, c.lastReasoning = node{}, ""
}
