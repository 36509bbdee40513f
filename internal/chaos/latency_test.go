package chaos

import (
	"context"
	"flag"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/tool"
)

var interrupts = flag.Int("chaos.interrupts", 100, "how many runs are interrupted to measure how long that takes")

// latencyBound is what 99 of 100 interrupts must stay below here, where the
// machine may be busy with other tests. On one that is not it is 50 ms.
const latencyBound = 200 * time.Millisecond

// TestInterruptLatency stops runs at random moments: before the first byte,
// while the reply comes in, while tools run, between rounds; and measures in
// real time, over a real connection, how long Run takes to return.
func TestInterruptLatency(t *testing.T) {
	srv, err := modeltest.Start(modeltest.Options{Scripts: []modeltest.Script{{Func: chatty}}})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	client := wire.NewHTTPClient()
	defer client.CloseIdleConnections()
	luck := rand.New(rand.NewPCG(*seed, 0))
	var took []time.Duration
	for i := range *interrupts {
		mode := modes[i%len(modes)]
		m, err := provider.Open(&model.Profile{
			Provider: "p", Model: "m", Mode: mode, BaseURL: srv.BaseURL(mode), ContextWindow: 100000, MaxOutput: 4000,
		}, wire.Options{HTTP: client})
		if err != nil {
			t.Fatal(err)
		}
		agent, err := rondo.New(rondo.Options{Model: m, Tools: []*tool.Tool{napping("read", true), napping("write", false)}, Limits: loop.Limits{MaxRounds: -1, RepeatStop: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		took = append(took, interrupted(t, agent, time.Duration(luck.IntN(60_000))*time.Microsecond))
	}
	slices.Sort(took)
	at := func(share float64) time.Duration {
		return took[int(share*float64(len(took)-1))].Round(time.Microsecond)
	}
	t.Logf("%d interrupts: half within %v, 90 of 100 within %v, 99 of 100 within %v, all within %v", len(took), at(0.5), at(0.9), at(0.99), at(1))
	if at(0.99) > latencyBound {
		t.Errorf("99 of 100 interrupts took up to %v, want below %v", at(0.99), latencyBound)
	}
}

// interrupted runs a task, stops it after a time and returns how long that took.
func interrupted(t *testing.T, agent *rondo.Agent, after time.Duration) time.Duration {
	t.Helper()
	s := agent.Session("")
	defer s.Close()
	stopped := make(chan time.Time, 1)
	timer := time.AfterFunc(after, func() { stopped <- time.Now(); s.Cancel() })
	defer timer.Stop()
	res, _ := s.Run(t.Context(), rondo.Request{Text: "go"})
	if res.Reason != loop.UserCancel {
		t.Fatalf("a run that does not end by itself ended with %s: %s", res.Reason, res.Detail)
	}
	return time.Since(<-stopped)
}

// chatty is a server that talks and asks for tools without end.
func chatty(r *modeltest.Request) modeltest.Reply {
	nap := modeltest.Delay(3 * time.Millisecond)
	return modeltest.Say(
		nap, modeltest.Think("Let me see."), nap, modeltest.Words("I will look at a few more files now."), nap,
		modeltest.Call("read", `{}`), modeltest.Call("write", `{}`), nap,
	)
}

// napping is a tool that takes a while and heeds its context.
func napping(name string, readOnly bool) *tool.Tool {
	return &tool.Tool{
		Name: name, Description: "A tool that naps.", ReadOnly: readOnly, Schema: []byte(`{"type":"object"}`),
		Run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			select {
			case <-time.After(5 * time.Millisecond):
				return tool.Result{Text: "rested"}, nil
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
		},
	}
}
