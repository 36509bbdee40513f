package rondo_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/memory"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// rounds is a script of n rounds: it reads, every tenth time it saves to memory,
// and every seventh it says nothing at all, so that a note must follow.
func rounds(n int) func(*modeltest.Request) modeltest.Reply {
	i := 0
	return func(*modeltest.Request) modeltest.Reply {
		i++
		switch {
		case i > n:
			return modeltest.Say(modeltest.Text("done"))
		case i%7 == 0:
			return modeltest.Say()
		case i%10 == 0:
			return modeltest.Say(modeltest.Call("memory", fmt.Sprintf(`{"action":"add","content":"fact %d"}`, i)))
		}
		return modeltest.Say(modeltest.Text("I look."), modeltest.Call("look", fmt.Sprintf(`{"n":%d}`, i)))
	}
}

// common returns the length of what a and b begin with alike.
func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

func TestConsecutiveRequestsShareTheirPrefix(t *testing.T) { // scenario 15
	for _, mode := range modes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			m, srv := pipeModel(t, mode, 400_000, modeltest.Options{Scripts: []modeltest.Script{{Func: rounds(200)}}}, model.Quirks{NoCacheMarks: true})
			mem := memory.Open(t.TempDir(), memory.Options{})
			n := 0
			look := newTool("look", true, func(context.Context, tool.Call) (tool.Result, error) {
				n++
				return tool.Result{Text: fmt.Sprintf("result number %d", n)}, nil
			})
			a := newAgent(t, rondo.Options{
				Model: m, System: "Be brief.", Tools: []*tool.Tool{look, mem.Tool()}, Store: store.NewMemory(),
				Limits: loop.Limits{MaxRounds: 205, WarnAt: 0.5},
			})
			if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
				t.Fatal(err)
			}
			if f := srv.Faults(); len(f) > 0 {
				t.Fatal(f)
			}
			checkPrefixes(t, srv.Requests())
		})
	}
}

// checkPrefixes checks that each request repeats the conversation of the one
// before byte for byte, up to where a note of the engine or the end stood.
func checkPrefixes(t *testing.T, requests []*modeltest.Request) {
	t.Helper()
	if len(requests) < 200 {
		t.Fatalf("%d requests", len(requests))
	}
	for i := 1; i < len(requests); i++ {
		before, now := requests[i-1], requests[i]
		shared := before.Body[:common(before.Body, now.Body)]
		for k, m := range before.Messages {
			if k < len(before.Messages)-5 || k == len(before.Messages)-1 {
				continue // what stands before one that is shared is shared, too; the last may be a note
			}
			for _, p := range m.Parts {
				if p.Text != "" && p.Text != "I look." && !bytes.Contains(shared, []byte(p.Text)) {
					t.Fatalf("requests %d and %d part before message %d of %d, at byte %d of %d", i, i+1, k, len(before.Messages), len(shared), len(before.Body))
				}
			}
		}
	}
}

func TestNineTenthsOfASessionAreReadFromTheCache(t *testing.T) { // P7
	t.Parallel()
	m, srv := pipeModel(t, model.AnthropicMessages, 400_000, modeltest.Options{Scripts: []modeltest.Script{{Func: rounds(100)}}}, model.Quirks{})
	mem := memory.Open(t.TempDir(), memory.Options{})
	var rates []float64
	a := newAgent(t, rondo.Options{
		Model: m, System: "Be brief.", Limits: loop.Limits{MaxRounds: 105, WarnAt: 0.5},
		Tools: []*tool.Tool{fixed("look", "a result of some length, as results are, and a little more than that"), mem.Tool()},
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Usage != nil {
				rates = append(rates, e.Usage.HitRate())
			}
		}},
	})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil || res.Rounds < 100 {
		t.Fatal(res.Rounds, err)
	}
	if rate := res.Usage.HitRate(); rate < 0.9 {
		t.Errorf("%.3f of the input was read from the cache", rate)
	}
	for _, r := range srv.Requests() {
		if r.CacheMarks > 4 || r.CacheMarks == 0 {
			t.Errorf("request %d has %d marks", r.Number, r.CacheMarks)
		}
	}
	t.Logf("%.3f read from the cache, %.3f in the last round", res.Usage.HitRate(), rates[len(rates)-1])
}

func TestMemoryWrittenNowShowsInTheNextSession(t *testing.T) { // scenario 115
	script := "reply\n  call memory {\"action\":\"add\",\"content\":\"a new fact\"}\nreply times forever\n  text done\n"
	m, srv := small(t, script)
	mem := memory.Open(t.TempDir(), memory.Options{})
	prompt := func() string {
		text, err := mem.Snapshot()
		if err != nil {
			t.Error(err)
		}
		return "Be brief.\n" + text
	}
	for range 2 {
		a := newAgent(t, rondo.Options{Model: m, System: prompt(), Tools: []*tool.Tool{mem.Tool()}})
		if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range []bool{false, false, true} {
		if got := strings.Contains(srv.Requests()[i].System, "a new fact"); got != want {
			t.Errorf("request %d: the fact is in the prompt: %v", i+1, got)
		}
	}
}
