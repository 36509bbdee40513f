//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
	"github.com/rondo-engine/rondo/store/sqlite"
	"github.com/rondo-engine/rondo/tool"
)

// childEnv makes the test binary the process that works; its value is an order.
const childEnv = "RONDO_CRASH_CHILD"

// order is what the process is to do.
type order struct {
	Home, URL string
	Strategy  snapshot.Strategy
	// Count has it do the counter's task instead of the script's.
	Count bool
	// MaxFile bounds the size of the files that it writes, in bytes; 0 does not.
	MaxFile uint64
}

func (o order) ledger() string { return filepath.Join(o.Home, "ledger") }

func TestMain(m *testing.M) {
	text := os.Getenv(childEnv)
	if text == "" {
		os.Exit(m.Run())
	}
	var o order
	err := json.Unmarshal([]byte(text), &o)
	if err == nil {
		err = o.work(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(3)
	}
}

// work goes on with the task where it stands, or begins it.
func (o order) work(ctx context.Context) (err error) {
	if o.MaxFile > 0 {
		signal.Ignore(syscall.SIGXFSZ)
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: o.MaxFile, Max: o.MaxFile}); err != nil {
			return err
		}
	}
	if o.Count {
		return o.count(ctx)
	}
	st, err := sqlite.Open(ctx, filepath.Join(o.Home, "sessions.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	m, err := provider.Open(&model.Profile{
		Provider: "test", Model: "m", Mode: model.ChatCompletions, BaseURL: o.URL, ContextWindow: 1 << 20,
	}, wire.Options{})
	if err != nil {
		return err
	}
	agent, err := rondo.New(rondo.Options{
		Model: m, Store: &teller{Store: st}, Snapshots: snapshot.Dir(filepath.Join(o.Home, "snapshots")), Snapshot: o.Strategy,
		Tools: []*tool.Tool{o.appendTool(), lookTool()}, Limits: loop.Limits{MaxRounds: 10 * rounds},
	})
	if err != nil {
		return err
	}
	request, err := next(ctx, st, "")
	if err != nil || request == nil {
		return err
	}
	res, err := agent.Run(ctx, *request)
	if err == nil && res.Reason != loop.EndTurn {
		err = fmt.Errorf("ended with %s: %s", res.Reason, res.Detail)
	}
	if err == nil && res.Rounds != rounds && o.MaxFile == 0 {
		err = fmt.Errorf("the task took %d rounds, want %d", res.Rounds, rounds)
	}
	return err
}

// workspace is what the sessions of the counter's task work in.
const workspace = "counter"

// count goes on with the counter's task, and leaves marks of what it does.
func (o order) count(ctx context.Context) (err error) {
	fmt.Println("#opening")
	st, err := sqlite.Open(ctx, filepath.Join(o.Home, "sessions.db"), sqlite.Options{})
	if err != nil {
		return err
	}
	fmt.Println("#open")
	defer func() { err = errors.Join(err, st.Close()) }()
	agent, err := rondo.New(rondo.Options{
		Model: counter{}, Store: &teller{Store: st, whole: true}, Snapshots: snapshot.Dir(filepath.Join(o.Home, "snapshots")), Snapshot: o.Strategy,
		Tools: []*tool.Tool{o.appendTool()}, Limits: loop.Limits{MaxRounds: 10 * lines, RepeatStop: 100}, System: "count", Workspace: workspace,
		Context: rondo.ContextOptions{ProtectLast: 4},
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if c := e.Compaction; c != nil {
				fmt.Println(map[bool]string{false: "#compressing", true: "#compressed"}[c.Done])
			}
		}},
	})
	if err != nil {
		return err
	}
	request, err := next(ctx, st, workspace)
	if err != nil || request == nil {
		return err
	}
	res, err := agent.Run(ctx, *request)
	if err == nil && res.Reason != loop.EndTurn {
		err = fmt.Errorf("ended with %s: %s", res.Reason, res.Detail)
	}
	return err
}

// next is what there is to do: the whole task, the rest of it, or nothing.
func next(ctx context.Context, st *sqlite.Store, workspace string) (*rondo.Request, error) {
	found, err := st.Find(ctx, store.Last, workspace)
	if errors.Is(err, store.ErrNotFound) {
		return &rondo.Request{Text: "go"}, nil
	}
	if err != nil {
		return nil, err
	}
	_, msgs, err := st.Load(ctx, found.ID)
	if err != nil {
		return nil, err
	}
	switch n := len(msgs); {
	case n == 0:
		return &rondo.Request{SessionID: found.ID, Text: "go"}, nil
	case msgs[n-1].Role == message.Assistant && !msgs[n-1].HasCalls():
		return nil, nil
	}
	return &rondo.Request{SessionID: found.ID}, nil
}

// teller tells of each message on stdout when it is acknowledged.
type teller struct {
	*sqlite.Store
	whole bool // names the session, too
	mu    sync.Mutex
}

func (t *teller) Append(ctx context.Context, id string, msgs []*message.Message, u store.Update) error {
	return t.Record(ctx, id, msgs, u, nil)
}

func (t *teller) Record(ctx context.Context, id string, msgs []*message.Message, u store.Update, e []store.Effect) error {
	if err := t.Store.Record(ctx, id, msgs, u, e); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, m := range msgs {
		name := m.ID
		if t.whole {
			name = id + "/" + m.ID
		}
		if _, err := fmt.Println(name); err != nil {
			return err
		}
	}
	return nil
}

// appendTool has an effect: it appends a line to the ledger, and could do it twice.
func (o order) appendTool() *tool.Tool {
	return &tool.Tool{
		Name: "append", Description: "Appends a line.", Schema: []byte(`{"type":"object","properties":{"line":{"type":"string"}}}`),
		Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			var args struct{ Line string }
			if err := json.Unmarshal(c.Args, &args); err != nil {
				return tool.Result{}, err
			}
			f, err := os.OpenFile(o.ledger(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				return tool.Result{}, err
			}
			_, err = fmt.Fprintln(f, args.Line)
			return tool.Result{Text: "appended " + args.Line + strings.Repeat(" and more", o.padding())}, errors.Join(err, f.Close())
		},
	}
}

// padding makes the results of the counter's task fill its window soon.
func (o order) padding() int {
	if o.Count {
		return 200
	}
	return 0
}

func lookTool() *tool.Tool {
	return &tool.Tool{
		Name: "look", Description: "Looks.", Schema: []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`), ReadOnly: true,
		Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			return tool.Result{Text: "seen " + string(c.Args)}, nil
		},
	}
}
