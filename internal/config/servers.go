package config

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// serversKey is where MCP servers stand.
const serversKey = "mcp_servers"

// AddServer writes an MCP server to a file, as Set does. Of s, command, args,
// env, url and headers are written.
func AddServer(file, name string, s MCPServer) error {
	put := func(value any, names ...string) error {
		return change(file, append([]string{serversKey, name}, names...), func(*Config) any { return value })
	}
	if s.Command != "" {
		if err := put(s.Command, "command"); err != nil {
			return err
		}
	}
	if len(s.Args) > 0 {
		if err := put(s.Args, "args"); err != nil {
			return err
		}
	}
	if s.URL != "" {
		if err := put(s.URL, "url"); err != nil {
			return err
		}
	}
	for key, list := range map[string]map[string]string{"env": s.Env, "headers": s.Headers} {
		for _, n := range slices.Sorted(maps.Keys(list)) {
			if err := put(list[n], key, n); err != nil {
				return err
			}
		}
	}
	return nil
}

// RemoveServer takes an MCP server out of a file. It reports whether the file
// had it.
func RemoveServer(file, name string) (bool, error) {
	text, err := os.ReadFile(file)
	if os.IsNotExist(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the configuration: %w", err)
	}
	parsed, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return false, fmt.Errorf("change %s: %w", file, err)
	}
	if len(parsed.Docs) == 0 {
		return false, nil
	}
	body, ok := parsed.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return false, nil
	}
	_, servers := entryOf(body, serversKey)
	if servers == nil {
		return false, nil
	}
	list, ok := servers.Value.(*ast.MappingNode)
	if !ok {
		return false, nil
	}
	i, found := entryOf(list, name)
	if found == nil {
		return false, nil
	}
	if list.Values = slices.Delete(list.Values, i, i+1); len(list.Values) == 0 {
		at, _ := entryOf(body, serversKey)
		body.Values = slices.Delete(body.Values, at, at+1)
	}
	changed := ""
	if len(body.Values) > 0 {
		changed = parsed.String()
	}
	return true, write(file, []byte(changed))
}

// entryOf returns the entry of m with that key and its place; nil for none.
func entryOf(m *ast.MappingNode, name string) (int, *ast.MappingValueNode) {
	for i, kv := range m.Values {
		if key, ok := scalarText(kv.Key); ok && key == name {
			return i, kv
		}
	}
	return -1, nil
}
