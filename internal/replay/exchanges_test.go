package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/anthropic"
	"github.com/rondo-engine/rondo/model/chat"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
)

// score counts what came of the exchanges of one API of one provider.
type score struct {
	exchanges, replies, streams, calls int
	classes                            map[string]int
}

// TestEveryRecordedExchangeIsUnderstood decodes all recorded replies, whole and
// in small pieces, and holds them against a plain reading. Every failure has a
// class. Exchanges of other APIs (lists of models, counts of tokens) are there
// for their errors.
func TestEveryRecordedExchangeIsUnderstood(t *testing.T) {
	dir := sharedCassettes(t)
	var index []struct{ Path string }
	read(t, filepath.Join(dir, "index.json"), &index)
	scores := map[string]*score{}
	for _, e := range index {
		r := new(recording)
		read(t, filepath.Join(dir, e.Path), r)
		name := r.API + " " + r.Provider
		if scores[name] == nil {
			scores[name] = &score{classes: map[string]int{}}
		}
		t.Run(r.ID, func(t *testing.T) { understand(t, r, scores[name]) })
	}
	t.Logf("%d exchanges\n%s", len(index), scoreTable(scores))
}

func understand(t *testing.T, r *recording, n *score) {
	n.exchanges++
	mode := modes[r.API]
	if mode == "" {
		if r.Response.Status >= 400 {
			n.classes[string(classify(t, r).Class)]++
		}
		return
	}
	body := []byte(r.Response.Body)
	got, err := decodeReply(r, mode, bytes.NewReader(body))
	if len(body) < 1<<16 {
		again, err2 := decodeReply(r, mode, &bytewise{body})
		if fmt.Sprint(summary(again), err2) != fmt.Sprint(summary(got), err) {
			t.Errorf("byte by byte: %v %v\nwhole: %v %v", summary(again), err2, summary(got), err)
		}
	}
	want := readReply(mode, r.Response.Body)
	if r.Response.Status >= 400 || want.failed || !want.whole {
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Class == "" {
			t.Fatalf("got %v, %v", summary(got), err)
		}
		n.classes[string(e.Class)]++
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	n.replies++
	n.calls += len(got.Message.Calls())
	if got.Message.Text() != want.text {
		t.Errorf("text %.300q, want %.300q", got.Message.Text(), want.text)
	}
	if f := finishOf(mode, want, got); got.Finish != f {
		t.Errorf("finish %s, want %s (%s)", got.Finish, f, want.finish)
	}
	if u := got.Usage; float64(u.Input) != want.input || float64(u.Output) != want.output {
		t.Errorf("usage %+v, want %v and %v", u, want.input, want.output)
	}
	if mode != model.ChatCompletions { // package chat tests those, whose forms are many
		checkCalls(t, got, want)
	}
	if !strings.HasPrefix(strings.TrimSpace(r.Response.Body), "{") {
		n.streams++
	}
}

func checkCalls(t *testing.T, got *model.Reply, want *reading) {
	t.Helper()
	var calls, plain []string
	for _, c := range got.Message.Calls() {
		calls = append(calls, c.Name+" "+canonical(c.Arguments))
	}
	for _, c := range want.calls {
		name, args, _ := strings.Cut(c, " ")
		plain = append(plain, name+" "+canonical(args))
	}
	if !slices.Equal(calls, plain) {
		t.Errorf("calls %q, want %q", calls, plain)
	}
}

// finishOf is what the provider's word for the end means.
func finishOf(mode model.Mode, want *reading, got *model.Reply) model.Finish {
	calls := len(got.Message.Calls()) > 0
	switch want.finish {
	case "length", "MAX_TOKENS", "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "content_filter", "refusal":
		return model.FinishContentFilter
	case "incomplete":
		if mode == model.CodexResponses {
			return model.FinishLength
		}
	case "tool_calls", "tool_use":
		return model.FinishToolCalls
	}
	switch {
	case calls:
		return model.FinishToolCalls
	case want.finish == "pause_turn", want.finish == "compaction":
		return model.FinishPause
	case got.Refusal != "" && mode == model.ChatCompletions:
		return model.FinishContentFilter
	}
	return model.FinishStop
}

// decodeReply reads the reply as a run would.
func decodeReply(r *recording, mode model.Mode, body io.Reader) (reply *model.Reply, failed error) {
	h := http.Header{}
	for k, v := range r.Response.Headers {
		if !strings.EqualFold(k, "Content-Encoding") { // the recording is unzipped
			h.Set(k, v)
		}
	}
	p := &model.Profile{Provider: r.Provider, Model: r.Model, Mode: mode}
	decoders := map[model.Mode]func(*model.Profile) wire.Decoder{
		model.ChatCompletions: chat.NewDecoder, model.CodexResponses: responses.NewDecoder, model.AnthropicMessages: anthropic.NewDecoder,
	}
	for d, err := range wire.Decode(p, "read", time.Unix(1e9, 0), wire.Response{Status: r.Response.Status, Header: h, Body: body}, decoders[mode](p)) {
		if reply, failed = d.Reply, err; err != nil {
			return nil, err
		}
	}
	return reply, nil
}

func classify(t *testing.T, r *recording) *model.Error {
	t.Helper()
	e := model.Classify(model.Failure{Provider: r.Provider, Model: r.Model, Status: r.Response.Status, Body: []byte(r.Response.Body)})
	if e.Class == "" {
		t.Errorf("no class for %d %.300s", r.Response.Status, r.Response.Body)
	}
	return e
}

// summary is what of a reply must not depend on how it was cut.
func summary(r *model.Reply) string {
	if r == nil {
		return "none"
	}
	s := fmt.Sprint(r.Finish, r.Usage, r.ID, r.Model, r.Refusal)
	for _, p := range r.Message.Parts {
		s += fmt.Sprintf(" %s %q", p.Kind, p.Text)
		if p.Call != nil {
			s += fmt.Sprintf(" %q", *p.Call)
		}
		if p.State != nil {
			s += p.State.Kind + p.State.Data
		}
	}
	return s
}

// bytewise gives out one byte at a time.
type bytewise struct{ rest []byte }

func (b *bytewise) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		return 0, io.EOF
	}
	p[0], b.rest = b.rest[0], b.rest[1:]
	return 1, nil
}

func scoreTable(scores map[string]*score) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-38s %9s %8s %8s %6s  %s\n", "api provider", "exchanges", "replies", "streamed", "calls", "failures by class")
	for _, name := range sorted(scores) {
		n := scores[name]
		fmt.Fprintf(&b, "%-38s %9d %8d %8d %6d  %s\n", name, n.exchanges, n.replies, n.streams, n.calls, counts(n.classes))
	}
	return b.String()
}
