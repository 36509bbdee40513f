package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// The index of texts follows the messages at a distance: to enter each text by
// itself costs many times what saving its message does. The table unindexed
// names the messages with a text that the index lacks; they are entered when a
// writer has written indexEvery of them, when it closes, and before a search.

// indexEvery is how many texts a writer lets wait for the index.
const indexEvery = 128

// indexAtOnce is how many texts enter the index in one transaction at most.
const indexAtOnce = 4 * indexEvery

// indexAtClose bounds how long Close waits for other processes to let it bring
// the index up to date; a later search does it otherwise.
const indexAtClose = time.Second

const (
	sqlWait    = "INSERT INTO unindexed (key) VALUES (?)"
	sqlWaits   = "SELECT 1 FROM unindexed LIMIT 1"
	sqlWaiting = "SELECT u.key, ifnull(m.body, '') FROM unindexed u LEFT JOIN messages m ON m.key = u.key ORDER BY u.key LIMIT ?"
	sqlText    = "INSERT OR REPLACE INTO message_text (rowid, text) VALUES (?, ?)"
	sqlEntered = "DELETE FROM unindexed WHERE key <= ?"
)

// writeTexts is write for what may add texts; those that wait are entered when
// they are many.
func (s *Store) writeTexts(ctx context.Context, f func(*conn) error) error {
	due := false
	err := s.write(ctx, func(c *conn) error {
		if err := f(c); err != nil {
			return err
		}
		if due = s.unseen >= indexEvery; due {
			s.unseen = 0
		}
		return nil
	})
	if err == nil && due {
		// The messages are saved: that the index waits is for a search to tell.
		_ = s.indexAll(ctx)
	}
	return err
}

// catchUp brings the index up to date.
func (s *Store) catchUp(ctx context.Context) error {
	waiting := false
	err := s.read(ctx, func(c *conn) error {
		waiting = false
		return c.query(ctx, sqlWaits, nil, func([]driver.Value) error {
			waiting = true
			return nil
		})
	})
	if err == nil && waiting {
		err = s.indexAll(ctx)
	}
	if err != nil {
		return fmt.Errorf("enter new messages into the index: %w", err)
	}
	return nil
}

// indexAll enters what waits for the index, in transactions of bounded size, so
// that others get their turn.
func (s *Store) indexAll(ctx context.Context) (err error) {
	for more := true; more && err == nil; {
		err = s.write(ctx, func(c *conn) error {
			n, err := index(ctx, c)
			more = n == indexAtOnce
			return err
		})
	}
	return err
}

// index enters texts that wait, and returns how many were looked at. What cannot
// be read as a message has no text.
func index(ctx context.Context, c *conn) (n int, err error) {
	type entry struct {
		key  int64
		text string
	}
	var texts []entry
	var last int64
	err = c.query(ctx, sqlWaiting, []driver.Value{int64(indexAtOnce)}, func(row []driver.Value) error {
		last = row[0].(int64)
		n++
		m, err := message.ParseJSON([]byte(row[1].(string)))
		if err != nil {
			return nil // Load reports it
		}
		if text := store.SearchText(m); text != "" {
			texts = append(texts, entry{last, text})
		}
		return nil
	})
	for _, t := range texts {
		if err == nil {
			err = c.exec(sqlText, t.key, t.text)
		}
	}
	if err != nil || n == 0 {
		return n, err
	}
	return n, c.exec(sqlEntered, last)
}

// indexBeforeClose brings the index up to date if this store has written. It
// fails without a word: nothing is lost, and the next search does it.
func (s *Store) indexBeforeClose() {
	c := <-s.writer
	wrote := s.unseen > 0
	s.writer <- c
	if wrote {
		ctx, cancel := context.WithTimeout(context.Background(), indexAtClose)
		defer cancel()
		_ = s.indexAll(ctx)
	}
}
