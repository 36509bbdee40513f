package tool

import (
	"log/slog"
	"reflect"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/rondo-engine/rondo/model"
)

type place struct {
	Path string `json:"path"`
	Line int    `json:"line,omitzero" jsonschema:"the first is 1"`
}

// knot is a type within itself.
type knot struct {
	Parts []knot `json:"parts"`
}

type plainArgs struct {
	Text   string     `json:"text" jsonschema:"any \"text\" with a\ttab"`
	Mode   string     `json:"mode,omitempty" enum:"a,b" jsonschema:"how"`
	Count  int64      `json:"count,omitzero"`
	Share  float64    `json:"share"`
	All    bool       `json:"all,omitzero"`
	Names  []string   `json:"names" jsonschema:"of whom"`
	Places []place    `json:"places,omitzero" jsonschema:"where"`
	Grid   [][]int    `json:"grid,omitzero"`
	At     place      `json:"at" jsonschema:"here"`
	None   struct{}   `json:"none,omitzero"`
	Deep   []struct { // a type without a name
		Inner []place `json:"inner"`
	} `json:"deep,omitzero"`
}

// What is written by hand is what the library gives.
func TestPlainSchemasAreThoseOfTheLibrary(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[plainArgs](), reflect.TypeFor[searchArgs](), reflect.TypeFor[place](), reflect.TypeFor[struct{}](),
	} {
		got, ok := appendPlain(nil, typ, reflect.StructField{}, 0)
		if !ok {
			t.Errorf("%s is not plain", typ)
			continue
		}
		want, err := librarySchema(typ)
		if err != nil {
			t.Fatal(err)
		}
		if want, err = model.NormaliseSchema(want); err != nil {
			t.Fatal(err)
		}
		if g, w := canonicalJSON(t, got), canonicalJSON(t, want); g != w {
			t.Errorf("%s\n got %s\nwant %s", typ, g, w)
		}
	}
}

func canonicalJSON(t *testing.T, raw []byte) string {
	t.Helper()
	v := jsontext.Value(raw)
	if err := v.Canonicalize(); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return string(v)
}

// Types that need more are left to the library.
func TestOtherTypesAreLeftToTheLibrary(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[struct {
			At time.Time `json:"at"`
		}](),
		reflect.TypeFor[struct {
			P *int `json:"p"`
		}](),
		reflect.TypeFor[struct {
			M map[string]int `json:"m"`
		}](),
		reflect.TypeFor[struct{ place }](),
		reflect.TypeFor[struct{ NoTag string }](),
		reflect.TypeFor[struct {
			N uint `json:"n"`
		}](),
		reflect.TypeFor[struct {
			Raw jsonschema.Schema `json:"raw"`
		}](),
		reflect.TypeFor[knot](),
		reflect.TypeFor[struct {
			A string `json:"a" jsonschema:""`
		}](),
		reflect.TypeFor[struct {
			A string `json:"a" jsonschema:"enum=x,y"`
		}](),
		reflect.TypeFor[struct {
			Level slog.Level `json:"level"`
		}](),
	} {
		if got, ok := appendPlain(nil, typ, reflect.StructField{}, 0); ok {
			t.Errorf("%s: %s", typ, got)
		}
	}
}

// What no schema can be made of is an error, not a program that ends.
func TestUnfitArgumentsAreAnError(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[knot](),
		reflect.TypeFor[struct {
			A string `json:"a" jsonschema:""`
		}](),
		reflect.TypeFor[struct {
			A string `json:"a" jsonschema:"enum=x,y"`
		}](),
		reflect.TypeFor[struct {
			A int `json:"a" enum:"1,2"`
		}](),
	} {
		if got, _, err := inferSchema(typ); err == nil {
			t.Errorf("%s: %s", typ, got)
		}
	}
}

func BenchmarkInferSchema(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := inferSchema(reflect.TypeFor[plainArgs]()); err != nil {
			b.Fatal(err)
		}
	}
}
