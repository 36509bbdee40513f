package modeltest

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// schemaFault says what a service refuses in the schema of a tool's arguments;
// empty for nothing.
func schemaFault(raw jsontext.Value) string {
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return "schema must be a JSON object"
	}
	if t, _ := root["type"].(string); t != "object" {
		return fmt.Sprintf(`schema must be a JSON Schema of 'type: "object"', got 'type: "%v"'`, root["type"])
	}
	if _, ok := root["properties"].(map[string]any); !ok {
		return "object schema missing properties"
	}
	for _, word := range []string{"oneOf", "anyOf", "allOf", "enum", "not"} {
		if _, ok := root[word]; ok {
			return fmt.Sprintf("schema must not have '%s' at the top level", word)
		}
	}
	return subschemaFault(root, root, "")
}

func subschemaFault(root map[string]any, v any, path string) string {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			if why := subschemaFault(root, e, fmt.Sprintf("%s/%d", path, i)); why != "" {
				return why
			}
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && !resolves(root, ref) {
			return fmt.Sprintf("reference %q at %q cannot be resolved", ref, path)
		}
		if t, _ := v["type"].(string); t == "array" && v["items"] == nil {
			return fmt.Sprintf("array schema missing items at %q", path)
		}
		for name, e := range v {
			if literal(name, path) {
				continue
			}
			if why := subschemaFault(root, e, path+"/"+name); why != "" {
				return why
			}
		}
	}
	return ""
}

// literal reports whether the value of a keyword is data and no schema. A
// property may have such a name.
func literal(name, path string) bool {
	switch name {
	case "enum", "const", "default", "example", "examples":
		return !strings.HasSuffix(path, "/properties")
	}
	return false
}

func resolves(root map[string]any, ref string) bool {
	rest, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return false
	}
	var at any = root
	for name := range strings.SplitSeq(strings.TrimPrefix(rest, "/"), "/") {
		if name == "" {
			continue
		}
		m, ok := at.(map[string]any)
		if !ok {
			return false
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if at, ok = m[name]; !ok {
			return false
		}
	}
	return true
}
