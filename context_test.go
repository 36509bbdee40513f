package rondo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// talk is a history of so many turns of about 500 tokens each.
func talk(turns int) []*message.Message {
	var msgs []*message.Message
	for i := range turns {
		msgs = append(msgs, message.NewUser(fmt.Sprintf("question %d %s", i, strings.Repeat("word ", 150))),
			message.NewAssistant(message.Text(fmt.Sprintf("answer %d %s", i, strings.Repeat("word ", 150)))))
	}
	return msgs
}

// small opens a scripted model with a window of 10,000 tokens.
func small(t *testing.T, script string) (model.Model, *modeltest.Server) {
	t.Helper()
	scripts, err := modeltest.Parse(t.Name(), script)
	if err != nil {
		t.Fatal(err)
	}
	return pipeModel(t, model.ChatCompletions, 10_000, modeltest.Options{Scripts: scripts}, model.Quirks{})
}

// compactions keeps the events of compressions.
type compactions []rondo.Event

func (c *compactions) listener() rondo.Listener {
	return func(e rondo.Event) {
		if e.Type == rondo.EventCompaction {
			*c = append(*c, e)
		}
	}
}

const summaryRule = "reply when system \"You compress the record\"\n  text The user asked questions.\n"

func TestALongHistoryIsCompressedBeforeTheFirstCall(t *testing.T) { // scenarios 94, 95, 103
	m, srv := small(t, summaryRule+"reply\n  text done\n")
	st := store.NewMemory()
	var told compactions
	a := newAgent(t, rondo.Options{Model: m, Store: st, Listeners: []rondo.Listener{told.listener()}})
	history := talk(14)
	res, err := a.Run(t.Context(), rondo.Request{Text: "and now this", History: history})
	if err != nil {
		t.Fatal(err)
	}
	if len(told) != 2 || told[0].Compaction.Done || !told[1].Compaction.Done || told[1].Compaction.Failure != "" {
		t.Fatalf("events %+v", told)
	}
	end := told[1].Compaction
	if end.TokensAfter >= end.TokensBefore || end.MessagesAfter >= end.MessagesBefore || end.Parent == "" || told[1].SessionID != res.SessionID {
		t.Errorf("the end is told as %+v", end)
	}
	sent := srv.Requests()[len(srv.Requests())-1].Messages
	if last := sent[len(sent)-1].Text(); last != "and now this" {
		t.Errorf("the request ends on %q", last)
	}
	if before := sent[len(sent)-2].Text(); !strings.HasPrefix(before, "answer 13") {
		t.Errorf("before it stands %q", before)
	}
	parent, whole, err := st.Load(t.Context(), end.Parent)
	if err != nil || len(whole) != 29 || parent.EndReason != store.Compression {
		t.Errorf("the parent has %d messages, ended by %q, %v", len(whole), parent.EndReason, err)
	}
	if hits, _ := st.Search(t.Context(), `"answer 13"`, store.SearchOptions{}); len(hits) != 1 {
		t.Errorf("a message that stayed is found %d times", len(hits))
	}
	if len(history) != 28 {
		t.Error("the caller's history was changed")
	}
}

func TestASessionIsFoundByItsFirstIDAfterCompressions(t *testing.T) {
	m, _ := small(t, summaryRule+"reply times forever\n  text done\n")
	st := store.NewMemory()
	o := rondo.Options{Model: m, Store: st, System: "first prompt"}
	first := newAgent(t, o).Session("")
	old := first.ID()
	if _, err := first.Run(t.Context(), rondo.Request{Text: "hello", History: talk(14)}); err != nil {
		t.Fatal(err)
	}
	tip := first.ID()
	first.Close()
	o.System = "second prompt"
	res, err := newAgent(t, o).Run(t.Context(), rondo.Request{SessionID: old, Text: "go on"})
	if err != nil || tip == old || res.SessionID != tip {
		t.Errorf("session %s went on as %s and is resumed as %s, %v", old, tip, res.SessionID, err)
	}
}

func TestARefusedPromptIsCompressedAndSentAgain(t *testing.T) { // scenarios 90, 92
	overflow := "reply\n  status 400 This model's maximum context length is 4000 tokens.\n  code context_length_exceeded\n"
	m, srv := small(t, summaryRule+overflow+"reply\n  text done\n")
	res, err := newAgent(t, rondo.Options{Model: m}).Run(t.Context(), rondo.Request{Text: "now", History: talk(6)})
	if err != nil || res.FinalResponse != "done" {
		t.Fatalf("%q, %v", res.FinalResponse, err)
	}
	if n := len(srv.Requests()); n != 3 {
		t.Errorf("%d requests, want 3: refused, summary, again", n)
	}
}

