package tool

import (
	stdjson "encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/rondo-engine/rondo/model"
)

// Registry holds the tools of an agent in the order in which they were added.
// It is safe for concurrent use.
type Registry struct {
	mu      sync.RWMutex
	entries []*entry
	byName  map[string]*entry
	set     *model.ToolSet // nil after a change
}

// entry is a tool of a registry and what the registry keeps with it.
type entry struct {
	tool    *Tool
	spec    model.ToolSpec
	schema  *lazySchema
	offered bool
}

// NewRegistry returns a registry of the given tools. Its errors are those of Add.
func NewRegistry(tools ...*Tool) (*Registry, error) {
	r := &Registry{byName: make(map[string]*entry, len(tools))}
	if err := r.Add(tools...); err != nil {
		return nil, err
	}
	return r, nil
}

// Add adds tools, all or none of them: a name that is taken or malformed, a
// schema that cannot be sent to a model (see model.NormaliseSchema) and a missing
// Run function are errors. The tools must not be changed any more.
func (r *Registry) Add(tools ...*Tool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	entries := make([]*entry, len(tools))
	fresh := make(map[string]bool, len(tools))
	for i, t := range tools {
		if r.byName[t.Name] != nil || fresh[t.Name] {
			return fmt.Errorf("add tool %q: there is one of that name", t.Name)
		}
		e, err := newEntry(t)
		if err != nil {
			return fmt.Errorf("add tool: %w", err)
		}
		entries[i], fresh[t.Name] = e, true
	}
	for _, e := range entries {
		r.insert(e)
	}
	return nil
}

func newEntry(t *Tool) (*entry, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	sent := t.Schema
	if !t.plain {
		var err error
		if sent, err = model.NormaliseSchema(t.Schema); err != nil {
			return nil, fmt.Errorf("tool %q: %w", t.Name, err)
		}
	}
	e := &entry{tool: t, schema: t.schema, offered: !t.Hidden}
	e.spec = model.ToolSpec{Name: t.Name, Description: t.Description, Schema: sent}
	if e.schema == nil {
		e.schema = newLazySchema(t.Schema)
	}
	return e, nil
}

func (r *Registry) insert(e *entry) {
	r.entries = append(r.entries, e)
	r.byName[e.tool.Name] = e
	r.set = nil
}

// Get returns the tool of exactly that name, offered or not; nil if there is none.
func (r *Registry) Get(name string) *Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e := r.byName[name]; e != nil {
		return e.tool
	}
	return nil
}

// Find returns the offered tool that a model means by name, which may be
// written a little wrong: ReadFile_tool finds read_file. The error is an
// *UnknownError.
func (r *Registry) Find(name string) (*Tool, error) {
	e, err := r.find(name)
	if err != nil {
		return nil, err
	}
	return e.tool, nil
}

func (r *Registry) find(name string) (*entry, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if e := r.byName[name]; e != nil && e.offered {
		return e, nil
	}
	var names []string
	for _, e := range r.entries {
		if e.offered {
			names = append(names, e.tool.Name)
		}
	}
	if near := nearest(name, names); near != "" {
		return r.byName[near], nil
	}
	return nil, &UnknownError{Name: name, Known: names}
}

// Prepare makes a call ready to run: it finds the tool, and parses, repairs and
// checks the arguments. cut is as in ParseArguments. Errors are in words for the
// model; that of an unknown tool is an *UnknownError.
func (r *Registry) Prepare(name, arguments string, cut bool) (*Tool, stdjson.RawMessage, error) {
	e, err := r.find(name)
	if err != nil {
		return nil, nil, err
	}
	if args, ok := e.schema.ready(arguments); ok {
		return e.tool, args, nil
	}
	args, err := ParseArguments(arguments, cut)
	if err != nil {
		return e.tool, nil, fmt.Errorf("%s: %w", e.tool.Name, err)
	}
	args, err = e.schema.validate(e.tool.Name, args)
	return e.tool, args, err
}

// Select returns a registry of the tools with the given names and of those in
// the given toolsets, in the order of r. Without names and toolsets it has all
// that are not hidden. A name or toolset that does not exist is an error.
func (r *Registry) Select(names, toolsets []string) (*Registry, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if err := r.missing(names, toolsets); err != nil {
		return nil, err
	}
	all := len(names) == 0 && len(toolsets) == 0
	s := &Registry{byName: make(map[string]*entry)}
	for _, e := range r.entries {
		if all && e.offered || slices.Contains(names, e.tool.Name) || slices.Contains(toolsets, e.tool.Toolset) {
			s.insert(&entry{tool: e.tool, spec: e.spec, schema: e.schema, offered: true})
		}
	}
	return s, nil
}

func (r *Registry) missing(names, toolsets []string) error {
	var errs []error
	for _, name := range names {
		if r.byName[name] == nil {
			errs = append(errs, fmt.Errorf("no tool %q", name))
		}
	}
	for _, set := range toolsets {
		if !slices.ContainsFunc(r.entries, func(e *entry) bool { return e.tool.Toolset == set }) {
			errs = append(errs, fmt.Errorf("no toolset %q", set))
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("select tools: %w", errors.Join(errs...))
	}
	return nil
}

// Tools returns the offered tools in order.
func (r *Registry) Tools() []*Tool {
	r.mu.RLock()
	defer r.mu.RUnlock()
	var tools []*Tool
	for _, e := range r.entries {
		if e.offered {
			tools = append(tools, e.tool)
		}
	}
	return tools
}

// Set returns what a model is told of the offered tools. It is the same pointer
// until a tool is added.
func (r *Registry) Set() *model.ToolSet {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.set == nil {
		r.set = &model.ToolSet{}
		for _, e := range r.entries {
			if e.offered {
				r.set.Specs = append(r.set.Specs, e.spec)
			}
		}
	}
	return r.set
}

// UnknownError says that a model called a tool that is not on offer.
type UnknownError struct {
	// Name is the name in the call; it may be empty.
	Name string
	// Known are the tools on offer.
	Known []string
}

// Error tells the model what to call instead. For a call without a name it does
// not list the tools: a model that makes such calls is not helped by a long text.
func (e *UnknownError) Error() string {
	if strings.TrimSpace(e.Name) == "" {
		return "the call names no tool, so nothing was run"
	}
	if len(e.Known) == 0 {
		return fmt.Sprintf("unknown tool %q: no tools are on offer", shorten(e.Name, 64))
	}
	return fmt.Sprintf("unknown tool %q, so nothing was run. The tools are: %s", shorten(e.Name, 64), strings.Join(e.Known, ", "))
}
