package store

import (
	"context"
	"slices"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Mender is a Store that keeps what was mended in the messages of a session
// when they were loaded. Messages are never rewritten: a repair is a record
// that refers to them.
type Mender interface {
	// Mend adds a repair to session id.
	Mend(ctx context.Context, id string, r Repair) error
	// Repairs returns the repairs of session id, the first one first.
	Repairs(ctx context.Context, id string) ([]Repair, error)
}

// Repair is what was mended at one load.
type Repair struct {
	Time time.Time `json:"time"`
	// Seen is how many messages the store had.
	Seen int `json:"seen"`
	// Changes say what was wrong.
	Changes []message.Change `json:"changes"`
	// Edits lead from those messages, with the repairs before this one, to
	// what they were taken for. They are in order and do not overlap.
	Edits []Edit `json:"edits"`
}

// Edit puts messages in the place of others.
type Edit struct {
	// At is the place of the first of Drop messages that go. It counts from 0,
	// and takes no notice of the other edits.
	At   int                `json:"at"`
	Drop int                `json:"drop,omitempty"`
	Put  []*message.Message `json:"put,omitempty"`
}

// Mended returns msgs, all of a session, with its repairs.
func Mended(msgs []*message.Message, repairs []Repair) []*message.Message {
	var out []*message.Message
	taken := 0
	for _, r := range repairs {
		seen := min(max(r.Seen, taken), len(msgs))
		out = edited(slices.Concat(out, msgs[taken:seen]), r.Edits)
		taken = seen
	}
	return append(out, msgs[taken:]...)
}

func edited(msgs []*message.Message, edits []Edit) []*message.Message {
	var out []*message.Message
	at := 0
	for _, e := range edits {
		from := min(max(e.At, at), len(msgs))
		out = append(append(out, msgs[at:from]...), e.Put...)
		at = min(from+e.Drop, len(msgs))
	}
	return append(out, msgs[at:]...)
}

// Edits returns what leads from before to after. A message counts as the same
// only by its pointer; one that moved goes and is put in again.
func Edits(before, after []*message.Message) []Edit {
	place := make(map[*message.Message]int, len(before))
	for i, m := range before {
		place[m] = i
	}
	var edits []Edit
	at := 0
	open := Edit{}
	closeAt := func(i int) {
		open.Drop = i - open.At
		if open.Drop > 0 || len(open.Put) > 0 {
			edits = append(edits, open)
		}
	}
	for _, m := range after {
		i, kept := place[m]
		if !kept || i < at {
			open.Put = append(open.Put, m)
			continue
		}
		closeAt(i)
		at = i + 1
		open = Edit{At: at}
	}
	closeAt(len(before))
	return edits
}
