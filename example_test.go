package rondo_test

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/tool"
)

// A tool is a Go function; its schema comes from the struct of its arguments.
// The model here is a scripted one, so that the example runs anywhere.
func Example() {
	scripts, err := modeltest.Parse("weather", `
reply
  call weather {"city": "Oslo"}
reply
  text It is 4 degrees in Oslo.`)
	if err != nil {
		panic(err)
	}
	srv, err := modeltest.Start(modeltest.Options{Scripts: scripts})
	if err != nil {
		panic(err)
	}
	defer srv.Close()
	m, err := provider.Open(&model.Profile{
		Provider: "scripted", Model: "weather", Mode: model.ChatCompletions, BaseURL: srv.BaseURL(model.ChatCompletions),
	}, wire.Options{})
	if err != nil {
		panic(err)
	}

	type where struct {
		City string `json:"city" jsonschema:"name of the city"`
	}
	weather, err := tool.New(tool.Tool{Name: "weather", Description: "Tells the weather of a city.", ReadOnly: true},
		func(_ context.Context, _ tool.Call, args where) (tool.Result, error) {
			return tool.Result{Text: args.City + ": 4 degrees"}, nil
		})
	if err != nil {
		panic(err)
	}

	agent, err := rondo.New(rondo.Options{Model: m, Tools: []*tool.Tool{weather}})
	if err != nil {
		panic(err)
	}
	answer, err := agent.Chat(context.Background(), "How cold is it in Oslo?")
	if err != nil {
		panic(err)
	}
	fmt.Println(answer)
	// Output: It is 4 degrees in Oslo.
}
