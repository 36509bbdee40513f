package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// The index of texts follows the messages at a distance: to enter each text by
// itself costs many times what saving its message does. A session's row says how
// many of its messages have been seen to; the rest is entered when a writer has
// written indexEvery of them, when it closes, and before a search.

// indexEvery is how many texts a writer lets wait for the index.
const indexEvery = 128

// indexAtOnce is about how many messages enter the index in one transaction.
const indexAtOnce = 4 * indexEvery

// indexAtClose bounds how long Close waits for other processes to let it bring
// the index up to date; a later search does it otherwise.
const indexAtClose = time.Second

const (
	sqlBehind = "SELECT n, indexed, messages FROM sessions WHERE indexed < messages"
	sqlTexts  = "SELECT key, body FROM messages WHERE key >= ? AND key < ? AND role IN ('user', 'assistant')"
	sqlSeen   = "UPDATE sessions SET indexed = ? WHERE n = ?"
	sqlText   = "INSERT OR REPLACE INTO message_text (rowid, text) VALUES (?, ?)"
)

// stretch is a part of a session that the index has not seen.
type stretch struct{ n, from, to int64 }

// behind returns what the index has not seen, in stretches of bounded length.
func behind(ctx context.Context, c *conn) (list []stretch, err error) {
	err = c.query(ctx, sqlBehind, nil, func(row []driver.Value) error {
		n, from, to := row[0].(int64), row[1].(int64), row[2].(int64)
		for ; from < to; from += indexEvery {
			list = append(list, stretch{n, from, min(from+indexEvery, to)})
		}
		return nil
	})
	return list, err
}

// catchUp brings the index up to date.
func (s *Store) catchUp(ctx context.Context) error {
	waiting := false
	err := s.read(ctx, func(c *conn) error {
		list, err := behind(ctx, c)
		waiting = len(list) > 0
		return err
	})
	if err == nil && waiting {
		err = s.indexAll(ctx)
	}
	if err != nil {
		return fmt.Errorf("enter new messages into the index: %w", err)
	}
	return nil
}

// indexAll enters what the index has not seen. A transaction takes no more than
// indexAtOnce messages, so that others get their turn.
func (s *Store) indexAll(ctx context.Context) (err error) {
	for more := true; more && err == nil; {
		err = s.write(ctx, func(c *conn) error {
			list, err := behind(ctx, c)
			done := int64(0)
			for err == nil && len(list) > 0 && done < indexAtOnce {
				done += list[0].to - list[0].from
				err = index(ctx, c, list[0])
				list = list[1:]
			}
			more = len(list) > 0
			return err
		})
	}
	return err
}

// index enters the texts of a stretch. What cannot be read as a message has no
// text.
func index(ctx context.Context, c *conn, at stretch) error {
	type entry struct {
		key  int64
		text string
	}
	var texts []entry
	from := firstKey(at.n)
	err := c.query(ctx, sqlTexts, []driver.Value{from + at.from, from + at.to}, func(row []driver.Value) error {
		m, err := message.ParseJSON([]byte(row[1].(string)))
		if err != nil {
			return nil // Load reports it
		}
		if text := store.SearchText(m); text != "" {
			texts = append(texts, entry{row[0].(int64), text})
		}
		return nil
	})
	for _, t := range texts {
		if err == nil {
			err = c.exec(sqlText, t.key, t.text)
		}
	}
	return errors.Join(err, c.exec(sqlSeen, at.to, at.n))
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
