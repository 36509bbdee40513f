package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

type searchArgs struct {
	Pattern string   `json:"pattern" jsonschema:"what to look for"`
	Limit   int      `json:"limit,omitzero"`
	Mode    string   `json:"mode,omitzero" enum:"lines,files"`
	Globs   []string `json:"globs,omitempty"`
}

func newSearch(t *testing.T) *Tool {
	t.Helper()
	made, err := New(Tool{Name: "search"}, func(_ context.Context, _ Call, a searchArgs) (Result, error) {
		return Result{Text: fmt.Sprintf("%+v", a)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestNewInfersTheSchema(t *testing.T) {
	want := `{"type":"object","properties":{` +
		`"pattern":{"type":"string","description":"what to look for"},` +
		`"limit":{"type":"integer"},` +
		`"mode":{"type":"string","enum":["lines","files"]},` +
		`"globs":{"type":"array","items":{"type":"string"}}},` +
		`"required":["pattern"]}`
	if got := string(newSearch(t).Schema); got != want {
		t.Errorf("schema\n got %s\nwant %s", got, want)
	}
}

func TestNewDecodesArguments(t *testing.T) {
	for args, want := range map[string]string{
		`{"pattern":"x","limit":3,"globs":["a","b"]}`: "{Pattern:x Limit:3 Mode: Globs:[a b]}",
		`{"pattern":"x","limit":3.0}`:                 "{Pattern:x Limit:3 Mode: Globs:[]}",
		`{"pattern":"x","other":1,"pattern":"y"}`:     "{Pattern:y Limit:0 Mode: Globs:[]}",
	} {
		res, err := newSearch(t).Run(t.Context(), Call{Args: json.RawMessage(args)})
		if err != nil || res.Text != want {
			t.Errorf("%s: got %q, %v, want %q", args, res.Text, err, want)
		}
	}
}

func TestNewRefusesWhatCannotBeATool(t *testing.T) {
	run := func(context.Context, Call, searchArgs) (Result, error) { return Result{}, nil }
	for name, tool := range map[string]Tool{
		"no name":         {},
		"space in name":   {Name: "a b"},
		"array schema":    {Name: "a", Schema: []byte(`{"type":"array"}`)},
		"broken schema":   {Name: "a", Schema: []byte(`{`)},
		"name of 65":      {Name: strings.Repeat("x", 65)},
		"schema a number": {Name: "a", Schema: []byte(`1`)},
	} {
		if _, err := New(tool, run); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := New(Tool{Name: "a"}, func(context.Context, Call, string) (Result, error) { return Result{}, nil }); err == nil {
		t.Error("arguments that are no struct: no error")
	}
}
