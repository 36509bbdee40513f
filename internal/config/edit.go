package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"github.com/rondo-engine/rondo/internal/atomicfile"
)

// Set writes a setting to a file, which is made if need be. What else is in
// the file stays, comments too. The file is checked as a whole first.
func Set(file, path, value string) error {
	var c Config
	names, err := set(reflect.ValueOf(&c).Elem(), "", path, value)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return change(file, names, func(*Config) any { return leaf(reflect.ValueOf(&c).Elem(), names) })
}

// AllowCommands adds rules to approvals.allow in a file, as Set does.
func AllowCommands(file string, rules []string) error {
	return change(file, []string{"approvals", "allow"}, func(now *Config) any {
		all := slices.Clone(now.Approvals.Allow)
		for _, r := range rules {
			if !slices.Contains(all, r) {
				all = append(all, r)
			}
		}
		return all
	})
}

// change sets what names lead to in a file to what value returns for it.
func change(file string, names []string, value func(now *Config) any) error {
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the configuration: %w", err)
	}
	var now Config
	before := reader{file: file, sources: map[string]source{}}
	_ = before.read(&now, old) // what is wrong in the file is found when it is changed
	changed, err := edit(old, names, value(&now))
	if err != nil {
		return fmt.Errorf("change %s: %w; edit the file instead", file, err)
	}
	after, checked := reader{file: file, sources: map[string]source{}}, new(Default())
	if err := after.read(checked, changed); err != nil {
		return err
	}
	if after.sources[named(names)].text == "" {
		return fmt.Errorf("change %s: %s cannot be put into it; edit the file instead", file, named(names))
	}
	return write(file, changed)
}

// leaf returns the value that names lead to.
func leaf(v reflect.Value, names []string) any {
	found := v.Interface()
	visit(v, "", nil, func(path []string, v reflect.Value, _ reflect.StructTag) {
		if named(path) == named(names) {
			found = v.Interface()
		}
	})
	return found
}

// edit sets the value at the path of names in the text of a file.
func edit(text []byte, names []string, value any) ([]byte, error) {
	file, err := parser.ParseBytes(text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil || file.Docs[0].Body.Type() == ast.CommentType {
		added, err := yaml.Marshal(nest(names, value))
		return append(text, added...), err
	}
	body, ok := file.Docs[0].Body.(*ast.MappingNode)
	if !ok {
		return nil, errors.New("it holds no keys")
	}
	at, depth := find(body, names)
	node, err := yaml.ValueToNode(nest(names[depth:], value))
	if err != nil {
		return nil, err
	}
	if depth == len(names) {
		if changed, ok := replace(text, at.Value, node.String()); ok {
			return changed, nil
		}
		node.AddColumn(at.Key.GetToken().Position.Column - 1)
		at.Value = node
		return []byte(file.String()), nil
	}
	if at != nil {
		if body, ok = at.Value.(*ast.MappingNode); !ok {
			node.AddColumn(at.Key.GetToken().Position.Column + 1)
			at.Value = node
			return []byte(file.String()), nil
		}
	}
	err = ast.Merge(body, node)
	return []byte(file.String()), err
}

// find follows names down from m. It returns the last entry on the way, nil
// for none, and how many of names lead there.
func find(m *ast.MappingNode, names []string) (at *ast.MappingValueNode, depth int) {
	for depth < len(names) {
		next := (*ast.MappingValueNode)(nil)
		for _, kv := range m.Values {
			if key, ok := scalarText(kv.Key); ok && key == names[depth] {
				next = kv
			}
		}
		if next == nil {
			break
		}
		at, depth = next, depth+1
		below, ok := next.Value.(*ast.MappingNode)
		if !ok {
			break
		}
		m = below
	}
	return at, depth
}

// replace puts another text in the place of a scalar that stands on one line;
// it reports false for any other node.
func replace(text []byte, old ast.Node, with string) ([]byte, bool) {
	if _, ok := old.(ast.ScalarNode); !ok || old.Type() == ast.NullType || old.Type() == ast.LiteralType {
		return nil, false
	}
	at := old.GetToken()
	raw := strings.TrimSpace(at.Origin)
	lines := strings.SplitAfter(string(text), "\n")
	if raw == "" || strings.Contains(raw, "\n") || at.Position.Line > len(lines) {
		return nil, false
	}
	line := []rune(lines[at.Position.Line-1])
	start := min(at.Position.Column-1, len(line))
	rest, ok := strings.CutPrefix(string(line[start:]), raw)
	if !ok {
		return nil, false
	}
	lines[at.Position.Line-1] = string(line[:start]) + with + rest
	return []byte(strings.Join(lines, "")), true
}

// nest makes the mapping in which names lead to value.
func nest(names []string, value any) any {
	for i := len(names) - 1; i >= 0; i-- {
		value = map[string]any{names[i]: value}
	}
	return value
}

// write replaces a file in one step; a new one is for the user's eyes only.
func write(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return atomicfile.Write(file, data, 0o600)
}
