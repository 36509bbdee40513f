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
// itself costs many times what saving its message does. Each session counts the
// messages that were entered, and the rest is when a writer has written
// indexEvery texts, when it closes, and before a search.

// indexEvery is how many texts a writer lets wait for the index.
const indexEvery = 128

// indexAtOnce is how many messages are entered in one transaction at most.
const indexAtOnce = 4 * indexEvery

// indexAtClose bounds how long Close waits for other processes to let it bring
// the index up to date; a later search does it otherwise.
const indexAtClose = time.Second

// textless is how the body of a message begins that only calls tools.
const textless = `{"role":"assistant","content":null`

const (
	sqlBehind = "SELECT n, indexed, messages FROM sessions WHERE indexed < messages LIMIT ?"
	// sqlWaiting leaves out most of what has no text.
	sqlWaiting = `SELECT key, body FROM messages WHERE key >= ?1 AND key < ?2 AND role IN ('user', 'assistant')
		AND substr(body, 1, length(?3)) <> ?3 ORDER BY key LIMIT ?4`
	sqlText    = "INSERT OR REPLACE INTO message_text (rowid, text) VALUES (?, ?)"
	sqlIndexed = "UPDATE sessions SET indexed = ?2 WHERE n = ?1"
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
	var waiting []stretch
	err := s.read(ctx, func(c *conn) (err error) {
		waiting, err = behind(ctx, c, 1)
		return err
	})
	if err == nil && len(waiting) > 0 {
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
		err = s.write(ctx, func(c *conn) (err error) {
			more, err = index(ctx, c)
			return err
		})
	}
	return err
}

// index enters up to indexAtOnce messages, and reports whether more may wait.
func index(ctx context.Context, c *conn) (more bool, err error) {
	waiting, err := behind(ctx, c, indexAtOnce)
	if err != nil {
		return false, err
	}
	left := indexAtOnce
	for _, at := range waiting {
		n, err := enter(ctx, c, at, left)
		if err != nil {
			return false, err
		}
		if left -= n; left == 0 {
			return true, nil
		}
	}
	return len(waiting) == indexAtOnce, nil
}

// stretch is the part of a session that waits for the index.
type stretch struct{ n, from, to int64 }

// behind finds up to limit sessions of which something waits. It looks through
// the rows of all sessions.
func behind(ctx context.Context, c *conn, limit int) (waiting []stretch, err error) {
	err = c.query(ctx, sqlBehind, []driver.Value{int64(limit)}, func(row []driver.Value) error {
		waiting = append(waiting, stretch{row[0].(int64), row[1].(int64), row[2].(int64)})
		return nil
	})
	return waiting, err
}

// enter enters up to limit of the messages that wait, and returns how many it
// looked at. What cannot be read as a message has no text.
func enter(ctx context.Context, c *conn, at stretch, limit int) (looked int, err error) {
	type entry struct {
		key  int64
		text string
	}
	var texts []entry
	next := at.from
	from, to := firstKey(at.n)+at.from, firstKey(at.n)+at.to
	err = c.query(ctx, sqlWaiting, []driver.Value{from, to, textless, int64(limit)}, func(row []driver.Value) error {
		key := row[0].(int64)
		next, looked = key-firstKey(at.n)+1, looked+1
		m, err := message.ParseJSON([]byte(row[1].(string)))
		if err != nil {
			return nil // Load reports it
		}
		if text := store.SearchText(m); text != "" {
			texts = append(texts, entry{key, text})
		}
		return nil
	})
	for _, t := range texts {
		if err == nil {
			err = c.exec(sqlText, t.key, t.text)
		}
	}
	if err != nil {
		return looked, err
	}
	if looked < limit { // there are no more, also where some were lost
		next = at.to
	}
	return looked, c.exec(sqlIndexed, at.n, next)
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
