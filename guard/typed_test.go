package guard

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/tool"
)

func TestWhatIsTypedIsJudgedAndHeldToIt(t *testing.T) {
	typed := &tool.Typed{Command: "cd sub && bash"}
	talk := &tool.Tool{Name: "talk", Toolset: "shell", Types: func(tool.Call) *tool.Typed {
		if typed == nil {
			return nil
		}
		now := *typed
		return &now
	}}
	g := New(Options{Workspace: t.TempDir(), Home: "/home/me"})
	typed.Text = "rm -rf /\n"
	if out := g.Decide(t.Context(), Request{Tool: talk}); out.Allow || !strings.HasPrefix(out.Reason, "typed into cd sub && bash: ") {
		t.Errorf("got %+v", out)
	}
	typed.Text = "ls\n"
	out := g.Decide(t.Context(), Request{Tool: talk})
	if !out.Allow || out.Check() != nil {
		t.Fatalf("got %+v", out)
	}
	typed.Before = "rm -rf "
	if err := out.Check(); err == nil || !strings.Contains(err.Error(), "something else was typed") {
		t.Errorf("error %v", err)
	}
	typed = nil
	if out := g.Decide(t.Context(), Request{Tool: talk}); !out.Allow {
		t.Errorf("a call that types nothing: %+v", out)
	}
}
