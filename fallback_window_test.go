package rondo_test

import (
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/store"
)

// sized opens a scripted model with a window of so many tokens.
func sized(t *testing.T, size int, script string) (model.Model, *modeltest.Server) {
	t.Helper()
	scripts, err := modeltest.Parse(t.Name(), script)
	if err != nil {
		t.Fatal(err)
	}
	return pipeModel(t, model.ChatCompletions, size, modeltest.Options{Scripts: scripts}, model.Quirks{})
}

// Scenario 82: the limit of the context is that of the model that answers.
func TestAFallbackWithASmallerWindowIsGivenWhatFits(t *testing.T) {
	large, first := sized(t, 100_000, "reply\n  text one\nreply\n  status 503 Overloaded\nreply\n  text back\n")
	overflow := "reply\n  status 400 This model's maximum context length is 10000 tokens.\n  code context_length_exceeded\n"
	little, second := sized(t, 10_000, summaryRule+overflow+"reply times 2\n  text two\n")
	little.Profile().Model = "little"
	clock := newChain(nil)
	var told compactions
	a := newAgent(t, rondo.Options{
		Model: resilient.NewFallback(resilient.FallbackOptions{Env: clock.env()}, large, little),
		Store: store.NewMemory(), Listeners: []rondo.Listener{told.listener()},
	})
	s := a.Session("")
	defer s.Close()
	req := rondo.Request{Text: "go on", History: talk(30)}
	for turn, want := range []string{"one", "two", "two", "back"} {
		if turn == 3 {
			clock.pass(time.Hour)
		}
		if res, err := s.Run(t.Context(), req); err != nil || res.FinalResponse != want {
			t.Fatalf("turn %d: %q, %v, want %q", turn+1, res.FinalResponse, err, want)
		}
		req = rondo.Request{Text: "go on"}
	}
	if len(told) != 2 || told[1].Compaction.Trigger != rondo.TriggerOverflow || told[1].Compaction.TokensAfter > 5000 {
		t.Errorf("compressions: %+v", told)
	}
	if n, m := len(first.Requests()), len(second.Requests()); n != 3 || m != 7 {
		t.Errorf("the first was asked %d times, want 3; the second %d times, want 7: refused, three parts of a summary and all of it, two turns", n, m)
	}
}
