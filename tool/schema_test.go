package tool

import (
	"strings"
	"testing"
)

const everyKind = `{"type":"object","properties":{
	"n":{"type":"integer","minimum":1,"maximum":100},"f":{"type":"number"},"b":{"type":"boolean"},"s":{"type":"string"},
	"list":{"type":"array","items":{"type":"string"}},"nums":{"type":"array","items":{"type":"integer"}},
	"o":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]},
	"mode":{"type":"string","enum":["a","b"]},
	"any":{"anyOf":[{"type":"integer"},{"type":"null"}]},
	"ref":{"$ref":"#/$defs/R"}, "free":{}},
	"required":["s"],"$defs":{"R":{"type":"integer"}}}`

// Scenario 61.
func TestValidateCoercesWhatIsClear(t *testing.T) {
	tool := &Tool{Name: "t", Schema: []byte(everyKind)}
	for _, tc := range []struct{ name, args, want string }{
		{"nothing to do", `{"s":"x", "n":5}`, `{"s":"x", "n":5}`},
		{"integer", `{"s":"x","n":"5"}`, `{"n":5,"s":"x"}`},
		{"number", `{"s":"x","f":"1.5"}`, `{"f":1.5,"s":"x"}`},
		{"boolean", `{"s":"x","b":"True"}`, `{"b":true,"s":"x"}`},
		{"string of a number", `{"s":5}`, `{"s":"5"}`},
		{"array in a string", `{"s":"x","list":"[\"a\",\"b\"]"}`, `{"list":["a","b"],"s":"x"}`},
		{"one value for a list", `{"s":"x","list":"a"}`, `{"list":["a"],"s":"x"}`},
		{"one number for a list", `{"s":"x","nums":7}`, `{"nums":[7],"s":"x"}`},
		{"items", `{"s":"x","nums":["7","8"]}`, `{"nums":[7,8],"s":"x"}`},
		{"a list of one for a value", `{"s":["x"]}`, `{"s":"x"}`},
		{"object in a string", `{"s":"x","o":"{\"x\":\"1\"}"}`, `{"o":{"x":1},"s":"x"}`},
		{"inside of an object", `{"s":"x","o":{"x":"1"}}`, `{"o":{"x":1},"s":"x"}`},
		{"null for an optional member", `{"s":"x","n":null}`, `{"s":"x"}`},
		{"null where it is allowed", `{"s":"x","any":null}`, `{"s":"x","any":null}`},
		{"alternative", `{"s":"x","any":"5"}`, `{"any":5,"s":"x"}`},
		{"reference", `{"s":"x","ref":"5"}`, `{"ref":5,"s":"x"}`},
		{"other members stay", `{"s":"x","extra":1}`, `{"s":"x","extra":1}`},
		{"a large number beside keeps its digits", `{"s":"x","n":"5","free":9007199254740993}`, `{"free":9007199254740993,"n":5,"s":"x"}`},
	} {
		got, err := Validate(tool, []byte(tc.args))
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: got %s, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}

func TestValidateTellsTheModelWhatToMend(t *testing.T) {
	closed := `{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`
	for _, tc := range []struct{ name, schema, args, want string }{
		{"missing", everyKind, `{}`, "- s: missing, want string"},
		{"missing under another name", everyKind, `{"text":"x"}`, "the call has text, which the tool does not know"},
		{"type", everyKind, `{"s":"x","n":"many"}`, `- n: want integer, got string "many"`},
		{"fraction", everyKind, `{"s":"x","n":1.5}`, "- n: want integer, got number 1.5"},
		{"enum", everyKind, `{"s":"x","mode":"c"}`, `- mode: want one of "a", "b", got string "c"`},
		{"range", everyKind, `{"s":"x","n":0}`, "- n: want at least 1, got 0"},
		{"nested", everyKind, `{"s":"x","o":{}}`, "- o.x: missing, want integer"},
		{"item", everyKind, `{"s":"x","nums":[1,"y"]}`, `- nums[1]: want integer, got string "y"`},
		{"unknown member", closed, `{"b":1}`, "unknown b; the members are a"},
		{"not an object", everyKind, `[]`, "not a JSON object"},
	} {
		_, err := Validate(&Tool{Name: "t", Schema: []byte(tc.schema)}, []byte(tc.args))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %v lacks %q", tc.name, err, tc.want)
		}
	}
}

func TestValidateListsAllFaultsAtOnce(t *testing.T) {
	_, err := Validate(&Tool{Name: "t", Schema: []byte(everyKind)}, []byte(`{"n":"x","b":"y","mode":"c"}`))
	for _, want := range []string{"s: missing", "n: want", "b: want", "mode: want"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v lacks %q", err, want)
		}
	}
}

func TestValidateBearsSchemasThatCannotBeResolved(t *testing.T) {
	dangling := &Tool{Name: "t", Schema: []byte(`{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",
		"properties":{"a":{"$ref":"#/$defs/None"},"n":{"type":"integer"}}}`)}
	if _, err := Validate(dangling, []byte(`{"a":1,"n":2}`)); err != nil {
		t.Errorf("fitting arguments: %v", err)
	}
	if _, err := Validate(dangling, []byte(`{"n":"x"}`)); err == nil {
		t.Error("arguments that do not fit: no error")
	}
}

func BenchmarkPrepare(b *testing.B) {
	r, err := NewRegistry(&Tool{Name: "t", Schema: []byte(everyKind), Run: echo("t").Run})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := r.Prepare("t", `{"s":"some text","n":5}`, false); err != nil {
			b.Fatal(err)
		}
	}
}
