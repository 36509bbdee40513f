package rondo_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/hook"
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

// added is what the hook of the tests below adds to a request.
func added(messages int) string { return fmt.Sprintf("added behind message %d.", messages) }

// adder is a hook that adds to each request, and to one that is sent again with
// a note the same.
func adder() hook.Hooks {
	return hook.Hooks{PreModelCall: func(_ context.Context, c hook.ModelCall) (string, error) {
		return added(c.History.Len()), nil
	}}
}

// Scenarios 15 and 16: with notes of the engine, hooks and writes to memory on.
func TestConsecutiveRequestsShareTheirPrefix(t *testing.T) {
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
			st := store.NewMemory()
			o := rondo.Options{
				Model: m, System: "Be brief.", Tools: []*tool.Tool{look, mem.Tool()}, Store: st,
				Limits: loop.Limits{MaxRounds: 205, WarnAt: 0.5}, Hooks: []hook.Hooks{adder()},
			}
			res, err := newAgent(t, o).Run(t.Context(), rondo.Request{Text: "go"})
			if err != nil {
				t.Fatal(err)
			}
			if n := len(srv.Requests()); n < 200 {
				t.Fatalf("%d requests", n)
			}
			// Another process goes on with the session.
			if _, err = newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: res.SessionID, Text: "more"}); err != nil {
				t.Fatal(err)
			}
			if f := srv.Faults(); len(f) > 0 {
				t.Fatal(f)
			}
			checkPrefixes(t, srv.Requests())
			checkClean(t, st, res.SessionID)
		})
	}
}

// checkPrefixes checks that each request repeats the one before byte for byte,
// up to the end of its last message, where the hook added its text: what follows
// in it are notes of the engine alone.
func checkPrefixes(t *testing.T, requests []*modeltest.Request) {
	t.Helper()
	for i := 1; i < len(requests); i++ {
		before, now := requests[i-1].Body, requests[i].Body
		last := bytes.LastIndex(before, []byte("added behind message "))
		if last < 0 {
			t.Fatalf("the hook added nothing to request %d", i)
		}
		text := before[last : last+bytes.IndexByte(before[last:], '.')+1]
		if n := common(before, now); n < last+len(text) {
			t.Fatalf("requests %d and %d part at byte %d, and the first has its history to byte %d: %s", i, i+1, n, last+len(text), text)
		}
	}
}

// checkClean checks that what hooks added is not among what was said.
func checkClean(t *testing.T, st *store.Memory, id string) {
	t.Helper()
	_, msgs, err := st.Load(t.Context(), id)
	if err != nil || len(msgs) < 300 {
		t.Fatalf("%d messages, %v", len(msgs), err)
	}
	for _, m := range msgs {
		if strings.Contains(m.Text(), "added behind") {
			t.Errorf("message %s shows %q", m.ID, m.Text())
		}
	}
	if hits, err := st.Search(t.Context(), "added behind", store.SearchOptions{}); len(hits) > 0 || err != nil {
		t.Errorf("a search finds it %d times, %v", len(hits), err)
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
