package modeltest

import (
	"fmt"
	"slices"

	"github.com/rondo-engine/rondo/message"
)

// geminiConversation reads the contents in order.
type geminiConversation struct {
	*checker
	role string // of the last content
	open []*message.ToolCall
	// unsigned are the calls of the running turn that came back without the
	// signature that was issued for them.
	unsigned []string
	calls    int
}

func (c *geminiConversation) system(n node) {
	if !n.exists() {
		return
	}
	m := &message.Message{Role: message.System}
	for _, part := range n.object("role", "parts").need("parts").items() {
		m.Parts = append(m.Parts, message.Text(part.object("text").need("text").text()))
	}
	c.req.System = m.Text()
	c.req.Messages = append(c.req.Messages, m)
}

func (c *geminiConversation) content(n node) {
	ob := n.object("role", "parts")
	role, parts := ob.need("role").str(), ob.get("parts").items()
	switch {
	case role != "user" && role != "model":
		c.fault(n.path, "", "Please use a valid role: user, model.")
	case c.role == "" && role == "model":
		c.fault(n.path, "", "Please ensure that the conversation starts with a user turn.")
	case c.role == role:
		c.fault(n.path, "", "Please ensure that multiturn requests alternate between user and model.")
	}
	c.role = role
	if len(parts) == 0 {
		c.fault(n.path, "", "* GenerateContentRequest.%s.parts: contents.parts must not be empty.\n", n.path)
	}
	if role == "model" {
		c.said(parts)
		return
	}
	c.user(n, parts)
}

// end wants the conversation to wait for the model.
func (c *geminiConversation) end() {
	if c.role == "model" {
		c.fault("contents", "", "Please ensure that single turn requests end with a user role or a function response.")
	}
	for _, name := range c.unsigned {
		c.fault("contents", "", "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `%s`.", name)
	}
}

// dataFields are the members of a part of which it has exactly one.
var dataFields = []string{"text", "inlineData", "fileData", "functionCall", "functionResponse", "executableCode", "codeExecutionResult"}

// part takes a part apart and tells which data it has.
func (c *geminiConversation) part(n node) (ob object, field string) {
	ob = n.object(append([]string{"thought", "thoughtSignature"}, dataFields...)...)
	for _, f := range dataFields {
		if !ob.get(f).exists() {
			continue
		}
		if field != "" {
			c.fault(n.path, "", "Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", n.path, f)
		}
		field = f
	}
	signature := ob.get("thoughtSignature")
	if s := signature.str(); s != "" && s != skipSignature && !c.srv.issued(c.req.Model, s) {
		c.fault(signature.path, "", "Corrupted thought signature.")
	}
	if field == "" || field == "text" && ob.get("text").str() == "" && !signature.exists() {
		c.fault(n.path, "", "* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", n.path)
	}
	return ob, field
}

// skipSignature is what the API takes in the place of a signature for calls
// that its models did not make.
const skipSignature = "skip_thought_signature_validator"

// said reads what the model said.
func (c *geminiConversation) said(parts []node) {
	m := &message.Message{Role: message.Assistant}
	for _, n := range parts {
		ob, field := c.part(n)
		switch field {
		case "text":
			text := ob.get("text").str()
			if ob.get("thought").boolean() {
				m.Parts = append(m.Parts, message.Reasoning(text))
			} else {
				m.Parts = append(m.Parts, message.Text(text))
			}
		case "functionCall":
			m.Parts = append(m.Parts, c.call(ob)...)
		case "functionResponse":
			c.fault(n.path, "", "Please ensure that function response turn comes immediately after a function call turn.")
		case "executableCode", "codeExecutionResult":
			m.Parts = append(m.Parts, message.Part{Kind: message.KindOpaque})
		default:
			m.Parts = append(m.Parts, c.media(ob, field))
		}
	}
	c.req.Messages = append(c.req.Messages, m)
}

