// Package memory keeps what an agent remembers from session to session, in two
// small files that a person can read and edit: MEMORY.md for what it learned of
// the work, USER.md for what it knows of the user.
//
// A file is a list of entries with a line of § between them. It is short, since
// all of it stands in the prompt of each session: Store.Snapshot returns it for
// that, and what is written afterwards shows in the next session, so that the
// prompt's prefix stays the same. Files are written through a new one beside
// and under a lock, so that two processes may write at once.
package memory

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/internal/atomicfile"
	"github.com/rondo-engine/rondo/internal/injection"
)

// Target is one of the files.
type Target string

// The targets.
const (
	Memory Target = "memory"
	User   Target = "user"
)

// File is the name of the target's file.
func (t Target) File() string {
	if t == User {
		return "USER.md"
	}
	return "MEMORY.md"
}

// The default limits in characters.
const (
	DefaultMemoryLimit = 2200
	DefaultUserLimit   = 1375
)

// separator stands between entries.
const separator = "\n§\n"

// Options bound a Store; the zero value takes the defaults.
type Options struct{ MemoryLimit, UserLimit int }

// Store is the memory in one directory. It is safe for concurrent use, by many
// processes.
type Store struct {
	dir    string
	limits map[Target]int

	mu   sync.Mutex
	seen map[Target]string // the texts that the model has seen last
}

// Open returns the memory in dir, which is made when something is written.
func Open(dir string, o Options) *Store {
	if o.MemoryLimit <= 0 {
		o.MemoryLimit = DefaultMemoryLimit
	}
	if o.UserLimit <= 0 {
		o.UserLimit = DefaultUserLimit
	}
	return &Store{dir: dir, limits: map[Target]int{Memory: o.MemoryLimit, User: o.UserLimit}, seen: map[Target]string{}}
}

// Path returns where a target is kept.
func (s *Store) Path(t Target) string { return filepath.Join(s.dir, t.File()) }

// Limit returns how many characters a target may have.
func (s *Store) Limit(t Target) int { return s.limits[t] }

// Entries returns what is remembered, the oldest first.
func (s *Store) Entries(t Target) ([]string, error) {
	text, err := s.read(t)
	return split(text), err
}

