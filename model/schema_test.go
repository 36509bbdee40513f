package model

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNormaliseSchema(t *testing.T) {
	data, err := os.ReadFile("testdata/schema.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range strings.Split(string(data), "\n# ")[1:] {
		name, rest, _ := strings.Cut(block, "\n")
		in, want, ok := strings.Cut(rest, "\n----\n")
		if !ok {
			t.Fatalf("case %q: no ----", name)
		}
		if want = strings.TrimSpace(want); want == "same" {
			want = in
		}
		got, err := NormaliseSchema(json.RawMessage(in))
		if err != nil {
			got = json.RawMessage(err.Error())
		}
		if string(got) != want {
			t.Errorf("%s:\ngot  %s\nwant %s", name, got, want)
		}
		if again, err := NormaliseSchema(got); got[0] == '{' && (err != nil || !bytes.Equal(again, got)) {
			t.Errorf("%s: twice is not once: %s, %v", name, again, err)
		}
	}
}

func TestNormaliseSchemaMakesAnySchemaFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root := drawSchema(t, 3)
		root["$defs"] = map[string]any{"A": drawSchema(t, 2), "B": drawSchema(t, 2)}
		in, err := json.Marshal(root)
		if err != nil {
			t.Fatal(err)
		}
		before := bytes.Clone(in)
		got, err := NormaliseSchema(in)
		if !bytes.Equal(in, before) {
			t.Fatal("the input changed")
		}
		if err != nil {
			return
		}
		again, err := NormaliseSchema(got)
		if err != nil || !bytes.Equal(again, got) {
			t.Fatalf("twice is not once: %v\n%s\n%s", err, got, again)
		}
		var out map[string]any
		if err := json.Unmarshal(got, &out); err != nil {
			t.Fatal(err)
		}
		for _, name := range notAtRoot {
			if out[name] != nil {
				t.Fatalf("%s at the root: %s", name, got)
			}
		}
		if out["type"] != "object" {
			t.Fatalf("the root is no object: %s", got)
		}
		fits(t, out)
	})
}

func TestNormaliseSchemaEndsOnManyAlternatives(t *testing.T) {
	defs, all := map[string]any{}, []any{}
	for i := range 14 {
		all = append(all, map[string]string{"$ref": "#/$defs/" + string(rune('a'+i))})
	}
	for i := range 14 {
		defs[string(rune('a'+i))] = map[string]any{"anyOf": all}
	}
	in, err := json.Marshal(map[string]any{"anyOf": all, "$defs": defs})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := NormaliseSchema(in); err == nil || !strings.Contains(err.Error(), "too many alternatives") {
		t.Errorf("error %v, want one that says too many alternatives", err)
	}
}

// drawSchema draws a schema with whatever goes wrong in schemas.
func drawSchema(t *rapid.T, depth int) map[string]any {
	s := map[string]any{}
	some := func(chance int, what string) bool { return rapid.IntRange(1, chance).Draw(t, what) == 1 }
	if !some(4, "untyped") {
		s["type"] = rapid.SampledFrom([]any{"object", "object", "array", "string", []string{"object", "null"}}).Draw(t, "type")
	}
	if some(5, "ref") {
		s["$ref"] = rapid.SampledFrom([]string{"#/$defs/A", "#/$defs/B", "#", "#/$defs/A/properties/p"}).Draw(t, "to")
	}
	if depth == 0 {
		return s
	}
	for _, name := range []string{"anyOf", "allOf", "oneOf"} {
		if some(5, name) {
			s[name] = []any{drawSchema(t, depth-1), drawSchema(t, depth-1)}
		}
	}
	if some(2, "properties") {
		s["properties"] = map[string]any{"p": drawSchema(t, depth-1), "q": rapid.SampledFrom([]any{true, nil, map[string]any{}}).Draw(t, "q")}
		s["required"] = rapid.SampledFrom([]any{[]string{"p"}, []string{"q", "p"}, nil, true}).Draw(t, "required")
	}
	if some(3, "items") {
		s["items"] = rapid.SampledFrom([]any{true, nil, []any{}, []any{map[string]any{"type": "array"}}, drawSchema(t, depth-1)}).Draw(t, "of")
	}
	return s
}

// fits checks that objects have properties and arrays items, all the way down.
func fits(t *rapid.T, v any) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			fits(t, e)
		}
	case map[string]any:
		types, _ := v["type"].([]any)
		if _, ok := v["properties"].(map[string]any); !ok && (v["type"] == "object" || slices.Contains(types, any("object"))) {
			t.Fatalf("an object without properties: %v", v)
		}
		if _, ok := v["items"].(map[string]any); !ok && v["type"] == "array" {
			t.Fatalf("an array without items: %v", v)
		}
		for _, e := range v {
			fits(t, e)
		}
	}
}

func TestNormaliseSchemaAnswersTheSharedCase(t *testing.T) {
	data, err := os.ReadFile(findShared(t, "cases/dev") + "/43-mcp-schema-normalise.json")
	if err != nil {
		t.Skip(err)
	}
	var c struct {
		Given struct {
			Tools []struct {
				Name        string
				InputSchema json.RawMessage
			}
		}
		Want struct{ Sent, Quarantined []string }
	}
	if err := json.Unmarshal(data, &c); err != nil {
		t.Fatal(err)
	}
	var sent, quarantined []string
	for _, tool := range c.Given.Tools {
		if _, err := NormaliseSchema(tool.InputSchema); err != nil {
			quarantined = append(quarantined, tool.Name)
		} else {
			sent = append(sent, tool.Name)
		}
	}
	if !slices.Equal(sent, c.Want.Sent) || !slices.Equal(quarantined, c.Want.Quarantined) {
		t.Errorf("sent %v, left out %v; want %v, %v", sent, quarantined, c.Want.Sent, c.Want.Quarantined)
	}
}
