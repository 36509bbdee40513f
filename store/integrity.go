package store

import (
	"context"
	"fmt"
)

// Checker is a Store that tells whether it is whole.
type Checker interface {
	// Check looks through everything and changes nothing. The error says that
	// it could not; what is amiss stands in the report.
	Check(ctx context.Context) (Report, error)
}

// Report is what a check found.
type Report struct {
	Sessions, Messages int
	Problems           []Problem
}

// Area is the part of a store that a Problem is in.
type Area string

// The areas.
const (
	AreaFile     Area = "file"
	AreaMessages Area = "messages"
	AreaIndex    Area = "index"
	AreaLineage  Area = "lineage"
	AreaJournal  Area = "journal"
	AreaSnapshot Area = "snapshot"
)

// Problem is one thing that is amiss. Session is empty where it concerns more
// than one.
type Problem struct {
	Area    Area
	Session string
	Text    string
}

// String is the problem on a line.
func (p Problem) String() string {
	if p.Session == "" {
		return fmt.Sprintf("%s: %s", p.Area, p.Text)
	}
	return fmt.Sprintf("%s: session %s: %s", p.Area, p.Session, p.Text)
}

// CheckLineage tells what is wrong with the lines of all sessions of a store,
// for implementations of Checker. That a parent is missing is no fault: it was
// deleted.
func CheckLineage(all []Session) []Problem {
	byID, next := make(map[string]Session, len(all)), map[string]string{}
	var found []Problem
	for _, s := range all {
		byID[s.ID] = s
		if s.Relation != Compression || s.Parent == "" {
			continue
		}
		if other, ok := next[s.Parent]; ok {
			found = append(found, Problem{AreaLineage, s.Parent, fmt.Sprintf("both %s and %s continue it", other, s.ID)})
		}
		next[s.Parent] = s.ID
	}
	clear := map[string]bool{} // those that lead to an end
	for _, s := range all {
		var path []string
		on := map[string]bool{}
		id := s.ID
		for id != "" && !clear[id] && !on[id] {
			on[id] = true
			path = append(path, id)
			id = byID[id].Parent
		}
		if on[id] {
			found = append(found, Problem{AreaLineage, id, "it descends from itself"})
		}
		for _, id := range path {
			clear[id] = true
		}
	}
	return found
}

// The kinds of notes that this package gives a meaning. They are for stores
// that are a Noter.
const (
	// NoteUnjournalled says that calls in the first messages of a session are
	// not in the journal, whether they were begun or not. Its body is an
	// Unjournalled.
	NoteUnjournalled = "unjournalled"
	// NotePinned says whether a session is kept whatever its age; the last one
	// counts. Its body is true or false.
	NotePinned = "pinned"
	// NoteRecovered says that messages of a session were lost. Its body is a
	// Recovered.
	NoteRecovered = "recovered"
)

// Unjournalled is the body of a NoteUnjournalled: how many messages, from the
// first, the journal knows nothing of.
type Unjournalled struct {
	Messages int `json:"messages"`
}

// Recovered is the body of a NoteRecovered: the places, from 0, of the messages
// that were lost.
type Recovered struct {
	Lost []int `json:"lost"`
}
