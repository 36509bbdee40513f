package replay

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/loop"
)

var update = flag.Bool("update", false, "write the table of the replayed sessions anew")

// tally counts what came of the sessions of one API of one provider.
type tally struct {
	sessions, requests, alike int
	causes                    map[string]int
	ends                      map[string]int
}

func TestRecordedSessionsRunThroughTheLoop(t *testing.T) {
	tallies, why := map[string]*tally{}, map[string]string{}
	for _, recordings := range sessions(t) {
		name := recordings[0].API + " " + recordings[0].Provider
		n := tallies[name]
		if n == nil {
			n = &tally{causes: map[string]int{}, ends: map[string]int{}}
			tallies[name] = n
		}
		t.Run(recordings[0].ID, func(t *testing.T) {
			p := &player{t: t, strays: map[int]bool{}}
			for _, r := range recordings {
				p.steps = append(p.steps, newStep(t, r))
			}
			p.play()
			n.sessions++
			for i := range p.steps {
				compare(t, p, i, n, why)
			}
		})
	}
	if t.Failed() {
		return
	}
	checkTable(t, table(tallies, why))
}

// compare holds request i of a session, and the end of the run that it was the
// last of, against what was recorded.
func compare(t *testing.T, p *player, i int, n *tally, why map[string]string) {
	t.Helper()
	s := p.steps[i]
	n.requests++
	if p.sent[i] == nil {
		n.causes[notAsked.name]++
		why[notAsked.name] = notAsked.why
		return
	}
	got, err := readPlainly(s.mode, p.sent[i])
	if err != nil {
		t.Fatal(err)
	}
	found, open := explain(p, i, diff(s.plain, got))
	for _, c := range found {
		n.causes[c.name]++
		why[c.name] = c.why
	}
	if len(found)+len(open) == 0 {
		n.alike++
	}
	for _, d := range open {
		t.Errorf("request %d: %s %.300s", i, d.kind, d.text)
	}
	if end := p.ends[i]; end.Reason != "" {
		kind, ok := p.ended(i)
		if !ok {
			t.Errorf("request %d: the run ended with %s (%s) and %.200q", i, end.Reason, end.Detail, end.FinalResponse)
		}
		n.ends[kind]++
	}
}

// ended names how the run that request i was the last of ended, and tells
// whether the recording ended so, too.
func (p *player) ended(i int) (kind string, ok bool) {
	end, s := p.ends[i], p.steps[i]
	text := squeeze(visibleText(s.mode, s.Response.Body))
	switch {
	case end.Reason == loop.EndTurn:
		return "answered", end.FinalResponse != "" && strings.HasSuffix(text, squeeze(end.FinalResponse))
	case end.Reason == loop.UserCancel && p.strays[i]:
		return "cut or empty, where only rondo goes on", true
	case end.Reason == loop.UserCancel:
		return "calls left open", true
	case s.Response.Status >= 400 || strings.Contains(s.Response.Body, `"error"`):
		return "error", failed(end.Reason)
	case strings.Contains(s.Response.Body, `"status":"queued"`) || strings.Contains(s.Response.Body, `"status": "queued"`):
		return "left in a queue", failed(end.Reason)
	}
	return string(end.Reason), end.Reason == loop.NoToolCalls && strings.Contains(s.Response.Body, "refusal")
}

func failed(r loop.Reason) bool {
	return r == loop.FatalError || r == loop.CircuitBreaker || r == loop.ContextOverflow
}

func squeeze(s string) string { return strings.Join(strings.Fields(s), "") }

// table is what a person reads of the counts.
func table(tallies map[string]*tally, why map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s %8s %8s %8s  %s\n", "api provider", "sessions", "requests", "alike", "other requests by cause; ends of runs")
	for _, name := range sorted(tallies) {
		n := tallies[name]
		fmt.Fprintf(&b, "%-34s %8d %8d %8d  %s; %s\n", name, n.sessions, n.requests, n.alike, cmp.Or(counts(n.causes), "none"), counts(n.ends))
	}
	b.WriteString("\n")
	for _, name := range sorted(why) {
		fmt.Fprintf(&b, "%s: %s\n", name, why[name])
	}
	return b.String()
}

func counts(m map[string]int) string {
	var out []string
	for _, k := range sorted(m) {
		out = append(out, fmt.Sprintf("%d %s", m[k], k))
	}
	return strings.Join(out, ", ")
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func checkTable(t *testing.T, got string) {
	t.Helper()
	file := filepath.Join("testdata", "sessions.txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("the table is now (-update writes it):\n%s", got)
	}
}

// diff lists what got has otherwise than want.
func diff(want, got []said) []said {
	// length[i][j] is that of the longest common part of want[i:] and got[j:].
	length := make([][]int, len(want)+1)
	for i := range length {
		length[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			length[i][j] = max(length[i+1][j], length[i][j+1])
			if want[i] == got[j] {
				length[i][j] = length[i+1][j+1] + 1
			}
		}
	}
	var out []said
	i, j := 0, 0
	for i < len(want) || j < len(got) {
		switch {
		case i < len(want) && j < len(got) && want[i] == got[j]:
			i, j = i+1, j+1
		case i < len(want) && (j == len(got) || length[i+1][j] >= length[i][j+1]):
			out = append(out, said{"missing " + want[i].kind, want[i].text})
			i++
		default:
			out = append(out, said{"added " + got[j].kind, got[j].text})
			j++
		}
	}
	return out
}
