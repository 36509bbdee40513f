package sqlite

import (
	"context"
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
