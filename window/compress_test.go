package window_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/window"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// compress makes one pass of the default engine.
func compress(t *testing.T, v *window.View, c *window.Compressor) window.Outcome {
	t.Helper()
	k := window.Keeper{Engine: c}
	o, err := k.Compress(t.Context(), v, noon)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// long is a task of n rounds with results of size characters.
func long(n, size int) []*message.Message {
	msgs := []*message.Message{message.NewUser("Mend the parser.")}
	for i := range n {
		msgs = append(msgs, round(i, size)...)
	}
	return msgs
}

func TestCutMovesBackToTheWholeRound(t *testing.T) { // case 25
	call := message.NewAssistant(message.Call("A", "ls", "{}"), message.Call("B", "ls", "{}"), message.Call("C", "ls", "{}"))
	msgs := []*message.Message{
		message.NewUser("u1 " + words(3000)), message.NewAssistant(message.Text("a1 " + words(3000))), message.NewUser("u2"), call,
	}
	for i, c := range call.Calls() {
		msgs = append(msgs, message.NewResult(c, message.StatusOK, "r"+string(rune('a'+i))))
	}
	v := view(history(msgs...), 2000, 100, says("S"))
	o := compress(t, v, &window.Compressor{ProtectLast: 2})
	if o.Failure != nil {
		t.Fatal(o.Failure)
	}
	got := o.History.Messages()
	if want := msgs[2:]; !slices.Equal(got[len(got)-len(want):], want) {
		t.Errorf("the round of u2 was not kept as it was: %d messages", len(got))
	}
	if text := got[0].Text(); !strings.Contains(text, "S") || !strings.Contains(text, "for reference only") {
		t.Errorf("the summary reads %q", text)
	}
	if asked := v.Summariser.(*writer).asked[0]; strings.Contains(asked, "u2") || !strings.Contains(asked, "u1") {
		t.Error("the summariser was shown what is kept, or not what is left out")
	}
}

func TestOldResultsShrinkBeforeAnythingIsSummarised(t *testing.T) {
	s := says("never")
	msgs := long(1, 20000)
	for i := 1; i < 14; i++ {
		msgs = append(msgs, round(i, 200)...)
	}
	v := view(history(msgs...), 12000, 500, s)
	saved := map[string]string{}
	v.Spill = func(c *message.ToolCall, text string) (string, error) {
		saved[c.ID] = text
		return "spill/" + c.ID + ".txt", nil
	}
	o := compress(t, v, &window.Compressor{})
	if o.Method != window.Shrunk || len(s.asked) > 0 {
		t.Fatalf("method %s, %d summaries, %v", o.Method, len(s.asked), o.Failure)
	}
	line := o.History.Messages()[2].Text()
	if want := `[An old result, shrunk: read {"path":"dir/file0.go"}: ok, 1539 lines, 20003 characters; the whole is in spill/c0.txt]`; line != want {
		t.Errorf("the result reads\n%s, want\n%s", line, want)
	}
	if len(saved) != 1 || saved["c0"] != msgs[2].Text() {
		t.Errorf("%d results were saved", len(saved))
	}
}

func TestASecondCompressionBringsTheSummaryUpToDate(t *testing.T) {
	s := &writer{says: func(string) string { return "## Goal\nparser" }}
	first := compress(t, view(history(long(40, 400)...), 8000, 500, s), &window.Compressor{})
	msgs := slices.Clone(first.History.Messages())
	for i := 40; i < 80; i++ {
		msgs = append(msgs, round(i, 400)...)
	}
	s.says = func(string) string { return "## Goal\nparser, again" }
	v := view(history(msgs...), 8000, 500, s)
	v.Carry = []window.Section{{Title: "To do", Text: "- [ ] test it"}}
	o := compress(t, v, &window.Compressor{})
	if o.Failure != nil {
		t.Fatal(o.Failure)
	}
	text := o.History.Messages()[0].Text()
	for _, want := range []string{"parser, again", "dir/file3.go", "dir/file70.go", "- [ ] test it"} {
		if !strings.Contains(text, want) {
			t.Errorf("the summary lacks %q:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "for reference only"); n != 1 {
		t.Errorf("%d summaries are nested", n)
	}
	last := s.asked[len(s.asked)-1]
	if strings.Count(last, "## Goal\nparser") != 1 || strings.Contains(last, "for reference only") {
		t.Errorf("the summariser was not given the earlier summary once:\n%s", last)
	}
}

func TestLongRecordsAreSummarisedInPartsThatFit(t *testing.T) {
	s := &writer{says: func(asked string) string { return "sum" }, room: 3000}
	o := compress(t, view(history(long(150, 600)...), 40000, 500, s), &window.Compressor{})
	if o.Failure != nil || len(s.asked) < 3 {
		t.Fatalf("%d calls, %v", len(s.asked), o.Failure)
	}
	for _, asked := range s.asked {
		if n := window.Text(asked) / 3; n > 3000 {
			t.Errorf("a call of %d tokens for a summariser of 3000", n)
		}
	}
	if last := s.asked[len(s.asked)-1]; !strings.Contains(last, "Summary of part 1:") {
		t.Errorf("the parts were not merged:\n%s", last)
	}
}

func TestSecretsStayOutOfSummaries(t *testing.T) {
	msgs := append([]*message.Message{message.NewUser("The key is hunter2hunter2.")}, round(99, 300)...)
	msgs = append(msgs, message.NewAssistant(message.Text("ok, hunter2hunter2")), message.NewUser("go on"))
	msgs = append(msgs, long(30, 900)[1:]...)
	s := &writer{says: func(string) string { return "It is hunter2hunter2." }}
	v := view(history(msgs...), 9000, 100, s)
	v.Hide = func(text string) string { return strings.ReplaceAll(text, "hunter2hunter2", "[key]") }
	o := compress(t, v, &window.Compressor{})
	if o.Failure != nil {
		t.Fatal(o.Failure)
	}
	if strings.Contains(strings.Join(s.asked, ""), "hunter2") || strings.Contains(o.History.Messages()[0].Text(), "hunter2") {
		t.Error("a secret was sent to the summariser or kept in the summary")
	}
}

func TestWithoutAModelTheRecordDoesWhenItCannotWait(t *testing.T) {
	s := &writer{fails: errDown}
	v := view(history(long(40, 400)...), 8000, 500, s)
	k := window.Keeper{Engine: &window.Compressor{}}
	o, err := k.Compress(t.Context(), v, noon)
	if err != nil || !errors.Is(o.Failure, window.ErrSummariser) || o.History.Len() != v.History.Len() {
		t.Fatalf("a summariser that is down: %v, %v", o.Failure, err)
	}
	if phase := k.State.Phase(v.Tokens, noon.Add(59*time.Second)); phase != "cooling" {
		t.Errorf("afterwards the state is %s", phase)
	}
	v.Hard = true
	o, err = k.Compress(t.Context(), v, noon.Add(time.Second))
	if err != nil || o.Failure != nil || o.Method != window.Recorded {
		t.Fatalf("the record: %s, %v, %v", o.Method, o.Failure, err)
	}
	if len(s.asked) != 1 {
		t.Errorf("the summariser was asked %d times while it cooled", len(s.asked))
	}
	if text := o.History.Messages()[0].Text(); !strings.Contains(text, "read ") || !strings.Contains(text, "dir/file0.go") {
		t.Errorf("the record reads %s", text)
	}
}

func TestWhatASummariserDoesWrongIsNotWaitedFor(t *testing.T) { // scenario 97
	failed := func(c model.Class) *writer { return &writer{fails: &model.Error{Class: c, Err: errDown}} }
	for name, c := range map[string]struct {
		s    *writer
		want window.Method
	}{
		"no network": {&writer{fails: errDown}, ""}, "timeout": {failed(model.Timeout), ""}, "rate limit": {failed(model.RateLimit), ""},
		"refused key": {failed(model.Auth), ""}, "server error": {failed(model.ServerError), window.Recorded},
		"bad request": {failed(model.InvalidRequest), window.Recorded}, "empty": {says(" \n"), window.Recorded},
	} {
		v := view(history(long(40, 400)...), 8000, 500, c.s)
		k := window.Keeper{Engine: &window.Compressor{}}
		o, err := k.Compress(t.Context(), v, noon)
		if err != nil || o.Method != c.want || (o.Failure == nil) != (c.want != "") {
			t.Errorf("%s: %q, %v, %v", name, o.Method, o.Failure, err)
		}
		if phase := k.State.Phase(v.Tokens, noon.Add(59*time.Second)); phase != "cooling" {
			t.Errorf("%s: afterwards the state is %s", name, phase)
		}
	}
}

func TestACompressorThatIsAloneAsksNobody(t *testing.T) {
	s := says("a summary")
	v := view(history(long(40, 400)...), 8000, 500, s)
	v.BeforeSummary = func(context.Context, string) { t.Error("something is asked before the summary") }
	k := window.Keeper{Engine: &window.Compressor{Alone: true}}
	o, err := k.Compress(t.Context(), v, noon)
	if err != nil || o.Failure != nil || o.Method != window.Recorded || len(s.asked) > 0 {
		t.Errorf("%s, asked %d times, %v, %v", o.Method, len(s.asked), o.Failure, err)
	}
	if !k.State.Until.IsZero() {
		t.Error("nobody was asked, and yet somebody is left alone")
	}
}

func TestTheUserMayHaveASummariserAskedThatCools(t *testing.T) {
	s := says("a summary")
	v := view(history(long(40, 400)...), 8000, 500, s)
	v.Asked = true
	k := window.Keeper{Engine: &window.Compressor{}, State: window.State{Until: noon.Add(time.Minute)}}
	if o, err := k.Compress(t.Context(), v, noon); err != nil || o.Method != window.Summarised {
		t.Errorf("%s, %v, %v", o.Method, o.Failure, err)
	}
}

func TestAnInterruptedCompressionChangesNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &writer{says: func(string) string { cancel(); return "late" }}
	v := view(history(long(40, 400)...), 8000, 500, s)
	k := window.Keeper{Engine: &window.Compressor{}}
	o, err := k.Compress(ctx, v, noon)
	if !errors.Is(err, context.Canceled) || o.History.Len() != v.History.Len() || k.State != (window.State{}) {
		t.Errorf("%v, %d messages, state %+v", err, o.History.Len(), k.State)
	}
}
