package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ext is how the names of snapshots end.
const ext = ".json"

// Dir is a Store in a directory: the snapshot of session ID is the file
// ID.json. The directory is made with the first one.
type Dir string

var (
	_ Store = Dir("")
	_ Heads = Dir("")
)

// File returns the name of the file of session id. What is no part of a file's
// name anywhere is escaped.
func (d Dir) File(id string) string {
	name := url.PathEscape(id)
	if strings.HasPrefix(name, ".") {
		name = "%2E" + name[1:]
	}
	return filepath.Join(string(d), name+ext)
}

// Load implements Store.
func (d Dir) Load(_ context.Context, id string) (*Snapshot, error) {
	data, err := os.ReadFile(d.File(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	s, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", d.File(id), err)
	}
	return s, nil
}

// LoadHead implements Heads. A file that something else wrote is read whole.
func (d Dir) LoadHead(ctx context.Context, id string) (*Snapshot, error) {
	f, err := os.Open(d.File(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if err != nil {
		return nil, fmt.Errorf("read snapshot: %w", err)
	}
	s, ok, err := parseHead(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read snapshot %s: %w", d.File(id), err)
	}
	if !ok {
		return d.Load(ctx, id)
	}
	return s, nil
}

// List returns the ids of the sessions that have a snapshot, the newest first.
func (d Dir) List() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list snapshots: %w", err)
	}
	var ids []string
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ext)
		if id, err := url.PathUnescape(name); ok && err == nil {
			ids = append(ids, id)
		}
	}
	slices.SortFunc(ids, func(a, b string) int { return cmp.Compare(b, a) })
	return ids, nil
}

// Remove deletes the snapshot of session id, if there is one.
func (d Dir) Remove(id string) error {
	err := os.Remove(d.File(id))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove snapshot: %w", err)
	}
	return nil
}

// Writer implements Store.
func (d Dir) Writer(id string) Writer { return &writer{file: d.File(id)} }
