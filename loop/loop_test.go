package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// endless asks for the tool in each of n rounds.
func endless(n int, call string) []any {
	var rs []any
	for i := range n {
		rs = append(rs, asks(i, call))
	}
	return rs
}

func TestEachEndReason(t *testing.T) {
	tests := []struct {
		name   string
		host   fakeHost
		limits loop.Limits
		want   loop.Reason
		final  string // a part of the final response
		log    string // what the loop did, where it matters
	}{
		{
			name: "the model answers",
			host: fakeHost{replies: []any{says("hello")}},
			want: loop.EndTurn, final: "hello", log: "call, save assistant",
		},
		{
			name: "tools, then the answer",
			host: fakeHost{replies: []any{asks(1, "read", "grep"), says("found")}},
			want: loop.EndTurn, final: "found",
			log: "call, save assistant, tools read grep, save tool, save tool, call, save assistant",
		},
		{
			name: "refused", host: fakeHost{replies: []any{finish(says(""), model.FinishContentFilter)}},
			want: loop.NoToolCalls, final: "withheld",
		},
		{
			name:   "rounds used up",
			host:   fakeHost{replies: append(endless(2, "read"), says("so far"))},
			limits: loop.Limits{MaxRounds: 2},
			want:   loop.MaxRounds, final: "so far",
			log: "call, save assistant, tools read, save tool, call, save assistant, tools read, save tool, summary, save assistant",
		},
		{
			name:   "rounds used up and no summary to be had",
			host:   fakeHost{replies: append(endless(2, "read"), fails(model.ServerError))},
			limits: loop.Limits{MaxRounds: 2},
			want:   loop.MaxRounds, final: "2 rounds, 2 tool calls of which 0 failed",
		},
		{
			name:   "input tokens used up",
			host:   fakeHost{replies: append(endless(3, "read"), says("so far"))},
			limits: loop.Limits{MaxInputTokens: 250},
			want:   loop.MaxBudget, final: "so far",
		},
		{
			name:   "time used up",
			host:   fakeHost{replies: append(endless(3, "read"), says("so far")), perCall: time.Minute},
			limits: loop.Limits{MaxExecution: 150 * time.Second},
			want:   loop.Deadline, final: "so far",
		},
		{
			name:   "tools fail in a row",
			host:   fakeHost{replies: append(endless(2, "read"), says("broken")), results: map[string]loop.Result{"read": failing("no such file")}},
			limits: loop.Limits{MaxErrors: 2},
			want:   loop.MaxErrors, final: "broken",
		},
		{
			name: "the provider fails again and again",
			host: fakeHost{replies: []any{fails(model.Overloaded)}},
			want: loop.CircuitBreaker,
		},
		{
			name: "the same call with the same result",
			host: fakeHost{replies: append(endless(6, "read"), says("stuck")), results: map[string]loop.Result{"read": same("nothing")}},
			want: loop.LoopDetected, final: "stuck",
		},
		{
			name: "only tools that do not exist",
			host: fakeHost{replies: append(endless(3, "fly"), says("cannot")), results: map[string]loop.Result{"fly": unknown()}},
			want: loop.LoopDetected, final: "cannot",
		},
		{
			name: "stopped during a model call",
			host: fakeHost{replies: []any{asks(1, "read"), says("never")}, cancelAt: 2},
			want: loop.UserCancel, final: "Stopped by the user",
		},
		{
			name: "too large, and no room to be made",
			host: fakeHost{replies: []any{fails(model.ContextOverflow)}, manage: func(overflow bool) error {
				if overflow {
					return fmt.Errorf("compress: %w", loop.ErrOverflow)
				}
				return nil
			}},
			want: loop.ContextOverflow, log: "call, make room",
		},
		{
			name: "compression does not help",
			host: fakeHost{replies: []any{says("never")}, manage: func(bool) error { return fmt.Errorf("pass 5: %w", loop.ErrExhausted) }},
			want: loop.CompactionExhausted, log: "",
		},
		{
			name: "the key is wrong",
			host: fakeHost{replies: []any{fails(model.Auth)}},
			want: loop.FatalError,
		},
		{
			name: "fatal error: nothing answers",
			host: fakeHost{replies: []any{&model.Error{Op: "call", Class: model.Timeout, Err: model.ErrUnreachable}}},
			want: loop.FatalError,
		},
		{
			name: "the store fails",
			host: fakeHost{replies: []any{asks(1, "read")}, saveErr: errors.New("disk full")},
			want: loop.FatalError, log: "call, save assistant",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			h := &tt.host
			h.cancel = cancel
			s := start("please work")
			o := loop.Run(ctx, h, s, tt.limits)
			if o.Reason != tt.want || !strings.Contains(o.Final, tt.final) {
				t.Errorf("ended with %s (%s), final response %q; want %s, %q", o.Reason, o.Detail, o.Final, tt.want, tt.final)
			}
			if got := strings.Join(h.log, ", "); tt.log != "" && got != tt.log {
				t.Errorf("the loop did\n%s\nwant\n%s", got, tt.log)
			}
			if (o.Detail == "") != (tt.want == loop.EndTurn) {
				t.Errorf("detail is %q", o.Detail)
			}
		})
	}
}

