package prompt_test

import (
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/prompt"
)

func TestPromptNamesTheDayAndNotTheHour(t *testing.T) {
	f := prompt.Facts{Workspace: "/w", Platform: "linux/amd64", Model: "m", Tools: true, Day: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)}
	later := f
	later.Day = f.Day.Add(10 * time.Hour)
	got := prompt.Build(f)
	if got != prompt.Build(later) {
		t.Error("two times of one day give different prompts")
	}
	for _, want := range []string{"Workspace: /w", "Platform: linux/amd64", "Model: m", "2026-03-04"} {
		if !strings.Contains(got, want) {
			t.Errorf("the prompt lacks %q:\n%s", want, got)
		}
	}
}

func TestPromptWithoutToolsDoesNotSpeakOfAWorkspace(t *testing.T) {
	if got := prompt.Build(prompt.Facts{Workspace: "/w"}); strings.Contains(got, "Workspace") {
		t.Errorf("the prompt names a workspace:\n%s", got)
	}
}

func TestAPromptIsGivenTheNameOfAnotherModel(t *testing.T) { // scenario 82
	f := prompt.Facts{Model: "first", Day: time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC), Soul: "You help.\nModel: not this line"}
	system := prompt.Build(f)
	f.Model = "second"
	if got, want := prompt.ForModel(system, "second"), prompt.Build(f); got != want || got == system {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := prompt.ForModel("You help.", "second"); got != "You help." {
		t.Errorf("a prompt without a model became %q", got)
	}
}
