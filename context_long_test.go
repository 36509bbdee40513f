package rondo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// summarisers is what the system prompt of a request for a summary begins with.
const summarisers = "You compress the record"

var factPattern = regexp.MustCompile(`fact-[a-z]+-[0-9]+`)

// longTask is a task of many rounds on a scripted server: a call in each, with a
// result of random size, and facts here and there.
type longTask struct {
	rounds    int
	rand      *rand.Rand
	n         atomic.Int64
	facts     []string
	said      []string // the texts of the assistant
	added     int      // bytes of results and replies
	summaries int
}

func (l *longTask) reply(r *modeltest.Request) modeltest.Reply {
	if strings.HasPrefix(r.System, summarisers) {
		l.summaries++
		found := factPattern.FindAllString(r.LastUser(), -1)
		slices.Sort(found)
		return modeltest.Say(modeltest.Text("## Goal\nBuild it.\n## Decisions\n" + strings.Join(slices.Compact(found), "\n")))
	}
	n := int(l.n.Add(1))
	if n > l.rounds {
		return modeltest.Say(modeltest.Text("All is built."))
	}
	call := modeltest.Call("fetch", fmt.Sprintf(`{"path":"src/part%d.go","n":%d}`, n, n))
	l.added += 120
	if l.rand.IntN(20) > 0 {
		return modeltest.Say(call)
	}
	fact := fmt.Sprintf("fact-decision-%04d", n)
	if l.rand.IntN(2) == 0 {
		fact = fmt.Sprintf("fact-file-%04d", n)
	}
	text := fmt.Sprintf("Step %d: from now on %s holds, since it is simplest.", n, fact)
	l.facts, l.said = append(l.facts, fact), append(l.said, text)
	return modeltest.Say(modeltest.Text(text), call)
}

func (l *longTask) fetch(context.Context, tool.Call) (tool.Result, error) {
	size := l.rand.IntN(6000)
	if l.rand.IntN(50) == 0 {
		size *= 8
	}
	text := strings.Repeat("some line of a result\n", size/22+1)
	l.added += len(text)
	return tool.Result{Text: fmt.Sprintf("%d: %s", l.n.Load(), text)}, nil
}

// pipeModel opens a model of a server in memory.
func pipeModel(t *testing.T, mode model.Mode, size int, o modeltest.Options, q model.Quirks) (model.Model, *modeltest.Server) {
	t.Helper()
	srv, client := modeltest.NewPipe(o)
	t.Cleanup(srv.Close)
	m, err := provider.Open(&model.Profile{
		Provider: "test", Model: "m", Mode: mode, BaseURL: srv.BaseURL(mode), ContextWindow: size, MaxOutput: 2000, Quirks: q,
	}, wire.Options{HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	return m, srv
}

func TestATaskOfTwoThousandRoundsInASmallWindow(t *testing.T) {
	if testing.Short() {
		t.Skip("2,000 rounds take some seconds")
	}
	t.Parallel()
	const size = 32_000
	task := &longTask{rounds: 2000, rand: rand.New(rand.NewPCG(1, 2))}
	m, srv := pipeModel(t, model.ChatCompletions, size, modeltest.Options{Scripts: []modeltest.Script{{Func: task.reply}}}, model.Quirks{})
	st := store.NewMemory()
	var passes []rondo.Compaction
	a := newAgent(t, rondo.Options{
		Model: m, Store: st, System: "You build things.", Limits: loop.Limits{MaxRounds: -1},
		Tools: []*tool.Tool{newTool("fetch", true, task.fetch)}, ResultLimits: tool.Limits{SpillDir: t.TempDir()},
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if c := e.Compaction; c != nil && c.Done {
				passes = append(passes, *c)
			}
		}},
	})
	request := "Build it, and keep fact-user-0 in mind."
	task.facts = append(task.facts, "fact-user-0")
	res, err := a.Run(t.Context(), rondo.Request{Text: request})
	if err != nil || res.Reason != loop.EndTurn || res.Rounds != task.rounds+1 {
		t.Fatalf("%s after %d rounds: %v", res.Reason, res.Rounds, err)
	}
	for _, f := range srv.Faults() {
		t.Fatalf("the server refused %s", f)
	}
	checkPasses(t, passes, task.added/4, size)
	if i := slices.IndexFunc(res.Messages, func(m *message.Message) bool { return m.Text() == request }); i < 0 {
		t.Error("the request is not in the history word for word")
	}
	checkFacts(t, st, task, res.Messages)
	sessions, err := st.List(t.Context(), store.ListOptions{})
	if summaries := count(passes, window.Summarised); err != nil || len(sessions) != summaries+1 {
		t.Errorf("%d sessions, %v, and %d summaries: shrinking begins none", len(sessions), err, summaries)
	}
	t.Logf("%d tokens added, %d passes of at most %d, %d summaries, %d sessions, %d facts, %.3f read from the cache", task.added/4, len(passes), task.added/4/(size/5), task.summaries, len(sessions), len(task.facts), res.Usage.HitRate())
}

// count counts the passes of a method.
func count(passes []rondo.Compaction, m window.Method) int {
	n := 0
	for _, c := range passes {
		if c.Method == m {
			n++
		}
	}
	return n
}

// checkPasses holds the number of compressions against what came in.
func checkPasses(t *testing.T, passes []rondo.Compaction, added, size int) {
	t.Helper()
	if most := added / (size / 5); len(passes) > most || len(passes) == 0 {
		t.Errorf("%d compressions, and %d tokens allow %d", len(passes), added, most)
	}
	for i, c := range passes {
		if c.Failure != "" || c.TokensAfter >= c.TokensBefore {
			t.Errorf("compression %d: %+v", i, c)
		}
	}
}

// checkFacts looks for what was planted in the history and in the store.
func checkFacts(t *testing.T, st *store.Memory, task *longTask, msgs []*message.Message) {
	t.Helper()
	var all strings.Builder
	for _, m := range msgs {
		all.WriteString(m.Text() + "\n")
	}
	inHistory := 0
	for _, f := range task.facts {
		if strings.Contains(all.String(), f) {
			inHistory++
		}
		hits, err := st.Search(t.Context(), f, store.SearchOptions{})
		if len(hits) != 1 || err != nil {
			t.Errorf("%s is found %d times by search, %v", f, len(hits), err)
		}
	}
	if inHistory != len(task.facts) {
		t.Errorf("%d of %d facts are in the history", inHistory, len(task.facts))
	}
	for _, text := range task.said {
		if hits, err := st.Search(t.Context(), `"`+text+`"`, store.SearchOptions{}); len(hits) != 1 || err != nil {
			t.Errorf("%q is found %d times, %v", text, len(hits), err)
		}
	}
}
