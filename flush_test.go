package rondo_test

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/memory"
	"github.com/rondo-engine/rondo/tool"
)

func TestMemoryIsSavedBeforeASummary(t *testing.T) {
	for name, c := range map[string]struct{ flush, want string }{
		"saved":  {"  call memory {\"action\":\"add\",\"target\":\"user\",\"content\":\"Likes short answers.\"}\n", "Likes short answers."},
		"failed": {"  status 400 no\n", ""},
	} {
		m, srv := small(t, "reply when system \"about to be summarised\"\n"+c.flush+summaryRule+"reply times forever\n  text done\n")
		mem := memory.Open(t.TempDir(), memory.Options{})
		a := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{mem.Tool()}, Context: rondo.ContextOptions{Memory: mem.Tool()}})
		res, err := a.Run(t.Context(), rondo.Request{Text: "and now", History: talk(14)})
		if err != nil || res.FinalResponse != "done" {
			t.Errorf("%s: %q, %v", name, res.FinalResponse, err)
		}
		if got, err := mem.Entries(memory.User); err != nil || strings.Join(got, "|") != c.want {
			t.Errorf("%s: remembered %q, %v", name, got, err)
		}
		first := srv.Requests()[0]
		if len(first.Tools) != 1 || !strings.Contains(first.LastUser(), "question 3") {
			t.Errorf("%s: the first request has %d tools", name, len(first.Tools))
		}
	}
}
