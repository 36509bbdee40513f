package rondo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

// family2 is a run with a child and a grandchild.
func family2() *casting {
	return cast(map[string][]step{
		"go":    {asks(`d delegate_task {"goal":"child"}`), says("done")},
		"child": {asks(`e delegate_task {"goal":"grandchild"}`), says("child says")}, "grandchild": {says("grandchild says")},
	})
}

func TestEventsOfChildrenComeWithTheirPath(t *testing.T) {
	var got []string
	var seq int64
	names := map[string]string{}
	a := newAgent(t, rondo.Options{
		Model: family2(), Tools: delegating(rondo.Delegation{MaxDepth: 2}), NewID: ids(),
		Listeners: []rondo.Listener{func(e rondo.Event) {
			if e.Seq <= seq {
				t.Errorf("event %d after %d", e.Seq, seq)
			}
			seq = e.Seq
			if e.Type == rondo.EventText || e.Type == rondo.EventDone || e.Type == rondo.EventToolUse {
				got = append(got, strings.TrimSpace(strings.Join(e.Agent, "/")+" "+string(e.Type)+" "+e.Text))
			}
			names[e.SessionID] += ""
		}},
	})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"tool_use_start", "id03 tool_use_start", "id03/id05 text_delta grandchild", "id03/id05 text_delta says",
		"id03 text_delta child", "id03 text_delta says", "text_delta done", "done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
	if len(names) != 3 {
		t.Errorf("the events name the sessions %v", names)
	}
}

// ids numbers what it is asked for.
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("id%02d", n) }
}

func TestAChildIsAStoredSession(t *testing.T) {
	st := &orderedStore{Memory: store.NewMemory()}
	a := newAgent(t, rondo.Options{Model: family2(), Tools: delegating(rondo.Delegation{MaxDepth: 2}), NewID: ids(), Store: st, System: "Be good."})
	res, err := a.Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	meta, msgs, err := st.Load(t.Context(), "id04")
	if err != nil || meta.Parent != res.SessionID || meta.Relation != store.Delegate || !strings.HasPrefix(meta.System, "Be good.\n\n# You are a child agent") {
		t.Errorf("the child is %+v, %v", meta, err)
	}
	if got := shape(msgs); got != "user:child; assistant:<delegate_task>; tool:done after 1 rounds\ngrandchild says; assistant:child says" {
		t.Errorf("the child's history is %s", got)
	}
	if grandchild, _, err := st.Load(t.Context(), "id06"); err != nil || grandchild.Parent != "id04" {
		t.Errorf("the grandchild is %+v, %v", grandchild, err)
	}
	child, parent := slices.Index(st.saved, "id04 child says"), slices.Index(st.saved, res.SessionID+" done after 2 rounds\nchild says")
	if child < 0 || parent < 0 || child > parent {
		t.Errorf("saved in the order %q", st.saved)
	}
	if parentMeta, _, _ := st.Load(t.Context(), res.SessionID); parentMeta.Calls != 2 || res.APICalls != 5 {
		t.Errorf("the parent's session has %d calls, the result %d", parentMeta.Calls, res.APICalls)
	}
}

// orderedStore notes what is saved.
type orderedStore struct {
	*store.Memory
	saved []string
}

func (s *orderedStore) Append(ctx context.Context, id string, msgs []*message.Message, u store.Update) error {
	return s.Record(ctx, id, msgs, u, nil)
}

func (s *orderedStore) Record(ctx context.Context, id string, msgs []*message.Message, u store.Update, e []store.Effect) error {
	for _, m := range msgs {
		s.saved = append(s.saved, id+" "+m.Text())
	}
	return s.Memory.Record(ctx, id, msgs, u, e)
}

func TestAChildThatFailsIsAnErrorOfItsTask(t *testing.T) {
	m := cast(map[string][]step{"go": {asks(`d delegate_task {"goal":"nobody","context":"at all"}`), says("went on")}})
	res, err := newAgent(t, rondo.Options{Model: m, Tools: delegating(rondo.Delegation{})}).Run(t.Context(), rondo.Request{Text: "go"})
	if err != nil {
		t.Fatal(err)
	}
	got := resultOf(t, res, "d")
	if got.Status != message.StatusError || !strings.Contains(got.Text(), `nobody plays "nobody\n\n# Context\nat all"`) {
		t.Errorf("the result is %s %q", got.Status, got.Text())
	}
}

func TestChildrenMayHaveAModelAndAPromptOfTheirOwn(t *testing.T) {
	child := &fakeModel{steps: []step{says("from the other model")}}
	m := &fakeModel{steps: []step{asks(`d delegate_task {"goal":"x"}`), says("ok")}}
	tools := delegating(rondo.Delegation{Model: child, System: "You help."})
	if _, err := newAgent(t, rondo.Options{Model: m, Tools: tools}).Run(t.Context(), rondo.Request{Text: "go"}); err != nil {
		t.Fatal(err)
	}
	if len(child.requests) != 1 || child.requests[0].System != "You help." || m.calls != 2 {
		t.Errorf("the child's model was asked %d times, the parent's %d times", len(child.requests), m.calls)
	}
}

func TestApprovalKnowsWhoseCallItIs(t *testing.T) {
	var paths []int
	m := cast(map[string][]step{"go": {asks(`d delegate_task {"goal":"child"}`), says("ok")}, "child": {asks("c look"), says("ok")}})
	a := newAgent(t, rondo.Options{
		Model: m, Tools: delegating(rondo.Delegation{}, fixed("look", "x")),
		Approve: func(_ context.Context, r rondo.ApprovalRequest) rondo.Approval {
			paths = append(paths, len(r.Agent))
			return rondo.Approval{Allow: true}
		},
	})
	if _, err := a.Run(t.Context(), rondo.Request{Text: "go"}); err != nil || !slices.Equal(paths, []int{0, 1}) {
		t.Errorf("lengths of the paths are %v, %v", paths, err)
	}
}

func TestAgentToolsOutsideOfAnAgentFail(t *testing.T) {
	for _, tt := range []struct {
		tool *tool.Tool
		args string
	}{{rondo.TodoTool(), `{}`}, {rondo.ClarifyTool(), `{"question":"x"}`}, {rondo.DelegateTool(rondo.Delegation{}), `{"goal":"x"}`}} {
		if _, err := tt.tool.Run(t.Context(), tool.Call{Args: json.RawMessage(tt.args)}); err == nil {
			t.Errorf("%s runs without an agent", tt.tool.Name)
		}
	}
}
