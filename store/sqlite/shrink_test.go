package sqlite_test

import (
	"testing"
	"time"

	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/sqlite"
)

func TestTheFileShrinksAfterSessionsAreDeleted(t *testing.T) {
	old := ofVersion(t, 1) // of a time when files could not be cut
	for name, path := range map[string]string{"new": file(t), "old": old} {
		t.Run(name, func(t *testing.T) {
			s := open(t, path)
			for i := range someSessions {
				if err := s.Create(t.Context(), store.Session{ID: sessionID(i)}); err != nil {
					t.Fatal(err)
				}
				if err := s.Append(t.Context(), sessionID(i), someOf(i, someMessages), store.Update{EndReason: "end_turn"}); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Shrink(t.Context(), false); err != nil {
				t.Fatal(err)
			}
			shares, err := s.Weights(t.Context())
			if err != nil || shares[sessionID(0)] < 0.07 || shares[sessionID(0)] > 0.09 {
				t.Errorf("the first of %d sessions has a share of %v, %v", someSessions, shares[sessionID(0)], err)
			}
			before, whole := used(t, s), size(t, path)
			for i := range someSessions - 2 {
				if err := s.Delete(t.Context(), sessionID(i)); err != nil {
					t.Fatal(err)
				}
			}
			if err := s.Shrink(t.Context(), true); err != nil {
				t.Fatal(err)
			}
			if now := used(t, s); now > before/2 || size(t, path) > whole/2 || size(t, path) != now {
				t.Errorf("%d bytes of %d are used, in a file of %d that had %d", now, before, size(t, path), whole)
			}
			if r, err := s.Check(t.Context()); err != nil || len(r.Problems) > 0 {
				t.Errorf("%v, %v", r.Problems, err)
			}
		})
	}
}

func used(t *testing.T, s *sqlite.Store) int64 {
	t.Helper()
	n, _, err := s.Size(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestFamiliesAreWhatLinesConnect(t *testing.T) {
	var all []store.Session
	for i, pair := range []string{"a", "b a", "x", "c b", "y x", "d a", "z gone"} {
		s := store.Session{ID: pair[:1], UpdatedAt: at(i), EndReason: "end_turn"}
		if len(pair) > 1 {
			s.Parent = pair[2:]
		}
		all = append(all, s)
	}
	all[3].EndReason = ""
	var got string
	for _, f := range store.Families(all) {
		for _, s := range f {
			got += s.ID
		}
		if !f.Finished() {
			got += "!"
		}
		got += " "
	}
	if got != "xy abcd! z " {
		t.Errorf("families %q", got)
	}
}

func at(i int) time.Time { return time.Unix(int64(i), 0) }
