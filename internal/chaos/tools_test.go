package chaos

import (
	"context"
	"encoding/json"
	"errors"
	"hash/fnv"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/tool"
)

// workshop is the tools of a run, and how often each call of them ran.
type workshop struct {
	seed uint64
	mu   sync.Mutex
	ran  map[string]int // by id of the call
	// wrong are calls that must not have been run.
	wrong []string
}

func newWorkshop(seed uint64) *workshop { return &workshop{seed: seed, ran: map[string]int{}} }

func (w *workshop) tools() []*tool.Tool {
	made := func(name string, readOnly bool, run func(ctx context.Context, d dice) (tool.Result, error)) *tool.Tool {
		return &tool.Tool{
			Name: name, Description: "A tool of the chaos run.", ReadOnly: readOnly,
			Schema: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}}`),
			Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
				w.mu.Lock()
				w.ran[c.ID]++
				if strings.Contains(string(c.Args), "99") {
					w.wrong = append(w.wrong, c.ID)
				}
				w.mu.Unlock()
				d := w.diceOf(c.ID)
				time.Sleep(d.span(time.Millisecond)) // calls begin at one instant
				c.Progress("working with " + key)
				return run(ctx, d)
			},
		}
	}
	works := func(most time.Duration, res tool.Result) func(context.Context, dice) (tool.Result, error) {
		return func(ctx context.Context, d dice) (tool.Result, error) {
			select {
			case <-time.After(d.span(most)):
				return res, nil
			case <-ctx.Done():
				time.Sleep(d.span(200 * time.Millisecond)) // not all at once: the order would not be certain
				return tool.Result{}, ctx.Err()
			}
		}
	}
	return []*tool.Tool{
		made("read", true, works(2*time.Second, tool.Result{Text: "contents"})),
		made("write", false, works(2*time.Second, tool.Result{Text: "written"})),
		made("slow", true, works(time.Hour, tool.Result{Text: "at last"})),
		made("big", true, works(time.Second, tool.Result{Text: strings.Repeat("line after line\n", 20000)})),
		made("leak", true, works(time.Second, tool.Result{Text: "API_KEY=" + key + "\n", Details: map[string]string{"env": key}})),
		made("hang", false, func(_ context.Context, d dice) (tool.Result, error) { // whatever its context says
			time.Sleep(d.span(time.Hour))
			return tool.Result{Text: "too late"}, nil
		}),
		made("fail", true, func(ctx context.Context, d dice) (tool.Result, error) {
			time.Sleep(d.span(time.Second))
			return tool.Result{}, errors.New("no luck with " + key)
		}),
		made("panic", true, func(ctx context.Context, d dice) (tool.Result, error) {
			time.Sleep(d.span(time.Second))
			panic("at the tool: " + key)
		}),
	}
}

// diceOf gives each call dice of its own: calls run at the same time.
func (w *workshop) diceOf(id string) dice {
	h := fnv.New64a()
	h.Write([]byte(id)) //nolint:errcheck // never fails
	return newDice(w.seed, h.Sum64())
}

// twice returns the ids of calls that ran more than once.
func (w *workshop) twice() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var ids []string
	for id, n := range w.ran {
		if n > 1 {
			ids = append(ids, id)
		}
	}
	return ids
}
