package modeltest

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

var geminiNamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$`) })

// geminiName reads the name of a function.
func (c *checker) geminiName(n node) string {
	name := n.str()
	if n.exists() && !geminiNamePattern().MatchString(name) {
		c.fault(n.path, "", "* GenerateContentRequest.%s: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n", n.path)
	}
	return name
}

// geminiKeywords are the members that a schema of the API has.
var geminiKeywords = []string{
	"type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems", "properties", "required",
	"minProperties", "maxProperties", "minLength", "maxLength", "pattern", "example", "anyOf", "propertyOrdering",
	"default", "items", "minimum", "maximum",
}

var geminiTypes = []string{"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}

// geminiSchema checks a schema, which has only some of JSON schema's keywords
// and no references.
func (c *checker) geminiSchema(n node, root bool) {
	ob := n.object(geminiKeywords...)
	kind := strings.ToUpper(ob.get("type").str())
	if kind != "" && !slices.Contains(geminiTypes, kind) {
		c.fault(n.path, "", "Invalid value at '%s.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), %q", n.path, kind)
	}
	if kind == "" && !ob.get("anyOf").exists() {
		c.geminiSchemaFault(n.path, "type: must be specified")
	}
	names := c.geminiProperties(ob.get("properties"))
	if root && kind == "OBJECT" && len(names) == 0 {
		c.geminiSchemaFault(n.path, "properties: should be non-empty for OBJECT type")
	}
	for i, r := range ob.get("required").items() {
		if !slices.Contains(names, r.str()) {
			c.geminiSchemaFault(n.path, "required[%d]: property is not defined", i)
		}
	}
	if items := ob.get("items"); items.exists() {
		c.geminiSchema(items, false)
	} else if kind == "ARRAY" {
		c.geminiSchemaFault(n.path, "items: missing field.")
	}
	for _, alternative := range ob.get("anyOf").items() {
		c.geminiSchema(alternative, false)
	}
	for _, e := range ob.get("enum").items() {
		if e.str() == "" {
			c.geminiSchemaFault(n.path, "enum: cannot be empty")
		}
	}
	if ob.get("enum").exists() && kind != "STRING" {
		c.geminiSchemaFault(n.path, "enum: only allowed for STRING type")
	}
	if format := ob.get("format").str(); kind == "STRING" && format != "" && format != "enum" && format != "date-time" {
		c.geminiSchemaFault(n.path, "format: only 'enum' and 'date-time' are supported for STRING type")
	}
}

func (c *checker) geminiProperties(n node) (names []string) {
	if !n.exists() {
		return nil
	}
	ms, err := members(n.v)
	if err != nil {
		n.wrong("map")
		return nil
	}
	for _, m := range ms {
		names = append(names, m.name)
		c.geminiSchema(node{c: c, path: n.path + "[" + m.name + "]", v: m.value}, false)
	}
	return names
}

func (c *checker) geminiSchemaFault(path, format string, args ...any) {
	c.fault(path, "", "* GenerateContentRequest."+path+"."+format+"\n", args...)
}