func TestAPromptThatCannotBeMadeSmallerEndsTheRun(t *testing.T) {
	overflow := "reply times forever\n  status 413 Payload too large\n"
	m, srv := small(t, overflow)
	res, err := newAgent(t, rondo.Options{Model: m}).Run(t.Context(), rondo.Request{Text: "now"})
	if res.Reason != loop.ContextOverflow || !errors.Is(err, loop.ErrOverflow) {
		t.Errorf("%s, %v", res.Reason, err)
	}
	if n := len(srv.Requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// fat counts an overhead of 7,600 tokens with each prompt.
type fat struct{ *fakeModel }

func (fat) Profile() *model.Profile {
	return &model.Profile{Provider: "fake", Model: "m", ContextWindow: 8000}
}

func TestCompactionWithoutProgressEndsTheRun(t *testing.T) { // case 26
	n := 0
	f := &fakeModel{steps: []step{func(ctx context.Context, yield func(model.Delta) bool) (*model.Reply, error) {
		n++
		reply, err := asks(fmt.Sprintf("c%d look", n))(ctx, yield)
		reply.Usage.Input = 7600 + int64(20*n)
		return reply, err
	}}}
	a := newAgent(t, rondo.Options{Model: fat{f}, Tools: []*tool.Tool{fixed("look", "x")}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "hi"})
	if res.Reason != loop.CompactionExhausted && res.Reason != loop.ContextOverflow || n > 12 {
		t.Errorf("%s after %d calls", res.Reason, n)
	}
	if err == nil || !strings.Contains(err.Error(), "system prompt and tools") {
		t.Errorf("the error does not name the overhead: %v", err)
	}
}

func TestTheModelIsToldOnceThatItsWindowIsNearlyFull(t *testing.T) { // L3
	m, srv := small(t, "reply times 2\n  call look {}\nreply\n  text done\n")
	a := newAgent(t, rondo.Options{Model: m, Context: rondo.ContextOptions{Off: true}, Tools: []*tool.Tool{fixed("look", "x")}, Store: store.NewMemory()})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go", History: talk(14)}); err != nil {
		t.Fatal(err)
	}
	for i, r := range srv.Requests() {
		if got := strings.Count(string(r.Body), "context window is"); got != map[bool]int{true: 1}[i == 0] {
			t.Errorf("request %d tells it %d times", i+1, got)
		}
	}
}

// An engine may bring tools of its own.
type archive struct{ window.Compressor }

func (*archive) Tools() []*tool.Tool { return []*tool.Tool{fixed("recall", "it was blue")} }

func TestToolsOfTheEngineAreOffered(t *testing.T) {
	m, srv := small(t, "reply\n  call recall {}\nreply\n  text blue\n")
	a := newAgent(t, rondo.Options{Model: m, Context: rondo.ContextOptions{Engine: &archive{}}})
	res, err := a.Run(t.Context(), rondo.Request{Text: "What colour was it?"})
	if err != nil || res.Messages[2].Text() != "it was blue" || len(srv.Requests()[0].Tools) != 1 {
		t.Errorf("%s, %v", shape(res.Messages), err)
	}
}

// Scenario 93: a limit on replies is lowered, and nothing is compressed.
func TestAReplyThatMayNotBeSoLongIsAskedForShorter(t *testing.T) {
	refusal := "reply\n  status 400 max_tokens is too large: 2000. This model supports at most 1000 completion tokens, whereas you provided 2000.\n  code invalid_value\n"
	m, srv := small(t, refusal+"reply times forever\n  text done\n")
	var told compactions
	limits := resilient.NewLimits(resilient.BoundsOptions{})
	a := newAgent(t, rondo.Options{Model: limits.Wrap(m, resilient.Fixed{}), Listeners: []rondo.Listener{told.listener()}})
	s := a.Session("")
	defer s.Close()
	for range 2 {
		if res, err := s.Run(t.Context(), rondo.Request{Text: "hello"}); err != nil || res.FinalResponse != "done" {
			t.Fatalf("%q, %v", res.FinalResponse, err)
		}
	}
	var asked []int
	for _, r := range srv.Requests() {
		asked = append(asked, r.MaxOutputTokens)
	}
	if !slices.Equal(asked, []int{2000, 1000, 1000}) || len(told) > 0 {
		t.Errorf("asked for at most %v tokens, with %d events of compressions", asked, len(told))
	}
}

func TestTheUserMayAskForACompression(t *testing.T) {
	m, srv := small(t, summaryRule+"reply times forever\n  text done\n")
	s := newAgent(t, rondo.Options{Model: m, Store: store.NewMemory()}).Session("")
	defer s.Close()
	if _, err := s.Compress(t.Context(), rondo.CompressRequest{}); !errors.Is(err, rondo.ErrNothingToCompress) {
		t.Errorf("an empty session: %v", err)
	}
	if _, err := s.Run(t.Context(), rondo.Request{Text: "hello", History: talk(5)}); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Compress(t.Context(), rondo.CompressRequest{Over: 0.85}); err != nil || c.Done {
		t.Errorf("a session that is not nearly full: %+v, %v", c, err)
	}
	c, err := s.Compress(t.Context(), rondo.CompressRequest{Focus: "the heron"})
	if err != nil || c.Trigger != rondo.TriggerRequested || c.TokensAfter >= c.TokensBefore {
		t.Errorf("%+v, %v", c, err)
	}
	asked := srv.Requests()[len(srv.Requests())-1].LastUser()
	if !strings.Contains(asked, "the heron") {
		t.Error("the summariser was not told what to keep")
	}
	if _, err := s.Run(t.Context(), rondo.Request{Text: "go on"}); err != nil {
		t.Error(err)
	}
	if f := srv.Faults(); len(f) > 0 {
		t.Error(f)
	}
}
