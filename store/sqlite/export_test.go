package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"testing"
)

// LimitPages makes the disk seem full once the file has n pages.
func LimitPages(t *testing.T, s *Store, n int) {
	t.Helper()
	c, err := s.take(context.Background(), s.writer)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { s.writer <- c }()
	if err := c.script(fmt.Sprintf("PRAGMA max_page_count = %d", n)); err != nil {
		t.Fatal(err)
	}
}

// IndexEvery is how many messages may wait for the index of texts.
const IndexEvery = indexEvery

// Indexed returns how many messages the index of texts has seen.
func Indexed(t *testing.T, s *Store) (n int) {
	t.Helper()
	err := s.read(context.Background(), func(c *conn) error {
		return c.query(context.Background(), "SELECT count(*) FROM message_text", nil, func(row []driver.Value) error {
			n = int(row[0].(int64))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Versions is the version of this program's files.
const Versions = len(migrations)

// Migration is the SQL that brings a file from a version to the next.
func Migration(version int) string { return migrations[version] }
