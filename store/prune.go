package store

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// Sizer is a Store that knows how much room it takes and can give back what
// deleted sessions leave.
type Sizer interface {
	// Size returns how many bytes the sessions take, and all of the store.
	Size(ctx context.Context) (used, total int64, err error)
	// Weights returns for each session how much of the room is its own, as a
	// share of 1.
	Weights(ctx context.Context) (map[string]float64, error)
	// Shrink gives back what is not used. A thorough one takes longer, in which
	// nobody else can write.
	Shrink(ctx context.Context, thorough bool) error
}

// Family is a session with those that it continues or that it delegated, and so
// on, in any order.
type Family []Session

// Families groups sessions, the family that was used longest ago first.
func Families(all []Session) []Family {
	root := make(map[string]string, len(all))
	for _, s := range all {
		root[s.ID] = s.ID
	}
	find := func(id string) string {
		for root[id] != id {
			root[id] = root[root[id]]
			id = root[id]
		}
		return id
	}
	for _, s := range all {
		if _, known := root[s.Parent]; known {
			root[find(s.ID)] = find(s.Parent)
		}
	}
	byRoot := map[string]Family{}
	for _, s := range all {
		id := find(s.ID)
		byRoot[id] = append(byRoot[id], s)
	}
	families := make([]Family, 0, len(byRoot))
	for _, f := range byRoot {
		families = append(families, f)
	}
	slices.SortFunc(families, func(a, b Family) int {
		return cmp.Or(a.UsedAt().Compare(b.UsedAt()), cmp.Compare(a[0].ID, b[0].ID))
	})
	return families
}

// UsedAt is when any session of the family was used last.
func (f Family) UsedAt() time.Time {
	return slices.MaxFunc(f, func(a, b Session) int { return a.UpdatedAt.Compare(b.UpdatedAt) }).UpdatedAt
}

// Finished reports whether the runs of all sessions of the family have ended.
func (f Family) Finished() bool {
	return !slices.ContainsFunc(f, func(s Session) bool { return s.EndReason == "" })
}