func start(text string) *loop.State {
	h, err := message.History{}.Append(message.NewUser(text))
	if err != nil {
		panic(err)
	}
	return &loop.State{History: h}
}

// shape is the history as "role:text" lines.
func shape(h message.History) []string {
	var out []string
	for _, m := range h.Messages() {
		out = append(out, string(m.Role)+":"+m.Text())
	}
	return out
}

func notes(calls []loop.Call) []string {
	var out []string
	for _, c := range calls {
		note := c.Note
		if last := c.History.Last(); last.Role == message.User && c.History.Len() > 1 {
			note = "user: " + last.Text()
		}
		out = append(out, first(note, 24))
	}
	return out
}

func first(s string, n int) string { return s[:min(n, len(s))] }

// Scenarios 30 to 38: odd replies each have one path, it is bounded, and what
// the engine says to the model stays out of the history.
func TestOddReplies(t *testing.T) {
	long := func(text string) *model.Reply { return finish(says(text), model.FinishLength) }
	cutCall := finish(asks(1, "write"), model.FinishLength)
	pause := func(text string) *model.Reply { return finish(says(text), model.FinishPause) }
	tests := []struct {
		name    string
		replies []any
		want    loop.Reason
		calls   int
		history []string // after the user's message
		notes   []string
	}{
		{
			name: "cut by length twice, then finished", replies: []any{long("part one "), long("part two "), says("end")},
			want: loop.EndTurn, calls: 3, history: []string{"assistant:part one part two end"},
			notes: []string{"", "user: Your reply was cut", "user: Your reply was cut"},
		},
		{
			name: "cut by length for ever", replies: []any{long("more ")},
			want: loop.NoToolCalls, calls: 4, history: []string{"assistant:more more more more "},
		},
		{
			name: "cut inside of a call for ever", replies: []any{cutCall},
			want: loop.NoToolCalls, calls: 4, history: []string{"assistant:[a tool call was cut off by the limit on the reply's length, 4 times]"},
			notes: []string{"", "Your last tool call was ", "Your last tool call was ", "Your last tool call was "},
		},
		{
			name: "only thinking, cut by length", replies: []any{finish(thinks("hm"), model.FinishLength), says("short")},
			want: loop.EndTurn, calls: 2, history: []string{"assistant:short"}, notes: []string{"", "Your thinking used up th"},
		},
		{
			name: "blanks, then an answer", replies: []any{says("\n\n"), says("here")},
			want: loop.EndTurn, calls: 2, history: []string{"assistant:here"},
		},
		{
			name: "empty, then an answer", replies: []any{says(""), says("here")},
			want: loop.EndTurn, calls: 2, history: []string{"assistant:here"}, notes: []string{"", "Your last reply was empt"},
		},
		{
			name: "empty for ever", replies: []any{says("")},
			want: loop.NoToolCalls, calls: 4, history: []string{"assistant:[the model sent an empty reply, 4 times]"},
		},
		{
			name: "only thinking for ever", replies: []any{thinks("hm")},
			want: loop.NoToolCalls, calls: 3, history: []string{"assistant:[the model thought and gave no answer, 3 times]"},
		},
		{
			name: "calls announced and absent for ever", replies: []any{announced(says("I will look"))},
			want: loop.NoToolCalls, calls: 4, history: []string{"assistant:I will look"},
		},
		{
			name: "paused, then finished", replies: []any{pause("searching "), says("done")},
			want: loop.EndTurn, calls: 2, history: []string{"assistant:searching done"}, notes: []string{"", ""},
		},
		{
			name: "refused in words", replies: []any{&model.Reply{Message: message.NewAssistant(), Finish: model.FinishContentFilter, Refusal: "I cannot."}},
			want: loop.NoToolCalls, calls: 1, history: []string{"assistant:I cannot."},
		},
		{
			name: "text goes on into a call", replies: []any{long("Let me "), asks(1, "read"), says("done")},
			want: loop.EndTurn, calls: 3, history: []string{"assistant:Let me ", "tool:result 3", "assistant:done"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := &fakeHost{replies: tt.replies}
			s := start("go")
			o := loop.Run(t.Context(), h, s, loop.Limits{})
			if o.Reason != tt.want || len(h.calls) != tt.calls {
				t.Errorf("ended with %s (%s) after %d calls; want %s after %d", o.Reason, o.Detail, len(h.calls), tt.want, tt.calls)
			}
			if diff := cmp.Diff(tt.history, shape(s.History)[1:]); diff != "" {
				t.Errorf("history (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.notes, notes(h.calls)); tt.notes != nil && diff != "" {
				t.Errorf("notes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCutCallGetsMoreRoomEachTime(t *testing.T) {
	h := &fakeHost{replies: []any{finish(asks(1, "write"), model.FinishLength), finish(asks(1, "write"), model.FinishLength), says("ok")}}
	loop.Run(t.Context(), h, start("go"), loop.Limits{})
	var got []int
	for _, c := range h.calls {
		got = append(got, c.Boost)
	}
	if diff := cmp.Diff([]int{0, 1, 2}, got); diff != "" {
		t.Errorf("boost (-want +got):\n%s", diff)
	}
}

func TestRepeatedCallIsToldAtTheThirdAndStoppedAtTheSixthTime(t *testing.T) {
	h := &fakeHost{replies: append(endless(6, "read"), says("stuck")), results: map[string]loop.Result{"read": same("nothing")}}
	loop.Run(t.Context(), h, start("go"), loop.Limits{})
	want := []string{"", "", "", "The same call of read ha", "", "", "The run ends here: the s"}
	if diff := cmp.Diff(want, notes(h.calls)); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestModelIsToldOnceThatItsRoundsRunOut(t *testing.T) {
	h := &fakeHost{replies: append(endless(20, "read"), says("so far"))}
	loop.Run(t.Context(), h, start("go"), loop.Limits{MaxRounds: 20})
	for i, c := range h.calls {
		if told := strings.HasPrefix(c.Note, "This is round 19 of 20."); told != (i == 18) {
			t.Errorf("call %d has the note %q", i+1, c.Note)
		}
	}
}

// Scenario 70.
func TestSteeringGoesInWithTheLastResult(t *testing.T) {
	h := &fakeHost{replies: []any{asks(1, "read", "grep"), says("done")}, steering: map[int][]string{1: {"mind the tests"}}}
	s := start("go")
	loop.Run(t.Context(), h, s, loop.Limits{})
	got := shape(s.History)
	if !strings.Contains(got[3], "mind the tests") || strings.Contains(got[2], "mind the tests") {
		t.Errorf("history is %q", got)
	}
}

func TestWhatIsSaidDuringTheLastReplyFollowsIt(t *testing.T) {
	h := &fakeHost{replies: []any{says("done"), says("that too")}, steering: map[int][]string{1: {"and the docs?"}}}
	s := start("go")
	o := loop.Run(t.Context(), h, s, loop.Limits{})
	want := []string{"user:go", "assistant:done", "user:and the docs?", "assistant:that too"}
	if diff := cmp.Diff(want, shape(s.History)); diff != "" || o.Final != "that too" {
		t.Errorf("final response %q, history (-want +got):\n%s", o.Final, diff)
	}
}

func TestOverflowMakesRoomAndAsksOnceMore(t *testing.T) {
	h := &fakeHost{replies: []any{fails(model.ContextOverflow), says("fits")}}
	o := loop.Run(t.Context(), h, start("go"), loop.Limits{})
	if got := strings.Join(h.log, ", "); o.Reason != loop.EndTurn || got != "call, make room, call, save assistant" {
		t.Errorf("ended with %s after %s", o.Reason, got)
	}
}

func TestStoppedRunLeavesAHistoryThatGoesOn(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := &fakeHost{replies: []any{asks(1, "read"), says("never")}, cancelAt: 2, cancel: cancel}
	s := start("go")
	o := loop.Run(ctx, h, s, loop.Limits{})
	if o.Reason != loop.UserCancel || len(s.History.OpenCalls()) != 0 || s.History.Last().Role != message.Tool {
		t.Fatalf("ended with %s, history %q", o.Reason, shape(s.History))
	}
	h.cancelAt = 0
	h.replies = []any{says("now")}
	if o := loop.Run(t.Context(), h, s, loop.Limits{}); o.Reason != loop.EndTurn || o.Final != "now" {
		t.Errorf("the second run ended with %s, %q", o.Reason, o.Final)
	}
}

func TestOpenCallsAreRunBeforeTheModelIsAsked(t *testing.T) {
	h := &fakeHost{replies: []any{says("done")}}
	s := start("go")
	calls := asks(1, "read", "write").Message
	for _, m := range []*message.Message{calls, message.NewResult(calls.Calls()[0], message.StatusOK, "known")} {
		var err error
		if s.History, err = s.History.Append(m); err != nil {
			t.Fatal(err)
		}
	}
	o := loop.Run(t.Context(), h, s, loop.Limits{})
	if got := strings.Join(h.log, ", "); o.Reason != loop.EndTurn || got != "tools write, save tool, call, save assistant" {
		t.Errorf("%s after %s", o.Reason, got)
	}
}

func TestDeadlineDuringACallEndsWithWhatIsOnRecord(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	h := &fakeHost{replies: []any{asks(1, "read"), fails(model.Timeout)}}
	cancel(loop.ErrDeadline)
	s := start("go")
	if o := loop.Run(ctx, h, s, loop.Limits{}); o.Reason != loop.Deadline {
		t.Errorf("ended with %s (%s)", o.Reason, o.Detail)
	}
}
