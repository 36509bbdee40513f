package config

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Setting is a value from a flag or a variable.
type Setting struct {
	// Path is the key, such as agent.max_turns.
	Path string
	// Text is the value as parse reads it.
	Text string
	// From is the name of the flag or variable.
	From string
}

// Options say where settings come from.
type Options struct {
	// Home is $RONDO_HOME.
	Home string
	// Dir is the workspace: its project's file counts.
	Dir string
	// Getenv returns a variable; nil has none.
	Getenv func(string) string
	// Flags are what was set on the command line.
	Flags []Setting
}

// variables are the environment's settings.
var variables = []Setting{
	{Path: "model", From: "RONDO_MODEL"},
	{Path: "provider", From: "RONDO_PROVIDER"},
	{Path: "base_url", From: "RONDO_BASE_URL"},
	{Path: "api_mode", From: "RONDO_API_MODE"},
	{Path: "api_key", From: "RONDO_API_KEY"},
	{Path: "store", From: "RONDO_STORE"},
}

// Loaded is the configuration that holds and where each value is from.
type Loaded struct {
	Config
	// Files is the configuration as the files say, without variables and
	// flags.
	Files Config
	// HomeFile is the user's own file; ProjectFile the project's, empty where
	// there is none. Neither need exist.
	HomeFile, ProjectFile string
	// Trusted tells that the project's folder is.
	Trusted bool
	sources map[string]source
	options Options
}

// Reload loads the configuration anew from where it was loaded from: a file may
// have changed.
func (l *Loaded) Reload() (*Loaded, error) { return Load(l.options) }

// Layer says how strong a setting is: a greater one wins.
type Layer int

// The layers, weakest first.
const (
	DefaultLayer Layer = iota
	HomeLayer
	ProjectLayer
	EnvLayer
	FlagLayer
)

// source is where a value is from, in words and by strength.
type source struct {
	text  string
	layer Layer
}

// Load reads all layers. Its errors are for the user: those about files are
// Problems.
func Load(o Options) (*Loaded, error) {
	l := &Loaded{Config: Default(), HomeFile: filepath.Join(o.Home, "config.yaml"), sources: map[string]source{}, options: o}
	if err := l.layFile(l.HomeFile, HomeLayer, false); err != nil {
		return nil, err
	}
	if dir, ok := ProjectDir(o.Dir, o.Home); ok {
		trusted, err := Trusts(o.Home, dir)
		if err != nil {
			return nil, err
		}
		l.Trusted, l.ProjectFile = trusted, filepath.Join(dir, ".rondo", "config.yaml")
		if err := l.layFile(l.ProjectFile, ProjectLayer, !trusted); err != nil {
			return nil, err
		}
	}
	l.Files = l.Config
	l.cloneMaps()
	for _, s := range variables {
		if o.Getenv != nil && o.Getenv(s.From) != "" {
			s.Text = o.Getenv(s.From)
			if err := l.lay(s, EnvLayer); err != nil {
				return nil, err
			}
		}
	}
	for _, s := range o.Flags {
		if err := l.lay(s, FlagLayer); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *Loaded) layFile(file string, layer Layer, bound bool) error {
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the configuration: %w", err)
	}
	r := reader{file: file, layer: layer, bound: bound, sources: l.sources}
	return r.read(&l.Config, data)
}

func (l *Loaded) lay(s Setting, layer Layer) error {
	names, err := set(reflect.ValueOf(&l.Config).Elem(), "", s.Path, s.Text)
	if err != nil {
		return fmt.Errorf("%s: %w", s.From, err)
	}
	l.sources[strings.Join(names, ".")] = source{s.From, layer}
	return nil
}

// Source tells where the value of a key is from.
func (l *Loaded) Source(path string) string { return l.source(path).text }

// Layer tells how strong the value of a key is.
func (l *Loaded) Layer(path string) Layer { return l.source(path).layer }

func (l *Loaded) source(path string) source {
	for {
		if s, ok := l.sources[path]; ok {
			return s
		}
		i := strings.LastIndexByte(path, '.')
		if i < 0 {
			return source{"default", DefaultLayer}
		}
		path = path[:i] // an item of a list is from where the list is
	}
}

// All returns every setting that holds, in the order of Config, with secrets
// masked.
func (l *Loaded) All() []Value {
	var all []Value
	visit(reflect.ValueOf(&l.Config).Elem(), "", nil, func(path []string, v reflect.Value, tag reflect.StructTag) {
		p := strings.Join(path, ".")
		all = append(all, Value{Path: p, Text: text(v, tag), Source: l.Source(p)})
	})
	return all
}

// Get returns the settings at path and below it.
func (l *Loaded) Get(path string) ([]Value, error) {
	all := l.All()
	all = slices.DeleteFunc(all, func(v Value) bool { return v.Path != path && !strings.HasPrefix(v.Path, path+".") })
	if len(all) > 0 {
		return all, nil
	}
	if _, err := set(reflect.ValueOf(new(Config)).Elem(), "", path, "0"); err != nil && strings.Contains(err.Error(), "unknown key") {
		return nil, err
	}
	return nil, nil
}

// ProjectDir finds the folder whose .rondo/config.yaml counts for dir: the
// nearest one from dir up to the root of the repository.
func ProjectDir(dir, home string) (string, bool) {
	for dir != "" {
		file := filepath.Join(dir, ".rondo", "config.yaml")
		if _, err := os.Stat(file); err == nil && filepath.Join(dir, ".rondo") != home {
			return dir, true
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			break
		}
		up := filepath.Dir(dir)
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}

func trustFile(home string) string { return filepath.Join(home, "trusted") }

// trusted reads the list of trusted folders, a path a line.
func trusted(home string) (map[string]bool, error) {
	data, err := os.ReadFile(trustFile(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the trusted folders: %w", err)
	}
	list := map[string]bool{}
	for line := range strings.Lines(string(data)) {
		if line = strings.TrimSpace(line); line != "" {
			list[line] = true
		}
	}
	return list, nil
}

// Trusts reports whether the user trusts the folder dir.
func Trusts(home, dir string) (bool, error) {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false, fmt.Errorf("look at the project's folder: %w", err)
	}
	list, err := trusted(home)
	return list[real], err
}

// Trust adds dir to the trusted folders, or takes it from them.
func Trust(home, dir string, trust bool) error {
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return fmt.Errorf("trust a folder: %w", err)
	}
	list, err := trusted(home)
	if err != nil {
		return err
	}
	if delete(list, real); trust {
		list[real] = true
	}
	var text strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(list)) {
		text.WriteString(dir + "\n")
	}
	return write(trustFile(home), []byte(text.String()))
}
