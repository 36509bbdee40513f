package modeltest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// checker collects what is wrong with one request.
type checker struct {
	srv *Server
	req *Request
	// dots writes paths as a.0.b rather than a[0].b.
	dots bool
	// google words faults as Google does.
	google bool
}

func (c *checker) fault(path, code, format string, args ...any) {
	c.req.Faults = append(c.req.Faults, Fault{
		Request: c.req.Number, Path: path, Code: code, Message: fmt.Sprintf(format, args...),
	})
}

// node is a value in the body with the path to it. A node that is missing has
// no value; asking it for anything is harmless.
type node struct {
	c    *checker
	path string
	v    jsontext.Value
}

func (n node) exists() bool { return len(n.v) > 0 }
func (n node) null() bool   { return n.v.Kind() == 'n' }

func (n node) below(name string) string {
	if n.path == "" {
		return name
	}
	return n.path + "." + name
}

func (n node) at(i int) string {
	if n.c.dots {
		return n.below(strconv.Itoa(i))
	}
	return n.path + "[" + strconv.Itoa(i) + "]"
}

// wrong reports that a member does not have the type that it should have.
func (n node) wrong(want string) {
	if n.c.dots {
		n.c.fault(n.path, "", "%s: Input should be a valid %s", n.path, want)
		return
	}
	if n.c.google {
		n.c.fault(n.path, "", "Invalid value at '%s' (%s), %s", n.path, want, n.v)
		return
	}
	n.c.fault(n.path, "invalid_type", "Invalid type for '%s': expected %s.", n.path, want)
}

// missing reports that a member is not there.
func (n node) missing(name string) {
	if n.c.dots {
		n.c.fault(n.below(name), "", "%s: Field required", n.below(name))
		return
	}
	if n.c.google {
		n.c.fault(n.below(name), "", "* GenerateContentRequest.%s: missing field.\n", n.below(name))
		return
	}
	n.c.fault(n.below(name), "missing_required_parameter", "Missing required parameter: '%s'.", n.below(name))
}

// object takes an object apart. Members that are not known are faults.
func (n node) object(known ...string) object {
	ob := object{node: n, fields: map[string]node{}}
	if !n.exists() {
		return ob
	}
	ms, err := members(n.v)
	if err != nil {
		n.wrong("object")
		return ob
	}
	for _, m := range ms {
		child := node{c: n.c, path: n.below(m.name), v: m.value}
		ob.fields[m.name] = child
		if !slices.Contains(known, m.name) {
			n.c.unknown(child.path)
		}
	}
	return ob
}

func (c *checker) unknown(path string) {
	if c.google {
		c.geminiUnknown(path)
		return
	}
	if c.dots {
		c.fault(path, "", "%s: Extra inputs are not permitted", path)
		return
	}
	c.fault(path, "unknown_parameter", "Unknown parameter: '%s'.", path)
}

type object struct {
	node
	fields map[string]node
}

// get returns a member; it need not be there.
func (ob object) get(name string) node {
	if n, ok := ob.fields[name]; ok {
		return n
	}
	return node{c: ob.c, path: ob.below(name)}
}

// need returns a member that must be there.
func (ob object) need(name string) node {
	n := ob.get(name)
	if !n.exists() {
		ob.missing(name)
	}
	return n
}

// kind returns the member type, without complaint when it is missing.
func (n node) kind() string {
	ms, err := members(n.v)
	if err != nil {
		return ""
	}
	for _, m := range ms {
		if m.name == "type" {
			return unquote(m.value)
		}
	}
	return ""
}

func unquote(v jsontext.Value) string {
	b, err := jsontext.AppendUnquote(nil, v)
	if err != nil {
		return ""
	}
	return string(b)
}

// items returns the elements of an array.
func (n node) items() []node {
	if !n.exists() {
		return nil
	}
	vs, err := elements(n.v)
	if err != nil {
		n.wrong("array")
		return nil
	}
	nodes := make([]node, len(vs))
	for i, v := range vs {
		nodes[i] = node{c: n.c, path: n.at(i), v: v}
	}
	return nodes
}

func (n node) str() string {
	if !n.exists() {
		return ""
	}
	if n.v.Kind() != '"' {
		n.wrong("string")
		return ""
	}
	return unquote(n.v)
}

func (n node) boolean() bool {
	if n.exists() && n.v.Kind() != 't' && n.v.Kind() != 'f' {
		n.wrong("boolean")
	}
	return n.v.Kind() == 't'
}

// positive reads a number of tokens.
func (n node) positive() int {
	if !n.exists() {
		return 0
	}
	i, err := strconv.Atoi(string(n.v))
	if err != nil || i < 1 {
		if n.c.dots {
			n.c.fault(n.path, "", "%s: Input should be greater than or equal to 1", n.path)
		} else {
			n.c.fault(n.path, "integer_below_min_value", "Invalid '%s': integer below minimum value. Expected a value >= 1, but got %s instead.", n.path, n.v)
		}
	}
	return i
}

var namePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`) })

// toolName reads the name of a tool.
func (n node) toolName() string {
	name := n.str()
	if n.exists() && !namePattern().MatchString(name) {
		n.pattern(namePattern().String())
	}
	return name
}

func (n node) pattern(pattern string) {
	if n.c.dots {
		n.c.fault(n.path, "", "%s: String should match pattern '%s'", n.path, pattern)
		return
	}
	n.c.fault(n.path, "invalid_value", "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", n.path, pattern)
}

// callID reads a call's id in a protocol of OpenAI's.
func (n node) callID() string {
	id := n.str()
	switch {
	case n.exists() && id == "":
		n.c.fault(n.path, "empty_string", "Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", n.path)
	case utf8.RuneCountInString(id) > 64:
		n.c.fault(n.path, "string_above_max_length", "Invalid '%s': string too long. Expected a string with maximum length 64, but got a string with length %d instead.", n.path, utf8.RuneCountInString(id))
	}
	return id
}

// arguments reads arguments that are sent as text, which must be a JSON object.
func (n node) arguments() string {
	args := n.str()
	if v := jsontext.Value(args); n.exists() && (!v.IsValid() || v.Kind() != '{') {
		n.c.fault(n.path, "invalid_value", "Invalid '%s': the arguments of a function call must be a JSON object.", n.path)
	}
	return args
}

// text reads a text that must not be empty.
func (n node) text() string {
	s := n.str()
	if n.exists() && s == "" {
		if n.c.dots {
			n.c.fault(n.path, "", "messages: text content blocks must be non-empty")
		} else {
			n.c.fault(n.path, "empty_string", "Invalid '%s': empty string. Expected a string with minimum length 1, but got an empty string instead.", n.path)
		}
	}
	return s
}

// cacheControl reads a mark.
func (n node) cacheControl() {
	if !n.exists() || n.null() {
		return
	}
	ob := n.object("type", "ttl")
	if t := ob.need("type"); t.exists() && t.str() != "ephemeral" {
		n.c.fault(t.path, "", "%s: Input should be 'ephemeral'", t.path)
	}
	n.c.req.CacheMarks++
	if n.c.req.CacheMarks == 5 {
		n.c.fault(n.path, "", "A maximum of 4 blocks with cache_control may be provided. Found more.")
	}
}

// tool notes a tool that is offered, and checks its schema.
func (c *checker) tool(name, description string, schema node) {
	c.offer(name, description, schema)
	if !schema.exists() {
		return
	}
	if why := schemaFault(schema.v); why != "" {
		if c.dots {
			c.fault(schema.path, "", "%s: JSON schema is invalid: %s", schema.path, why)
		} else {
			c.fault(schema.path, "invalid_function_parameters", "Invalid schema for function '%s': %s.", name, why)
		}
	}
}

// offer notes a tool that is offered.
func (c *checker) offer(name, description string, schema node) {
	for _, t := range c.req.Tools {
		if t.Name == name {
			c.fault("tools", "", "tools: Tool names must be unique. %q stands twice.", name)
		}
	}
	c.req.Tools = append(c.req.Tools, model.ToolSpec{Name: name, Description: description, Schema: json.RawMessage(schema.v)})
}

// image checks a picture that is sent by value.
func (c *checker) image(path, mime, data string) message.Part {
	raw, err := base64.StdEncoding.DecodeString(data)
	allowed := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
	switch found := http.DetectContentType(raw); {
	case !slices.Contains(allowed, mime):
		c.fault(path, "invalid_image_format", "%s: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'", path)
	case err != nil || len(raw) == 0:
		c.fault(path, "invalid_base64", "%s: Invalid base64 image data", path)
	case !slices.Contains(allowed, found):
		c.fault(path, "invalid_image", "%s: Could not process image", path)
	case found != mime:
		c.fault(path, "invalid_image_format", "%s: The image was specified using the %s media type, but the image appears to be a %s image", path, mime, found)
	}
	return message.Image(mime, data)
}

// imageURL checks a picture that is referred to, maybe by a data URL.
func (c *checker) imageURL(n node) message.Part {
	url := n.str()
	if rest, ok := strings.CutPrefix(url, "data:"); ok {
		mime, data, ok := strings.Cut(rest, ";base64,")
		if !ok {
			c.fault(n.path, "invalid_image_url", "Invalid '%s': a data URL must be in base64.", n.path)
		}
		return c.image(n.path, mime, data)
	}
	if n.exists() && !strings.HasPrefix(url, "https://") && !strings.HasPrefix(url, "http://") {
		c.fault(n.path, "invalid_image_url", "Invalid '%s'. Expected a valid URL, but got a value with an invalid format.", n.path)
	}
	return message.Part{Kind: message.KindImage, Media: &message.Media{URL: url}}
}

// compactJSON is the text of a JSON value without space between its tokens.
func compactJSON(v jsontext.Value) string {
	var b bytes.Buffer
	if err := json.Compact(&b, v); err != nil {
		return string(v)
	}
	return b.String()
}
