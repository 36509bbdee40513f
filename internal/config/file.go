package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Problem is something wrong in a file.
type Problem struct {
	File         string
	Line, Column int
	// Text says what is wrong and what to do.
	Text string
}

// Error puts the place before the text.
func (p Problem) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Text)
}

// Problems are all that is wrong in a file, in order.
type Problems []Problem

// Error has a line for each problem.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i := range p {
		lines[i] = p[i].Error()
	}
	return strings.Join(lines, "\n")
}

// reader lays a YAML file over a configuration.
type reader struct {
	file  string
	layer Layer
	// bound means that the file is from strangers: keys that need trust are
	// problems.
	bound    bool
	sources  map[string]source
	problems Problems
}

// read lays the text of a file over c.
func (r *reader) read(c *Config, data []byte) error {
	f, err := parser.ParseBytes(data, 0)
	if err != nil {
		return r.syntax(err)
	}
	for i, doc := range f.Docs {
		if i > 0 {
			r.problem(doc, "a second document: the settings are one")
			break
		}
		if doc.Body != nil {
			r.node(doc.Body, reflect.ValueOf(c).Elem(), "", nil)
		}
	}
	if len(r.problems) > 0 {
		return r.problems
	}
	return nil
}

// syntax gives the place of what is no YAML.
func (r *reader) syntax(err error) error {
	p := Problem{File: r.file, Line: 1, Column: 1, Text: err.Error()}
	if y, ok := errors.AsType[yaml.Error](err); ok {
		p.Text = y.GetMessage()
		if t := y.GetToken(); t != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
		}
	}
	return Problems{p}
}

func (r *reader) problem(n ast.Node, format string, a ...any) {
	p := Problem{File: r.file, Line: 1, Column: 1, Text: fmt.Sprintf(format, a...)}
	if m, ok := n.(*ast.MappingNode); ok && len(m.Values) > 0 {
		n = m.Values[0].Key
	}
	if m, ok := n.(*ast.MappingValueNode); ok {
		n = m.Key
	}
	if t := n.GetToken(); t != nil {
		p.Line, p.Column = t.Position.Line, t.Position.Column
	}
	r.problems = append(r.problems, p)
}

// node sets v, which path names, to what n says.
func (r *reader) node(n ast.Node, v reflect.Value, tag reflect.StructTag, path []string) {
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.TagNode:
		r.problem(n, "anchors, aliases and tags have no meaning here: write the value itself")
		return
	case *ast.NullNode:
		return // as if the key were not there
	}
	switch k := v.Kind(); {
	case k == reflect.Pointer && v.Type().Elem().Kind() == reflect.Struct:
		p := reflect.New(v.Type().Elem())
		if !v.IsNil() {
			p.Elem().Set(v.Elem())
		}
		r.node(n, p.Elem(), tag, path)
		v.Set(p)
	case k == reflect.Struct:
		r.each(n, path, func(key string, m *ast.MappingValueNode) { r.key(key, m, v, path) })
	case k == reflect.Map:
		r.each(n, path, func(key string, m *ast.MappingValueNode) { r.entry(key, m, v, tag, path) })
	case k == reflect.Slice:
		r.list(n, v, tag, path)
	default:
		r.scalar(n, v, tag, path)
	}
}

// each calls f for each key of the mapping n.
func (r *reader) each(n ast.Node, path []string, f func(key string, m *ast.MappingValueNode)) {
	m, ok := n.(ast.MapNode)
	if !ok {
		r.problem(n, "%s must hold keys, as in \"key: value\"", named(path))
		return
	}
	for it := m.MapRange(); it.Next(); {
		kv := it.KeyValue()
		key, ok := scalarText(kv.Key)
		if !ok {
			r.problem(kv.Key, "this is no key")
			continue
		}
		f(key, kv)
	}
}

func (r *reader) key(key string, m *ast.MappingValueNode, v reflect.Value, path []string) {
	fields := fieldsOf(v.Type())
	i := slices.IndexFunc(fields, func(f field) bool { return f.name == key })
	if i < 0 {
		r.problem(m.Key, "%v", unknownKey(key, v.Type()))
		return
	}
	f := fields[i]
	path = append(slices.Clip(path), key)
	if r.bound && f.tag.Get("trusted") != "" {
		r.problem(m.Key, "%s is not for a project to say: remove it, or, if you trust this folder, run rondo config trust", named(path))
		return
	}
	r.node(m.Value, v.FieldByIndex(f.at), f.tag, path)
}

func (r *reader) entry(key string, m *ast.MappingValueNode, v reflect.Value, tag reflect.StructTag, path []string) {
	elem := reflect.New(v.Type().Elem()).Elem()
	if old := v.MapIndex(reflect.ValueOf(key)); old.IsValid() {
		elem.Set(old)
	}
	r.node(m.Value, elem, tag, append(slices.Clip(path), key))
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	v.SetMapIndex(reflect.ValueOf(key), elem)
}

// list replaces v: the lists of two files are not joined.
func (r *reader) list(n ast.Node, v reflect.Value, tag reflect.StructTag, path []string) {
	a, ok := n.(ast.ArrayNode)
	if !ok {
		r.problem(n, "%s must be a list, as in [a, b]", named(path))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), 0, 0))
	for it := a.ArrayRange(); it.Next(); {
		elem := reflect.New(v.Type().Elem()).Elem()
		r.node(it.Value(), elem, tag, append(slices.Clip(path), strconv.Itoa(v.Len())))
		v.Set(reflect.Append(v, elem))
	}
	r.source(n, path)
}

func (r *reader) scalar(n ast.Node, v reflect.Value, tag reflect.StructTag, path []string) {
	text, ok := scalarText(n)
	if !ok {
		r.problem(n, "%s must be a single value", named(path))
		return
	}
	if err := parse(v, tag, text); err != nil {
		r.problem(n, "%s: %v", named(path), err)
		return
	}
	r.source(n, path)
}

func (r *reader) source(n ast.Node, path []string) {
	r.sources[named(path)] = source{fmt.Sprintf("%s:%d", r.file, n.GetToken().Position.Line), r.layer}
}

func named(path []string) string {
	if len(path) == 0 {
		return "the file"
	}
	return strings.Join(path, ".")
}

func scalarText(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case ast.ScalarNode:
		return n.GetToken().Value, true
	}
	return "", false
}
