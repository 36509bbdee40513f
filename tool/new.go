package tool

import (
	"context"
	stdjson "encoding/json"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// New makes a tool from t and a function that takes its arguments as a Go
// struct. It fills in t.Run and, where it is empty, t.Schema.
//
// The schema is inferred from A: members have the names of the json tags, a
// jsonschema tag is the description, an enum tag lists the values that a
// member of type string may have, separated by commas, and a member is
// required unless its json tag says omitempty or omitzero. Members that A does
// not have are ignored in a call.
func New[A any](t Tool, run func(ctx context.Context, call Call, args A) (Result, error)) (*Tool, error) {
	if len(t.Schema) == 0 {
		var err error
		if t.Schema, t.plain, err = inferSchema(reflect.TypeFor[A]()); err != nil {
			return nil, fmt.Errorf("infer schema of tool %q: %w", t.Name, err)
		}
	}
	t.Run = func(ctx context.Context, call Call) (Result, error) {
		var args A
		if err := decodeArgs(call.Args, &args); err != nil {
			return Result{}, fmt.Errorf("decode arguments of %s: %w", t.Name, err)
		}
		return run(ctx, call, args)
	}
	t.schema = newLazySchema(t.Schema)
	if err := t.check(); err != nil {
		return nil, err
	}
	return &t, nil
}

// Must returns t, or panics if err is not nil. It is for tools that are the
// same in every program, whose errors a test finds.
func Must(t *Tool, err error) *Tool {
	if err != nil {
		panic(err)
	}
	return t
}

// decodeArgs decodes arguments that fit a schema. An integer may be written 5.0
// there, which Go's integers do not take: then all numbers are put in their
// plain form first.
func decodeArgs(raw stdjson.RawMessage, into any) error {
	err := json.Unmarshal(raw, into, lenient)
	if err == nil {
		return nil
	}
	var plain any
	if json.Unmarshal(raw, &plain, lenient) != nil {
		return err
	}
	again, encodeErr := json.Marshal(plain)
	if encodeErr != nil {
		return err
	}
	return json.Unmarshal(again, into, lenient)
}

// lenient accepts what models really write.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// check reports what makes t unusable.
func (t *Tool) check() error {
	if !validName(t.Name) {
		return fmt.Errorf("tool name %q: want 1 to 64 letters, digits, _ or -", t.Name)
	}
	if t.Run == nil {
		return fmt.Errorf("tool %q has no Run function", t.Name)
	}
	if t.plain {
		return nil
	}
	var root struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(t.Schema, &root, lenient); err != nil {
		return fmt.Errorf("schema of tool %q is not a JSON object: %w", t.Name, err)
	}
	if kind, ok := root.Type.(string); ok && kind != "object" {
		return fmt.Errorf("schema of tool %q: its root has type %q, want object", t.Name, kind)
	}
	return nil
}

// validName reports whether name is one that every provider takes: 1 to 64
// letters, digits, _ and -.
func validName(name string) bool {
	if name == "" || len(name) > 64 {
		return false
	}
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
