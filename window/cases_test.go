package window_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/window"
)

// compactionCase is what a shared case of the kind compaction may hold.
type compactionCase struct {
	ID, Kind string
	Given    struct {
		History []*message.Message
		Config  struct {
			ProtectLast int `json:"protect_last_n"`
			Summary     string
		}
	}
	Want struct {
		KeptFrom *int     `json:"kept_from_index_max"`
		MustKeep []string `json:"must_keep"`
	}
}

func compactionCases(t *testing.T) []compactionCase {
	t.Helper()
	root := os.Getenv("RONDO_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "shared")
	}
	files, err := filepath.Glob(filepath.Join(root, "cases", "dev", "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("no shared/cases beside the repository; RONDO_SHARED names another place")
	}
	var all []compactionCase
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var kind struct{ Kind string }
		if json.Unmarshal(data, &kind) != nil || kind.Kind != "compaction" {
			continue
		}
		var c compactionCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, c)
	}
	return all
}

func TestSharedCasesOfCompaction(t *testing.T) {
	ran := 0
	for _, c := range compactionCases(t) {
		if c.Want.KeptFrom == nil && c.Want.MustKeep == nil {
			continue // about a whole run
		}
		ran++
		t.Run(c.ID, func(t *testing.T) {
			h, _ := message.Normalise(c.Given.History)
			v := view(h, 100, 10, says(c.Given.Config.Summary))
			v.Asked = true
			p, err := (&window.Compressor{ProtectLast: c.Given.Config.ProtectLast}).Compress(t.Context(), v)
			if err != nil {
				t.Fatal(err)
			}
			checkCase(t, c, h.Messages(), p.Messages)
		})
	}
	if ran == 0 {
		t.Error("no case was run")
	}
}

// checkCase checks what a compression kept of a history as it was.
func checkCase(t *testing.T, c compactionCase, before, after []*message.Message) {
	t.Helper()
	if _, changes := message.Normalise(after); len(changes) > 0 {
		t.Errorf("not valid: %v", changes)
	}
	var kept []string
	first := len(before)
	for _, m := range after {
		i := slices.Index(before, m)
		if i < 0 {
			continue
		}
		first = min(first, i)
		kept = append(kept, m.Text())
		for _, call := range m.Calls() {
			kept = append(kept, call.ID)
		}
	}
	for _, want := range c.Want.MustKeep {
		if !slices.ContainsFunc(kept, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not kept: %q", want, kept)
		}
	}
	if c.Want.KeptFrom != nil && first > *c.Want.KeptFrom {
		t.Errorf("kept from message %d on, want %d at most", first, *c.Want.KeptFrom)
	}
}
