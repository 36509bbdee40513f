package tool

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFlatIsForPlainMembersOnly(t *testing.T) {
	for schema, want := range map[string]int{
		`{"type":"object","properties":{"a":{"type":"string","description":"x"},"n":{"type":"integer"}},"required":["a"]}`: 2,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"}}}`:                       1,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`:                                  0,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                              1,
		`{"type":"object","properties":{"a":{"type":"string"}},"minProperties":1}`:                                         -1,
		`{"anyOf":[{"type":"object"}]}`: -1,
	} {
		got := -1
		if f := newFlat([]byte(schema)); f != nil {
			got = len(f.types)
		}
		if got != want {
			t.Errorf("%s: %d plain members, want %d", schema, got, want)
		}
	}
}

// What flat lets pass the whole schema lets pass, too.
func TestFlatAcceptsNothingThatTheSchemaRefuses(t *testing.T) {
	const schema = `{"type":"object","properties":{"s":{"type":"string"},"i":{"type":"integer"},"b":{"type":"boolean"},
		"n":{"type":"number"},"e":{"type":"string","enum":["x"]}},"required":["s"],"additionalProperties":false}`
	f, c := newFlat([]byte(schema)), newLazySchema([]byte(schema)).compile()
	value := rapid.SampledFrom([]string{`"x"`, `"y"`, `1`, `-2`, `1.5`, `1e2`, `true`, `null`, `[]`, `{}`})
	member := rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom([]string{`"s"`, `"i"`, `"b"`, `"n"`, `"e"`, `"u"`}).Draw(t, "name") + ":" + value.Draw(t, "value")
	})
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfN(member, 0, 3).Draw(t, "members")
		if rapid.Bool().Draw(t, "has what is required") {
			members = append(members, `"s":"x"`)
		}
		args := "{" + strings.Join(members, ",") + "}"
		if !f.fits([]byte(args)) {
			return
		}
		passed++
		var object map[string]any
		if err := json.Unmarshal([]byte(args), &object); err != nil {
			t.Fatal(err)
		}
		if err := c.resolved.Validate(object); err != nil {
			t.Fatalf("flat accepts %s: %v", args, err)
		}
	})
	if passed == 0 {
		t.Error("flat accepted nothing at all")
	}
}

func BenchmarkValidateFlat(b *testing.B) {
	s := newLazySchema([]byte(`{"type":"object","properties":{"path":{"type":"string"},"limit":{"type":"integer"}},"required":["path"]}`))
	args := []byte(`{"path":"a/b/c.go","limit":100}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.validate("read", args); err != nil {
			b.Fatal(err)
		}
	}
}
