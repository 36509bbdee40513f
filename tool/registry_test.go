package tool

import (
	"errors"
	"strings"
	"testing"
)

func newRegistry(t *testing.T, names ...string) *Registry {
	t.Helper()
	r, err := NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if err := r.Add(echo(name)); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// Scenario 41.
func TestFindRepairsNames(t *testing.T) {
	r := newRegistry(t, "read_file", "write_file", "edit_file", "list_dir", "glob", "grep", "shell", "mcp__db__Query")
	for wrong, want := range map[string]string{
		"read_file": "read_file", "ReadFile_tool": "read_file", "readFile": "read_file", "read-file": "read_file",
		"READ_FILE": "read_file", "Read File": "read_file", "read_file_tool_tool": "read_file",
		"functions.read_file": "read_file", `read_file{"path":"a"}`: "read_file", "read_file<arg>": "read_file",
		"read_fil": "read_file", "lst_dir": "list_dir", "Shell": "shell", "mcp__db__query": "mcp__db__Query",
		"delete_file": "", "grip": "", "file": "", "bash": "", "": "",
	} {
		got := ""
		if tool, err := r.Find(wrong); err == nil {
			got = tool.Name
		}
		if got != want {
			t.Errorf("%q found %q, want %q", wrong, got, want)
		}
	}
}

func TestFindGuessesNothingAmbiguous(t *testing.T) {
	r := newRegistry(t, "fetch_a", "fetch_b", "get-it", "get_it")
	for _, name := range []string{"fetch_c", "GetIt"} {
		if tool, err := r.Find(name); err == nil {
			t.Errorf("%q found %q", name, tool.Name)
		}
	}
}

// Scenarios 42 and 44.
func TestUnknownToolIsToldWhatThereIs(t *testing.T) {
	r := newRegistry(t, "read_file", "shell")
	_, _, err := r.Prepare("teleport", "{}", false)
	if _, ok := errors.AsType[*UnknownError](err); !ok || !strings.Contains(err.Error(), `"teleport"`) || !strings.Contains(err.Error(), "read_file, shell") {
		t.Errorf("unknown tool: %v", err)
	}
	_, _, err = r.Prepare(" ", "{}", false)
	if err == nil || strings.Contains(err.Error(), "read_file") {
		t.Errorf("a call without a name: %v, want an error without the catalogue", err)
	}
}

func TestAddIsAllOrNothing(t *testing.T) {
	r := newRegistry(t, "a")
	for name, tools := range map[string][]*Tool{
		"taken":       {echo("b"), echo("a")},
		"twice":       {echo("b"), echo("b")},
		"malformed":   {echo("b"), echo("b c")},
		"without Run": {echo("b"), {Name: "c", Schema: []byte("{}")}},
	} {
		if err := r.Add(tools...); err == nil {
			t.Errorf("%s: no error", name)
		}
		if r.Get("b") != nil {
			t.Fatalf("%s: a part was added", name)
		}
	}
}

func TestSetIsTheSameUntilAToolIsAdded(t *testing.T) {
	r := newRegistry(t, "b", "a")
	set := r.Set()
	if set != r.Set() {
		t.Error("two sets of one registry")
	}
	if set.Specs[0].Name != "b" || set.Specs[1].Name != "a" {
		t.Errorf("order %v", set.Specs)
	}
	if err := r.Add(echo("c")); err != nil {
		t.Fatal(err)
	}
	if set == r.Set() || len(set.Specs) != 2 || len(r.Set().Specs) != 3 {
		t.Error("a set must not change, and a new tool must be in the next")
	}
}

// Case 43.
func TestSetHasSchemasThatProvidersAccept(t *testing.T) {
	bare := echo("bare")
	bare.Schema = []byte(`{}`)
	r, err := NewRegistry(bare)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(r.Set().Specs[0].Schema); !strings.Contains(got, `"type":"object"`) || !strings.Contains(got, `"properties"`) {
		t.Errorf("schema %s", got)
	}
	bare = echo("dangling")
	bare.Schema = []byte(`{"type":"object","properties":{"a":{"$ref":"#/$defs/None"}}}`)
	if err := r.Add(bare); err == nil || !strings.Contains(err.Error(), `"dangling"`) {
		t.Errorf("a reference that leads nowhere: %v", err)
	}
}

func TestSelect(t *testing.T) {
	files, web, bench := echo("read"), echo("fetch"), echo("noop")
	files.Toolset, web.Toolset, bench.Toolset, bench.Hidden = "files", "web", "bench", true
	r, err := NewRegistry(files, web, bench)
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		names, sets []string
		want        string
	}{
		{nil, nil, "read fetch"},
		{nil, []string{"files"}, "read"},
		{[]string{"noop"}, nil, "noop"},
		{[]string{"fetch"}, []string{"files", "bench"}, "read fetch noop"},
	} {
		s, err := r.Select(tc.names, tc.sets)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, spec := range s.Set().Specs {
			got = append(got, spec.Name)
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("select %v %v: got %v, want %s", tc.names, tc.sets, got, tc.want)
		}
	}
	if _, err := r.Find("noop"); err == nil {
		t.Error("a hidden tool was found though it is not on offer")
	}
	if _, err := r.Select([]string{"raed"}, []string{"filez"}); err == nil ||
		!strings.Contains(err.Error(), `"raed"`) || !strings.Contains(err.Error(), `"filez"`) {
		t.Errorf("unknown names: %v", err)
	}
}
