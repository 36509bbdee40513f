package tool

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestFlatIsForPlainMembersOnly(t *testing.T) {
	for schema, want := range map[string]int{
		`{"type":"object","properties":{"a":{"type":"string","description":"x"},"n":{"type":"integer"}},"required":["a"]}`: 2,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"]},"n":{"type":"integer"}}}`:                       1,
		`{"type":"object","properties":{"a":{"type":"array","items":{"type":"string"}}}}`:                                  0,
		`{"type":"object","properties":{"a":{"type":"string"}},"additionalProperties":false}`:                              1,
		`{"type":"object","properties":{"a":{"type":"string"}},"minProperties":1}`:                                         -1,
		`{"type":"object","properties":{"a":{"type":"array"},"b":{"type":"string"}},"required":["a"]}`:                     -1,
		`{"anyOf":[{"type":"object"}]}`: -1,
	} {
		got := -1
		if f := newFlat([]byte(schema)); f != nil {
			got = len(f.members)
		}
		if got != want {
			t.Errorf("%s: %d plain members, want %d", schema, got, want)
		}
	}
}

const plainKinds = `{"type":"object","properties":{"s":{"type":"string"},"i":{"type":"integer"},"b":{"type":"boolean"},
	"n":{"type":"number"},"e":{"type":"string","enum":["x"]},"é":{"type":"string"}},"required":["s"],"additionalProperties":false}`

func TestFlatAcceptsWhatModelsMostlySend(t *testing.T) {
	f := newFlat([]byte(plainKinds))
	for _, args := range []string{
		`{"s":""}`, `{"s":"x","i":12,"b":true,"n":-1.5}`, " {\n\t\"b\": false , \"s\": \"x\"\r\n}\n",
		`{"s":"a \"b\" \\ \/ \b\f\n\r\t \u0041\uFFFD\ud7ff\uE000"}`, `{"s":"Käse 😀 �"}`, `{"s":"x","i":-0,"n":0.50}`,
		`{"s":"x","i":999999999999999}`,
	} {
		if !f.fits([]byte(args)) {
			t.Errorf("%s is left to the whole schema", args)
		}
	}
}