// call reads a call. Its signature is what the model thought in front of it.
func (c *geminiConversation) call(ob object) []message.Part {
	n := ob.get("functionCall")
	fn := n.object("id", "name", "args")
	args := fn.get("args")
	if args.exists() && args.v.Kind() != '{' {
		args.wrong("Struct")
	}
	call := &message.ToolCall{ID: fn.get("id").str(), Name: c.geminiName(fn.need("name")), Arguments: "{}"}
	if args.exists() {
		call.Arguments = compactJSON(args.v)
	}
	if c.calls++; call.ID == "" {
		call.ID = fmt.Sprintf("call_%d", c.calls)
	}
	c.open = append(c.open, call)
	part := message.Part{Kind: message.KindToolCall, Call: call}
	switch signature := ob.get("thoughtSignature").str(); {
	case signature == "" && c.srv.thought(c.req.Model, geminiCallText(call.Name, call.Arguments)):
		c.unsigned = append(c.unsigned, call.Name)
	case signature != "" && signature != skipSignature:
		return []message.Part{message.Reasoning(""), part}
	}
	return []message.Part{part}
}

// user reads a content of the user's, which begins with the responses to the
// calls before it.
func (c *geminiConversation) user(n node, parts []node) {
	m := &message.Message{Role: message.User}
	open, answered := c.open, 0
	c.open = nil
	for _, p := range parts {
		ob, field := c.part(p)
		switch field {
		case "functionResponse":
			if answered++; answered > len(open) {
				continue // told below
			}
			c.req.Messages = append(c.req.Messages, c.response(ob.get("functionResponse"), open[answered-1]))
		case "text":
			m.Parts = append(m.Parts, message.Text(ob.get("text").str()))
		case "inlineData", "fileData":
			m.Parts = append(m.Parts, c.media(ob, field))
		default:
			c.fault(p.path, "", "Please ensure that function call turn comes immediately after a user turn or after a function response turn.")
		}
	}
	switch {
	case answered != len(open):
		c.fault(n.path, "", "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.")
	case answered == 0:
		c.unsigned = nil // a new turn begins
	}
	if len(m.Parts) > 0 {
		c.req.Messages = append(c.req.Messages, m)
	}
}

func (c *geminiConversation) response(n node, call *message.ToolCall) *message.Message {
	ob := n.object("id", "name", "response", "parts", "willContinue", "scheduling")
	if name := ob.need("name"); name.str() != call.Name {
		c.fault(name.path, "", "Please ensure that function responses stand in the order of their calls: expected %s, found %s.", call.Name, name.str())
	}
	if id := ob.get("id"); id.exists() && id.str() != call.ID {
		c.fault(id.path, "", "Please ensure that function responses have the ids of their calls: expected %s, found %s.", call.ID, id.str())
	}
	m := &message.Message{Role: message.Tool, ToolCallID: call.ID, ToolName: call.Name, Status: message.StatusOK}
	response := ob.need("response")
	text := compactJSON(response.v)
	if ms, err := members(response.v); err != nil {
		response.wrong("Struct")
	} else if len(ms) == 1 && ms[0].value.Kind() == '"' {
		text = unquote(ms[0].value)
		if ms[0].name == "error" {
			m.Status = message.StatusError
		}
	}
	m.Parts = append(m.Parts, message.Text(text))
	for _, p := range ob.get("parts").items() {
		m.Parts = append(m.Parts, c.media(p.object("inlineData"), "inlineData"))
	}
	return m
}

// media reads what is not text, by value or by reference.
func (c *geminiConversation) media(ob object, field string) message.Part {
	n := ob.need(field)
	if field == "fileData" {
		file := n.object("mimeType", "fileUri")
		return message.Part{Kind: message.KindImage, Media: &message.Media{MIME: file.get("mimeType").str(), URL: file.need("fileUri").text()}}
	}
	blob := n.object("mimeType", "data", "displayName")
	mime, data := blob.need("mimeType").str(), blob.need("data").str()
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, mime) {
		return c.image(n.path, mime, data)
	}
	return message.Part{Kind: message.KindFile, Media: &message.Media{MIME: mime, Data: data}}
}
