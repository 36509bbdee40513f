package tool

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestCanonicalFormIsToldAtSight(t *testing.T) {
	for raw, want := range map[string]bool{
		`{}`: true, `{"n":1}`: true, `{"a":"x y","b":true,"c":null,"d":-20}`: true, `{"":"/<>'&"}`: true,
		``: false, `[]`: false, `1`: false, `{"b":1,"a":2}`: false, `{"a":1,"a":1}`: false, `{"a": 1}`: false, `{"a" :1}`: false, ` {}`: false, `{} `: false,
		`{"a":1.5}`: false, `{"a":1.0}`: false, `{"a":1e2}`: false, `{"a":-0}`: false, `{"a":01}`: false, `{"a":"\/"}`: false,
		`{"a":"é"}`: false, `{"a":[1]}`: false, `{"a":9007199254740993}`: false, `{"a":1`: false, `{"a":1,}`: false,
	} {
		if got := isCanonical([]byte(raw)); got != want {
			t.Errorf("%s: %v, want %v", raw, got, want)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{`{"a":"x\u007f","b":true,"c":-20}`, `{"b":1,"a":{}}`, `{"a":-0}`, "{\"a\":\"\x7f\"}", `{"":null}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		if !isCanonical([]byte(raw)) {
			return
		}
		v := jsontext.Value(raw)
		if err := v.Canonicalize(); err != nil || string(v) != raw {
			t.Errorf("%q counts as canonical, but that is %q, %v", raw, v, err)
		}
	})
}
