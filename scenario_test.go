package rondo_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

var update = flag.Bool("update", false, "write what came out into testdata/scenarios; read the difference before it is kept")

var modes = []model.Mode{model.ChatCompletions, model.CodexResponses, model.AnthropicMessages}

// TestScenarios plays each file of testdata/scenarios against the strict server,
// in every API mode and with both stores. README.md there tells the form.
func TestScenarios(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "scenarios", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sc := parseScenario(t, archive)
			if *update {
				sc.rewrite(t, file, archive)
				return
			}
			for _, mode := range sc.modes {
				for _, kind := range []string{"memory", "sqlite"} {
					got := sc.play(t, mode, kind)
					if diff := cmp.Diff(strings.Split(sc.want(mode), "\n"), strings.Split(got, "\n")); diff != "" {
						t.Errorf("%s, %s store (-want +got):\n%s", mode, kind, diff)
					}
				}
			}
		})
	}
}

// want is what must come out: that of the mode, if it has one of its own.
func (sc *scenario) want(mode model.Mode) string {
	if own, ok := sc.files["want "+string(mode)]; ok {
		return own
	}
	return sc.files["want"]
}

// rewrite writes what comes out into the file.
func (sc *scenario) rewrite(t *testing.T, file string, a *txtar.Archive) {
	t.Helper()
	a.Files = slices.DeleteFunc(a.Files, func(f txtar.File) bool { return strings.HasPrefix(f.Name, "want") })
	common := sc.play(t, sc.modes[len(sc.modes)-1], "memory")
	a.Files = append(a.Files, txtar.File{Name: "want", Data: []byte(common)})
	for _, mode := range sc.modes {
		if got := sc.play(t, mode, "memory"); got != common {
			a.Files = append(a.Files, txtar.File{Name: "want " + string(mode), Data: []byte(got)})
		}
	}
	if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
		t.Fatal(err)
	}
}

// stage is where a scenario is played once: a server, a store, and what the
// turns have changed so far.
type stage struct {
	t       *testing.T
	sc      *scenario
	mode    model.Mode
	srv     *modeltest.Server
	store   store.Store
	tools   *toolbox
	session *rondo.Session
	chain   *chain
	system  string
	model   string
	shown   []string // the messages of the request that was shown last
	seen    int      // requests that were shown
	events  []rondo.Event
	out     strings.Builder
}

// play carries out the turns and returns what happened, as text.
func (sc *scenario) play(t *testing.T, mode model.Mode, kind string) string {
	t.Helper()
	srv, err := modeltest.Start(modeltest.Options{Scripts: sc.script()})
	if err != nil {
		t.Fatal(err)
	}
	defer srv.Close()
	st := &stage{t: t, sc: sc, mode: mode, srv: srv, store: openStore(t, kind), model: "m", tools: sc.toolbox()}
	defer close(st.tools.over)
	st.open("")
	for _, turn := range sc.turns {
		st.turn(turn)
	}
	st.session.Close()
	for _, f := range srv.Faults() {
		t.Errorf("%s, %s store: the server refused %s", mode, kind, f)
	}
	return sc.nameNewIDs(st.out.String())
}

func openStore(t *testing.T, kind string) store.Store {
	t.Helper()
	if kind == "memory" {
		return store.NewMemory()
	}
	s, err := sqlite.Open(context.Background(), filepath.Join(t.TempDir(), "sessions.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// openModel opens a model of the scripted server as the command line would.
func openModel(t *testing.T, srv *modeltest.Server, mode model.Mode, name string, q model.Quirks) model.Model {
	t.Helper()
	client := wire.NewHTTPClient()
	t.Cleanup(client.CloseIdleConnections)
	m, err := provider.Open(&model.Profile{
		Provider: "test", Model: name, Mode: mode, BaseURL: srv.BaseURL(mode), ContextWindow: 100000, Quirks: q,
	}, wire.Options{HTTP: client})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (st *stage) openModel() model.Model {
	if st.sc.chain == nil {
		return openModel(st.t, st.srv, st.mode, st.model, st.sc.quirks)
	}
	if st.chain == nil {
		st.chain = newChain(st.sc.chain)
	}
	return st.chain.open(st, st.srv, st.mode, st.sc.quirks)
}

// open begins with a new agent, on the session with the given id.
func (st *stage) open(id string) {
	o := st.sc.options
	o.Model = st.openModel()
	o.Store, o.Tools, o.System = st.store, st.tools.all, st.system
	o.ResultLimits.SpillDir = filepath.Join(st.t.TempDir(), "spill")
	o.Listeners = []rondo.Listener{func(e rondo.Event) { st.events = append(st.events, e) }}
	st.session = newAgent(st.t, o).Session(id)
}

// turn does what a line of the turns says: a directive, or words of the user.
func (st *stage) turn(line string) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "!system":
		st.system = rest
	case "!model":
		st.model = rest
	case "!wait":
		d, err := time.ParseDuration(rest)
		if err != nil {
			st.t.Fatal(err)
		}
		st.chain.pass(d)
		return
	case "!reopen":
		id := st.session.ID()
		st.session.Close()
		st.open(id)
		return
	default:
		st.say(unquote(st.t, line))
		return
	}
	if st.session != nil && st.seen == 0 {
		st.session.Close()
		st.open("")
	}
}

func (st *stage) say(text string) {
	t := st.t
	var history []*message.Message
	if st.seen == 0 {
		history = st.sc.history(t)
	}
	before := encodeAll(history)
	st.events = nil
	res, err := st.session.Run(t.Context(), rondo.Request{Text: text, History: history})
	if after := encodeAll(history); after != before {
		t.Errorf("the caller's history was changed to %s", after)
	}
	for _, r := range st.srv.Requests()[st.seen:] {
		st.seen++
		st.request(r)
	}
	if st.sc.events {
		st.block("events", eventLines(st.events))
	}
	st.block("history", lines(res.Messages, true))
	fmt.Fprintf(&st.out, "end: %s, %d calls", res.Reason, res.APICalls)
	if err != nil {
		fmt.Fprintf(&st.out, ", %v", err)
	}
	if res.Reasoning != "" {
		fmt.Fprintf(&st.out, ", reasoning %q", res.Reasoning)
	}
	fmt.Fprintf(&st.out, "\n%s\n", indent(res.FinalResponse))
	st.checkStored(res)
}

// checkStored holds the store's record against the result: whoever resumes the
// session begins with the same conversation.
func (st *stage) checkStored(res rondo.Result) {
	_, msgs, err := st.store.Load(context.Background(), st.session.ID())
	if err != nil {
		st.t.Errorf("load the session: %v", err)
		return
	}
	h, _ := message.Normalise(msgs)
	if diff := cmp.Diff(lines(res.Messages, true), lines(h.Messages(), true)); diff != "" {
		st.t.Errorf("the store differs from the result (-result +store):\n%s", diff)
	}
	if _, changes := message.Normalise(res.Messages); len(changes) > 0 {
		st.t.Errorf("the history after the run is not valid: %v", changes)
	}
}