func (s *Store) read(t Target) (string, error) {
	data, err := os.ReadFile(s.Path(t))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read what is remembered: %w", err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// split returns the entries of a file's text.
func split(text string) []string {
	var entries []string
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for _, e := range strings.Split("\n"+text+"\n", separator) {
		if e = strings.TrimSpace(e); e != "" {
			entries = append(entries, e)
		}
	}
	return entries
}

// FullError says that an entry does not fit.
type FullError struct {
	Target      Target
	Size, Limit int // in characters, the entry included
	Entries     []string
}

// Error shows the entries, so that room can be made.
func (e *FullError) Error() string {
	return fmt.Sprintf("%s would have %d of %d characters: shorten or remove an entry first. The entries are:\n%s",
		e.Target.File(), e.Size, e.Limit, list(e.Entries))
}

// list writes entries a line each.
func list(entries []string) string {
	if len(entries) == 0 {
		return "(none)"
	}
	return "- " + strings.Join(entries, "\n- ")
}

// Add remembers an entry. One that is there already changes nothing: added is
// false then.
func (s *Store) Add(t Target, entry string) (added bool, err error) {
	if entry, err = check(entry); err != nil {
		return false, err
	}
	err = s.change(t, func(entries []string) ([]string, error) {
		if slices.Contains(entries, entry) {
			return entries, nil
		}
		added = true
		return append(entries, entry), nil
	})
	return added && err == nil, err
}

// Replace puts an entry in the place of the one that holds part.
func (s *Store) Replace(t Target, part, entry string) error {
	entry, err := check(entry)
	if err != nil {
		return err
	}
	return s.change(t, func(entries []string) ([]string, error) {
		i, err := find(t, entries, part)
		if err == nil {
			entries[i] = entry
		}
		return entries, err
	})
}

// Remove forgets the entry that holds part.
func (s *Store) Remove(t Target, part string) error {
	return s.change(t, func(entries []string) ([]string, error) {
		i, err := find(t, entries, part)
		if err != nil {
			return nil, err
		}
		return slices.Delete(entries, i, i+1), nil
	})
}

// check refuses what must not stand in a prompt.
func check(entry string) (string, error) {
	entry = strings.TrimSpace(strings.ReplaceAll(entry, "\r\n", "\n"))
	switch {
	case entry == "":
		return "", errors.New("the entry is empty")
	case strings.Contains("\n"+entry+"\n", separator):
		return "", errors.New("an entry cannot hold a line of §, which stands between entries")
	}
	if what := injection.Find(entry); what != "" {
		return "", fmt.Errorf("the entry was not taken, since it holds %s: remember facts, not orders", what)
	}
	return entry, nil
}

// find returns the one entry that holds part.
func find(t Target, entries []string, part string) (int, error) {
	part = strings.TrimSpace(part)
	if part == "" {
		return 0, errors.New("the part of the entry to look for is empty")
	}
	found := -1
	for i, e := range entries {
		if e == part {
			return i, nil
		}
		if !strings.Contains(e, part) {
			continue
		}
		if found >= 0 {
			return 0, fmt.Errorf("%q is in several entries of %s: give a longer part. The entries are:\n%s", part, t.File(), list(entries))
		}
		found = i
	}
	if found < 0 {
		return 0, fmt.Errorf("%q is in no entry of %s. The entries are:\n%s", part, t.File(), list(entries))
	}
	return found, nil
}

// change reads a target, has f change its entries, and writes it, under the
// lock. What others wrote meanwhile is kept.
func (s *Store) change(t Target, f func([]string) ([]string, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return fmt.Errorf("make the directory of the memory: %w", err)
	}
	unlock, err := lock(filepath.Join(s.dir, ".lock"))
	if err != nil {
		return fmt.Errorf("lock the memory: %w", err)
	}
	defer unlock()
	old, err := s.read(t)
	if err != nil {
		return err
	}
	before := split(old)
	entries, err := f(slices.Clone(before))
	if err != nil || slices.Equal(before, entries) {
		return err
	}
	text := strings.Join(entries, separator)
	size := utf8.RuneCountInString(text)
	if size > s.limits[t] && size >= utf8.RuneCountInString(strings.Join(before, separator)) {
		return &FullError{Target: t, Size: size, Limit: s.limits[t], Entries: before}
	}
	if err := atomicfile.Write(s.Path(t), []byte(text+"\n"), 0o600); err != nil {
		return fmt.Errorf("write what is remembered: %w", err)
	}
	return nil
}

// Snapshot returns both files as they stand in a prompt; empty when nothing is
// remembered. Entries that hold orders, which only an edit from outside can
// bring, are left out with a note.
func (s *Store) Snapshot() (string, error) {
	var b strings.Builder
	for _, t := range []Target{Memory, User} {
		entries, err := s.Entries(t)
		if err != nil {
			return "", err
		}
		s.saw(t, entries)
		if len(entries) == 0 {
			continue
		}
		title := "What you remember of the work"
		if t == User {
			title = "What you know of the user"
		}
		for i, e := range entries {
			if what := injection.Find(e); what != "" {
				entries[i] = "[BLOCKED: an entry was left out, since it holds " + what + "]"
			}
		}
		size := utf8.RuneCountInString(strings.Join(entries, separator))
		fmt.Fprintf(&b, "## %s (%s, %d of %d characters)\n%s\n\n", title, t.File(), size, s.limits[t], list(entries))
	}
	return strings.TrimSpace(b.String()), nil
}

// saw takes note of what the model has seen.
func (s *Store) saw(t Target, entries []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen[t] = strings.Join(entries, separator)
}

// edited reports whether somebody else changed a target since the model saw it.
func (s *Store) edited(t Target) bool {
	now, err := s.Entries(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	before, known := s.seen[t]
	return err == nil && known && before != strings.Join(now, separator)
}
