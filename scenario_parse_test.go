package rondo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/tool"
)

// scenario is a file of testdata/scenarios.
type scenario struct {
	t       *testing.T
	files   map[string]string
	modes   []model.Mode
	quirks  model.Quirks
	options rondo.Options
	events  bool
	chain   []string // models with retries and fallback around them; nil for none
	turns   []string
}

func parseScenario(t *testing.T, a *txtar.Archive) *scenario {
	t.Helper()
	sc := &scenario{t: t, files: map[string]string{}, modes: modes}
	for _, f := range a.Files {
		word, _, _ := strings.Cut(f.Name, " ")
		if !slices.Contains([]string{"settings", "history", "tools", "script", "turns", "want"}, word) {
			t.Fatalf("unknown part %q", f.Name)
		}
		sc.files[f.Name] = string(f.Data)
	}
	sc.turns = textLines(sc.files["turns"])
	for _, line := range textLines(sc.files["settings"]) {
		sc.set(line)
	}
	return sc
}

// set takes over a line of the settings.
func (sc *scenario) set(line string) {
	key, value, _ := strings.Cut(line, " ")
	var err error
	switch key {
	case "mode":
		sc.modes = []model.Mode{model.Mode(value)}
	case "think_tags":
		sc.quirks.ThinkTags = true
	case "events":
		sc.events = true
	case "chain":
		sc.chain = strings.Fields(value)
	case "max_rounds":
		sc.options.Limits.MaxRounds, err = strconv.Atoi(value)
	case "tool_timeout":
		sc.options.ToolTimeout, err = time.ParseDuration(value)
	default:
		err = errors.New("unknown setting")
	}
	if err != nil {
		sc.t.Fatalf("settings: %s: %v", line, err)
	}
}

func textLines(s string) []string {
	return slices.DeleteFunc(strings.Split(s, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
}

func unquote(t *testing.T, s string) string {
	t.Helper()
	if !strings.HasPrefix(s, `"`) {
		return s
	}
	u, err := strconv.Unquote(s)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return u
}

func (sc *scenario) script() []modeltest.Script {
	scripts, err := modeltest.Parse("script", sc.files["script"])
	if err != nil {
		sc.t.Fatal(err)
	}
	return scripts
}

// history is what the caller brings to the first turn; nil for nothing.
func (sc *scenario) history(t *testing.T) []*message.Message {
	t.Helper()
	text := sc.files["history"]
	if text == "" {
		return nil
	}
	msgs, err := message.ParseHistory([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return msgs
}

// toolbox holds the tools of a scenario and what they share.
type toolbox struct {
	all     []*tool.Tool
	over    chan struct{} // closed at the end: what hangs comes back then
	running atomic.Int32
}

func (sc *scenario) toolbox() *toolbox {
	b := &toolbox{over: make(chan struct{})}
	for _, line := range textLines(sc.files["tools"]) {
		b.all = append(b.all, b.tool(sc.t, line))
	}
	return b
}

// toolSchema is that of all tools here.
const toolSchema = `{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"},"list":{"type":"array","items":{"type":"string"}}}}`

// tool makes a tool of a line "NAME WORD...: TEXT".
func (b *toolbox) tool(t *testing.T, line string) *tool.Tool {
	t.Helper()
	head, text, ok := strings.Cut(line, ": ")
	words := strings.Fields(head)
	if !ok || len(words) == 0 {
		t.Fatalf("tools: %q: want NAME WORD...: TEXT", line)
	}
	tl := &tool.Tool{Name: words[0], Description: "A tool for tests.", Schema: json.RawMessage(toolSchema)}
	do := &behaviour{box: b, text: unquote(t, text)}
	for _, w := range words[1:] {
		w, value, _ := strings.Cut(w, "=")
		switch w {
		case "reads":
			tl.ReadOnly = true
		case "asks":
			tl.Interactive = true
		case "untrusted":
			tl.Untrusted = true
		case "fails", "panics", "hangs":
			do.how = w
		case "after":
			d, err := time.ParseDuration(value)
			if err != nil {
				t.Fatal(err)
			}
			do.after = d
		default:
			t.Fatalf("tools: %q: unknown word %q", line, w)
		}
	}
	tl.Run = do.run
	return tl
}

// behaviour is what a tool of a scenario does.
type behaviour struct {
	box   *toolbox
	text  string
	how   string
	after time.Duration
	runs  atomic.Int32
}

// run answers with the text. In it {args} stands for the arguments, {run} for
// how often the tool has run and {beside} for how many tools run beside it.
func (d *behaviour) run(_ context.Context, c tool.Call) (tool.Result, error) {
	d.box.running.Add(1)
	defer d.box.running.Add(-1)
	time.Sleep(d.after / 2)
	beside := d.box.running.Load() - 1
	time.Sleep(d.after / 2)
	text := strings.NewReplacer(
		"{args}", string(c.Args), "{run}", fmt.Sprint(d.runs.Add(1)), "{beside}", fmt.Sprint(beside),
	).Replace(d.text)
	switch d.how {
	case "panics":
		panic(text)
	case "fails":
		return tool.Result{}, errors.New(text)
	case "hangs":
		<-d.box.over
	}
	return tool.Result{Text: text}, nil
}
