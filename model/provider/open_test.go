package provider

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/wire"
)

// TestOpenReachesAServerInEachMode resolves a model as a user would name it
// and asks it.
func TestOpenReachesAServerInEachMode(t *testing.T) {
	for _, tt := range []struct{ variables, name string }{
		{"OPENAI_API_KEY=k OPENAI_BASE_URL=%/v1", "openai/m"},
		{"OPENAI_API_KEY=k OPENAI_BASE_URL=%/v1", "openai-codex/m"},
		{"ANTHROPIC_API_KEY=k ANTHROPIC_BASE_URL=%", "anthropic/m"},
		{"GEMINI_API_KEY=k GEMINI_NATIVE_BASE_URL=%", "gemini-native/m"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server, err := modeltest.Start(modeltest.Options{Scripts: []modeltest.Script{{Replies: []modeltest.Reply{modeltest.Say(modeltest.Text("Hello."))}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer server.Close()
			r, err := Resolve(t.Context(), Settings{Model: tt.name, Env: env(strings.ReplaceAll(tt.variables, "%", server.URL()))})
			if err != nil {
				t.Fatal(err)
			}
			m, err := Open(r.Profile, wire.Options{Keys: r.Keys})
			if err != nil {
				t.Fatal(err)
			}
			history, _ := message.Normalise([]*message.Message{message.NewUser("hi")})
			var reply *model.Reply
			for d, err := range m.Stream(t.Context(), &model.Request{History: history}) {
				if err != nil {
					t.Fatal(err)
				}
				if d.Kind == model.DeltaDone {
					reply = d.Reply
				}
			}
			if reply == nil || reply.Message.Text() != "Hello." {
				t.Errorf("got %+v", reply)
			}
		})
	}
}

func TestOpenRefusesAnUnknownMode(t *testing.T) {
	if _, err := Open(&model.Profile{Mode: "smoke_signals"}, wire.Options{}); err == nil || !strings.Contains(err.Error(), "smoke_signals") {
		t.Errorf("got %v", err)
	}
}