func TestFlatLeavesTheRestToTheWholeSchema(t *testing.T) {
	f := newFlat([]byte(plainKinds))
	for _, args := range []string{
		``, ` `, `null`, `[]`, `"s"`, `{`, `}`, `{}`, `{"i":1}`, `{"s"}`, `{"s":}`, `{"s":"x"`, `{"s":"x",}`, `{,"s":"x"}`,
		`{"s":"x" "i":1}`, `{"s":"x";"i":1}`, `{"s":"x"}}`, `{"s":"x"} {}`, `{"s":"x"}x`, `{s:"x"}`, `{'s':'x'}`,
		`{"s":"x","s":"y"}`, `{"s":"x","u":1}`, `{"\u0073":"x"}`, `{"s":"x","e":"x"}`, `{"s":"x","é":"x"}`, `{"S":"x"}`,
		`{"s":null}`, `{"s":1}`, `{"s":{}}`, `{"s":["x"]}`, `{"s":"x","i":"1"}`, `{"s":"x","b":1}`, `{"s":"x","b":truest}`,
		`{"s":"x","b":True}`, `{"s":"x","b":tru`, `{"s":"x","i":1.0}`, `{"s":"x","i":1e5}`, `{"s":"x","n":1e999}`,
		`{"s":"x","i":01}`, `{"s":"x","i":-}`, `{"s":"x","i":-01}`, `{"s":"x","i":+1}`, `{"s":"x","n":.5}`, `{"s":"x","n":5.}`,
		`{"s":"x","n":NaN}`, `{"s":"x","i":1000000000000000}`, `{"s":"x","n":0.1234567890123456}`, `{"s":"x","i":1_0}`,
		"{\"s\":\"a\nb\"}", "{\"s\":\"\x00\"}", "{\"s\":\"\xff\"}", "{\"s\":\"\xed\xa0\x80\"}", "{\"s\xff\":\"x\"}",
		`{"s":"\x41"}`, `{"s":"\u00g0"}`, `{"s":"\u00"}`, `{"s":"\`, `{"s":"\"`, `{"s":"\ud800"}`, `{"s":"\uD83D\uDE00"}`, `{"s":"\udc00"}`,
		"\ufeff{\"s\":\"x\"}", "{\"s\":\"x\"\u00a0}", strings.Repeat(`{"s":`, 20_000),
	} {
		if f.fits([]byte(args)) {
			t.Errorf("flat accepts %.80s", args)
		}
	}
}

// checkFlat holds args that flat accepts against all that it speaks for: they are
// JSON to strict and to other readers, and the whole way has the same result.
func checkFlat(t interface {
	Fatalf(format string, args ...any)
}, l *lazySchema, args string,
) (accepted bool) {
	got, ok := l.ready(args)
	if !ok {
		return false
	}
	if !jsontext.Value(got).IsValid() || !stdjson.Valid(got) {
		t.Fatalf("flat accepts %q, which is no JSON", args)
	}
	parsed, err := ParseArguments(args, true)
	if err != nil || !bytes.Equal(parsed, got) {
		t.Fatalf("%q becomes %q, want %q, %v", args, got, parsed, err)
	}
	whole := &lazySchema{flat: func() *flat { return nil }, compile: l.compile}
	if checked, err := whole.validate("t", parsed); err != nil || !bytes.Equal(checked, got) {
		t.Fatalf("flat accepts %q: the schema makes %q of it, %v", args, checked, err)
	}
	var object map[string]any
	if err := json.Unmarshal(parsed, &object); err != nil {
		t.Fatalf("flat accepts %q: %v", args, err)
	}
	if err := l.compile().resolved.Validate(object); err != nil {
		t.Fatalf("flat accepts %q: %v", args, err)
	}
	return true
}

// What flat lets pass the whole schema lets pass, too.
func TestFlatAcceptsNothingThatTheSchemaRefuses(t *testing.T) {
	schema := newLazySchema([]byte(plainKinds))
	value := rapid.SampledFrom([]string{
		`"x"`, `"y"`, `"\n\u00e9"`, `"\ud83d"`, "\"\xff\"", `1`, `-2`, `01`, `-`, `-0`, `1.5`, `1.`, `1e2`, `1e999`, `true`, `null`, `[]`, `{}`, `[[[[`,
	})
	name := rapid.SampledFrom([]string{`"s"`, `"i"`, `"b"`, `"n"`, `"e"`, `"u"`, `"\u0073"`, `"é"`})
	between := rapid.SampledFrom([]string{"", "", "", " ", "\n\t", "\v", ",", "\""})
	member := rapid.Custom(func(t *rapid.T) string {
		return name.Draw(t, "name") + between.Draw(t, "before colon") + ":" + between.Draw(t, "after colon") + value.Draw(t, "value")
	})
	passed := 0
	rapid.Check(t, func(t *rapid.T) {
		members := rapid.SliceOfN(member, 0, 3).Draw(t, "members")
		if rapid.Bool().Draw(t, "has what is required") {
			members = append(members, `"s":"x"`)
		}
		args := "{" + strings.Join(members, ","+between.Draw(t, "after comma")) + "}" + between.Draw(t, "at the end")
		if checkFlat(t, schema, args) {
			passed++
		}
	})
	if passed == 0 {
		t.Error("flat accepted nothing at all")
	}
}

func FuzzFlat(f *testing.F) {
	for _, seed := range []string{
		`{"s":"x","i":12,"b":true,"n":-1.5}`, `{"s":"a \"b\" \\ \u0041\ud83d\ude00"}`, `{"s":"x","s":"y"}`, `{"\u0073":"x"}`,
		"{\"s\":\"\xff\xc3\xa9\"}", `{"s":"x","i":01,"n":1e5}`, ` {"s" : "x" , "i" : -0} x`, `{"s":{"s":[[]]}}`,
	} {
		f.Add(seed)
	}
	schema := newLazySchema([]byte(plainKinds))
	f.Fuzz(func(t *testing.T, args string) { checkFlat(t, schema, args) })
}

func TestPreparingPlainArgumentsAllocatesOnce(t *testing.T) {
	r, arguments := round(t, 1)
	n := testing.AllocsPerRun(100, func() { _, _, _ = r.Prepare("noop", arguments[0], false) })
	if n > 1 {
		t.Errorf("%v allocations, want 1", n)
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
