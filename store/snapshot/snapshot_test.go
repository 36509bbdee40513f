package snapshot_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store/snapshot"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func round(i int) []*message.Message {
	ask := message.NewAssistant(message.Text("I look."), message.Call("c"+strconv.Itoa(i), "look", `{"n":1}`))
	result := message.NewResult(ask.Calls()[0], message.StatusOK, strings.Repeat("x", 1000))
	ask.ID, result.ID = "a"+strconv.Itoa(i), "t"+strconv.Itoa(i)
	return []*message.Message{ask, result}
}

func history(rounds int) []*message.Message {
	msgs := []*message.Message{message.NewUser("go\x00 日本")}
	for i := range rounds {
		msgs = append(msgs, round(i)...)
	}
	return msgs
}

func of(id string, msgs []*message.Message) *snapshot.Snapshot {
	return &snapshot.Snapshot{
		SavedAt: noon, Strategy: snapshot.EveryRound, TaskID: "t", System: "Be brief.\n", Messages: msgs,
		Session: snapshot.Session{ID: id, Title: "T", Model: "m", CreatedAt: noon, Usage: model.Usage{Input: 3}, Calls: 2, CostUSD: 0.5},
		Run:     []byte(`{"rounds":3}`), Todo: []byte(`["a"]`), OpenCalls: []snapshot.OpenCall{{ID: "c1", Name: "look"}},
	}
}

