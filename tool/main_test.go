package tool

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo is a tool that does nothing.
func echo(name string) *Tool {
	return &Tool{
		Name: name, Schema: []byte(`{"type":"object"}`), ReadOnly: true,
		Run: func(context.Context, Call) (Result, error) { return Result{Text: name}, nil },
	}
}
