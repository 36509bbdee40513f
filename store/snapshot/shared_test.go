package snapshot_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/snapshot"
)

// keeper is a store of sessions that keeps states.
type keeper struct {
	*store.Memory
	states map[string][]byte
	err    error
}

func (k *keeper) SaveState(_ context.Context, id string, state []byte) error {
	k.states[id] = slices.Clone(state)
	return k.err
}

func (k *keeper) State(_ context.Context, id string) ([]byte, error) { return k.states[id], k.err }

func TestAnotherMachineKnowsWhereTheRunStands(t *testing.T) {
	sessions := &keeper{Memory: store.NewMemory(), states: map[string][]byte{}}
	here := snapshot.Shared{Files: snapshot.Dir(filepath.Join(t.TempDir(), "here")), Sessions: sessions}
	there := snapshot.Shared{Files: snapshot.Dir(filepath.Join(t.TempDir(), "there")), Sessions: sessions}
	if _, err := there.Load(t.Context(), "s1"); !errors.Is(err, snapshot.ErrNotFound) {
		t.Errorf("before anything was written: %v", err)
	}
	msgs := history(2)
	for i, m := range msgs {
		m.ID = string(rune('a' + i))
	}
	if err := sessions.Create(t.Context(), store.Session{ID: "s1", System: "Be brief.\n"}); err != nil {
		t.Fatal(err)
	}
	if err := sessions.Append(t.Context(), "s1", msgs, store.Update{}); err != nil {
		t.Fatal(err)
	}
	w := here.Writer("s1")
	for _, n := range []int{1, 3} { // the last messages came after it
		if err := w.Write(t.Context(), of("s1", msgs[:n])); err != nil {
			t.Fatal(err)
		}
	}
	got, err := there.Load(t.Context(), "s1")
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Messages) != 3 || got.Messages[2] != msgs[2] || got.TaskID != "t" || got.System != "Be brief.\n" || got.Session.Calls != 2 || len(got.Run) == 0 {
		t.Errorf("there stands %+v", got)
	}
	if file, err := here.Files.Load(t.Context(), "s1"); err != nil || len(file.Messages) != 3 || file.System == "" {
		t.Errorf("the file here holds %+v, %v", file, err)
	}
	sessions.err = errors.New("unreachable")
	if _, err := there.Load(t.Context(), "s1"); !errors.Is(err, sessions.err) {
		t.Errorf("with a store that fails: %v", err)
	}
	if err := w.Write(t.Context(), of("s1", msgs)); !errors.Is(err, sessions.err) {
		t.Errorf("a write to a store that fails: %v", err)
	}
}