func TestWhatIsWrittenIsLoaded(t *testing.T) {
	dir := snapshot.Dir(filepath.Join(t.TempDir(), "snapshots"))
	w := dir.Writer("s1")
	msgs := history(2)
	for n := range len(msgs) + 1 {
		want := of("s1", msgs[:n])
		if err := w.Write(t.Context(), want); err != nil {
			t.Fatal(err)
		}
		got, err := dir.Load(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		want.Run, got.Run = nil, nil // spaced in the file
		want.Todo, got.Todo = nil, nil
		if len(want.Messages) == 0 {
			want.Messages, got.Messages = nil, nil
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("with %d messages (-want +got):\n%s", n, d)
		}
		head, err := dir.LoadHead(t.Context(), "s1")
		if err != nil {
			t.Fatal(err)
		}
		got.Messages, head.Messages, head.Run, head.Todo = nil, nil, nil, nil
		if d := cmp.Diff(got, head); d != "" || head.Session.Messages != n {
			t.Errorf("the head before %d messages (-want +got):\n%s", n, d)
		}
	}
	data, err := os.ReadFile(dir.File("s1"))
	if err != nil || !json.Valid(data) {
		t.Errorf("the file is no JSON: %v\n%s", err, data)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	if files, _ := os.ReadDir(string(dir)); len(files) != 1 {
		t.Errorf("after Close there are %v", files)
	}
	other := append(history(1), message.NewAssistant(message.Text("another end")))
	if err := w.Write(t.Context(), of("s1", other)); err != nil {
		t.Fatal(err)
	}
	if got, err := dir.Load(t.Context(), "s1"); err != nil || len(got.Messages) != 4 || got.Messages[3].Text() != "another end" {
		t.Errorf("other messages in place of the first: %v, %+v", err, got)
	}
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	if _, err := dir.Load(t.Context(), "none"); !errors.Is(err, snapshot.ErrNotFound) {
		t.Errorf("none: %v", err)
	}
	for text, want := range map[string]string{
		`{"version":99,"session":{"id":"x"}}`: "newer version of rondo",
		`{"version":1,"session":{"id":"x"`:    "damaged",
		`{"version":1}`:                       "names no session",
	} {
		if err := os.WriteFile(dir.File("x"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := dir.Load(t.Context(), "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestListAndRemove(t *testing.T) {
	dir := snapshot.Dir(filepath.Join(t.TempDir(), "later"))
	if ids, err := dir.List(); len(ids) > 0 || err != nil {
		t.Errorf("before the first: %v, %v", ids, err)
	}
	for _, id := range []string{"a", "../b/c", "d"} {
		if err := dir.Writer(id).Write(t.Context(), of(id, nil)); err != nil {
			t.Fatal(err)
		}
		if got, err := dir.Load(t.Context(), id); err != nil || got.Session.ID != id {
			t.Errorf("Load(%q) = %+v, %v", id, got, err)
		}
		if filepath.Dir(dir.File(id)) != string(dir) {
			t.Errorf("%q leads out of the directory: %s", id, dir.File(id))
		}
	}
	if ids, _ := dir.List(); !slices.Equal(ids, []string{"d", "a", "../b/c"}) {
		t.Errorf("List() = %v", ids)
	}
	if err := errors.Join(dir.Remove("d"), dir.Remove("d")); err != nil {
		t.Error(err)
	}
	if _, err := dir.Load(t.Context(), "d"); !errors.Is(err, snapshot.ErrNotFound) {
		t.Errorf("after Remove: %v", err)
	}
}

// What a process that was killed left behind is not taken for one's own.
func TestLeftoversDoNoHarm(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	w := dir.Writer("s")
	msgs := history(40)
	for n := range 40 {
		if n%5 == 0 {
			for _, behind := range []string{".tmp", ".old"} {
				if err := os.WriteFile(dir.File("s")+behind, []byte(strings.Repeat("left\n", 100*n)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		s := of("s", msgs[:2*n+1])
		s.System = strings.Repeat("s", 100*(n*7%40)) // a head that grows and shrinks
		if n%7 == 6 {
			w = dir.Writer("s")
		}
		if err := w.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		got, err := dir.Load(t.Context(), "s")
		if err != nil || got.System != s.System {
			t.Fatalf("snapshot %d: %v", n, err)
		}
		if d := cmp.Diff(s.Messages, got.Messages); d != "" {
			t.Fatalf("snapshot %d (-want +got):\n%s", n, d)
		}
	}
}

// A file that has to be begun anew holds all, also what the writer has forgotten.
func TestAFileIsBegunAnew(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	w := dir.Writer("s")
	msgs := history(12)
	for n := 1; n <= len(msgs); n++ {
		s := of("s", slices.Clone(msgs[:n]))
		switch n {
		case 8: // larger than the head before
			s.System = strings.Repeat("s", 5000)
		case 14:
			if err := os.Remove(dir.File("s") + ".tmp"); err != nil {
				t.Fatal(err)
			}
		case 20: // another's, of the same size
			data, err := os.ReadFile(dir.File("s") + ".tmp")
			if err == nil {
				err = errors.Join(os.Remove(dir.File("s")+".tmp"), os.WriteFile(dir.File("s")+".tmp", make([]byte, len(data)), 0o600))
			}
			if err != nil {
				t.Fatal(err)
			}
		case 22: // as many, but others
			for i := range msgs[:n] {
				msgs[i] = message.NewUser("other " + strconv.Itoa(i))
			}
			s.Messages = slices.Clone(msgs[:n])
		}
		if err := w.Write(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		got, err := dir.Load(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(s.Messages, got.Messages); d != "" {
			t.Fatalf("snapshot %d (-want +got):\n%s", n, d)
		}
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	w := dir.Writer("s")
	if err := w.Write(t.Context(), of("s", history(1))); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir.File("s")+".tmp", "in the way"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := w.Write(t.Context(), of("s", history(2))); err == nil || !strings.Contains(err.Error(), "session s") {
		t.Errorf("Write: %v", err)
	}
	if got, err := dir.Load(t.Context(), "s"); err != nil || len(got.Messages) != 3 {
		t.Errorf("the old snapshot: %v", err)
	}
}

// BenchmarkRound writes a snapshot after each round of a session that has 2,000
// messages at first, 2 MB.
func BenchmarkRound(b *testing.B) {
	dir := snapshot.Dir(b.TempDir())
	w := dir.Writer("s")
	msgs := history(1000)
	if err := w.Write(b.Context(), of("s", msgs)); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if n == 50 {
			n, msgs = 0, msgs[:2001]
		}
		msgs = append(msgs, round(1000+n)...)
		if err := w.Write(b.Context(), of("s", msgs)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAHeadIsReadFromAnyForm(t *testing.T) {
	dir := snapshot.Dir(t.TempDir())
	for name, text := range map[string]string{
		"another order": `{"messages":[{"role":"user","content":"x","id":"m1"}],"version":1,"session":{"id":"s"}}`,
		"no last one":   "{\n \"version\": 1,\n \"session\": {\"id\": \"s\"},\n \"messages\": [\n  {\"role\":\"user\",\"content\":\"x\",\"id\":\"m1\"}\n ]\n}\n",
	} {
		if err := os.WriteFile(dir.File("s"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := dir.LoadHead(t.Context(), "s"); err != nil || got.Session.ID != "s" || len(got.Messages) != 1 {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{"cut": "{\n \"version\": 1", "damaged": "{\n \"version\": x,\n \"messages\": [", "empty": ""} {
		if err := os.WriteFile(dir.File("s"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := dir.LoadHead(t.Context(), "s"); err == nil {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if _, err := dir.LoadHead(t.Context(), "none"); !errors.Is(err, snapshot.ErrNotFound) {
		t.Errorf("none: %v", err)
	}
}
