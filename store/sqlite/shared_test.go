package sqlite_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// sharedDir finds the shared cases beside the repository or where
// RONDO_SHARED says, and skips the test where there are none.
func sharedDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RONDO_SHARED")
	for up := "."; dir == "" && len(up) < 40; up = filepath.Join(up, "..") {
		if _, err := os.Stat(filepath.Join(up, "shared", "cases")); err == nil {
			dir = filepath.Join(up, "shared")
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "cases")); dir == "" || err != nil {
		t.Skip("no shared cases beside the repository; RONDO_SHARED names another place")
	}
	return filepath.Join(dir, "cases")
}

// sessionCase is a shared case of kind session. Its file is a list of records;
// here each becomes a row, and one that is no JSON a damaged row.
type sessionCase struct {
	ID, Kind string
	Given    struct {
		File   string
		Append json.RawMessage
	}
	Want struct {
		Seqs     []int `json:"seqs_after"`
		Warnings int   `json:"warnings_min"`
	}
}

func TestSharedSessionCases(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join(sharedDir(t), "*", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var c sessionCase
		// A case of another kind may have other types in its fields.
		if err := json.Unmarshal(data, &c); c.Kind != "session" {
			continue
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		t.Run(c.ID, func(t *testing.T) { c.run(t) })
	}
}

func (c *sessionCase) run(t *testing.T) {
	path := file(t)
	s := open(t, path)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	for i, line := range strings.Split(strings.TrimSuffix(c.Given.File, "\n"), "\n") {
		if !c.append(t, s, line) {
			say(t, s, "torn", "placeholder")
			change(t, path, "UPDATE messages SET body = '"+strings.ReplaceAll(line, "'", "''")+"' WHERE seq = "+strconv.Itoa(i))
		}
	}
	if len(c.Given.Append) > 0 && !c.append(t, s, string(c.Given.Append)) {
		t.Fatalf("the record to append is no JSON: %s", c.Given.Append)
	}
	_, msgs, err := open(t, path).Load(t.Context(), "s")
	var got []int
	for _, m := range msgs {
		seq, _ := strconv.Atoi(m.ID) // 0 for a record without one
		got = append(got, seq)
	}
	warnings := 0
	if d, ok := errors.AsType[*store.DamagedError](err); ok {
		warnings = len(d.Seqs)
	} else if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, c.Want.Seqs) || warnings < c.Want.Warnings {
		t.Errorf("records %v with %d warnings, want %v with %d", got, warnings, c.Want.Seqs, c.Want.Warnings)
	}
}

// append appends a record of the case; it reports whether it is whole.
func (c *sessionCase) append(t *testing.T, s store.Store, record string) bool {
	t.Helper()
	var r struct {
		Seq        int
		Type, Text string
	}
	if json.Unmarshal([]byte(record), &r) != nil {
		return false
	}
	m := message.NewUser(r.Text)
	m.ID, m.Role = strconv.Itoa(r.Seq), message.Role(r.Type)
	if err := s.Append(t.Context(), "s", []*message.Message{m}, store.Update{}); err != nil {
		t.Fatal(err)
	}
	return true
}
