package sqlite

import (
	"context"
	"database/sql/driver"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

var _ store.Checker = (*Store)(nil)

const (
	sqlIntegrity = "PRAGMA integrity_check(20)"
	// sqlAll yields all messages with what is indexed of them, and whether they
	// wait for that. The index keeps its texts in a table of its own.
	sqlAll = `SELECT m.key, m.id, m.body, t.c0, m.seq >= ifnull(s.indexed, 0) FROM messages m
		LEFT JOIN message_text_content t ON t.id = m.key LEFT JOIN sessions s ON s.n = m.session ORDER BY m.key`
	sqlLost = `SELECT count(*) FROM message_text_content WHERE id NOT IN (SELECT key FROM messages)`
	// sqlForeign finds records of no session.
	sqlForeign = `SELECT 'messages', count(*) FROM messages WHERE key >> 32 NOT IN (SELECT n FROM sessions)
		UNION ALL SELECT 'prompts', count(*) FROM prompts WHERE n NOT IN (SELECT n FROM sessions)
		UNION ALL SELECT 'repairs', count(*) FROM repairs WHERE session NOT IN (SELECT n FROM sessions)
		UNION ALL SELECT 'notes', count(*) FROM notes WHERE session NOT IN (SELECT n FROM sessions)`
	sqlBegins = "SELECT session, message, tool FROM effects"
)

// Check implements store.Checker: the pages of the file and what SQLite keeps
// beside them, then what the records say of one another.
func (s *Store) Check(ctx context.Context) (r store.Report, err error) {
	err = s.read(ctx, func(c *conn) error {
		r = store.Report{}
		err := c.query(ctx, sqlIntegrity, nil, func(row []driver.Value) error {
			if text, _ := row[0].(string); text != "ok" {
				r.Problems = append(r.Problems, store.Problem{Area: store.AreaFile, Text: text})
			}
			return nil
		})
		if err != nil || len(r.Problems) > 0 {
			return err // what it says below would not be to be trusted
		}
		k := check{c: c, ctx: ctx, r: &r, asked: map[asked]bool{}}
		return k.records()
	})
	if code(err) != 0 && !isBusy(err) {
		r.Problems = append(r.Problems, store.Problem{Area: store.AreaFile, Text: err.Error()})
		err = nil
	}
	if err != nil {
		return r, fmt.Errorf("check the session store: %w", err)
	}
	return r, nil
}

// check is a check that goes on.
type check struct {
	c        *conn
	ctx      context.Context
	r        *store.Report
	sessions map[int64]store.Session
	asked    map[asked]bool // the messages with calls
}

// asked names a message by its session and id.
type asked struct {
	n  int64
	id string
}

func (k *check) tell(area store.Area, session, format string, args ...any) {
	k.r.Problems = append(k.r.Problems, store.Problem{Area: area, Session: session, Text: fmt.Sprintf(format, args...)})
}

func (k *check) records() error {
	records, err := sessions(k.ctx, k.c, sqlSession)
	if err != nil {
		return err
	}
	k.sessions = make(map[int64]store.Session, len(records))
	list := make([]store.Session, len(records))
	for i, r := range records {
		list[i], k.sessions[r.n] = r.Session, r.Session
	}
	k.r.Sessions = len(list)
	k.r.Problems = append(k.r.Problems, store.CheckLineage(list)...)
	for _, f := range []func() error{k.messages, k.foreign, k.journal} {
		if err := f(); err != nil {
			return err
		}
	}
	return nil
}

// messages looks through all messages and what is indexed of them.
func (k *check) messages() error {
	have := map[int64]int{}
	err := k.c.query(k.ctx, sqlAll, nil, func(row []driver.Value) error {
		k.r.Messages++
		n, seq := row[0].(int64)>>32, int(row[0].(int64)&0xffffffff)
		s, known := k.sessions[n]
		if !known {
			return nil // told by foreign
		}
		if have[n]++; have[n] == 1 && seq > 0 || seq >= s.Messages {
			k.tell(store.AreaMessages, s.ID, "message %d is not where it should be: the session has %d", seq, s.Messages)
		}
		m, err := message.ParseJSON([]byte(row[2].(string)))
		if err != nil {
			k.tell(store.AreaMessages, s.ID, "message %d (%s) cannot be read: %v", seq, row[1], err)
			return nil
		}
		if m.HasCalls() {
			k.asked[asked{n, m.ID}] = true
		}
		text := store.SearchText(m)
		indexed, ok := row[3].(string)
		if waits := row[4].(int64) != 0; waits && !ok {
			return nil
		}
		if ok && indexed != text || !ok && text != "" && !copied(s, m) {
			k.tell(store.AreaIndex, s.ID, "a search does not find message %d as it is", seq)
		}
		return nil
	})
	for n, s := range k.sessions {
		if lost := s.Messages - have[n]; lost > 0 {
			k.tell(store.AreaMessages, s.ID, "%d of its %d messages are lost", lost, s.Messages)
		}
	}
	return err
}

// copied reports whether m was brought from the session that s continues: it is
// found there.
func copied(s store.Session, m *message.Message) bool {
	return s.Relation == store.Compression && !m.Time.After(s.CreatedAt.Add(time.Microsecond))
}

func (k *check) foreign() error {
	err := k.c.query(k.ctx, sqlForeign, nil, func(row []driver.Value) error {
		if n := row[1].(int64); n > 0 {
			k.tell(store.AreaMessages, "", "%d %s belong to no session", n, row[0])
		}
		return nil
	})
	if err != nil {
		return err
	}
	return k.c.query(k.ctx, sqlLost, nil, func(row []driver.Value) error {
		if n := row[0].(int64); n > 0 {
			k.tell(store.AreaIndex, "", "%d texts belong to no message", n)
		}
		return nil
	})
}

// journal compares the journal with the messages whose calls it tells of.
func (k *check) journal() error {
	return k.c.query(k.ctx, sqlBegins, nil, func(row []driver.Value) error {
		n, id := row[0].(int64), row[1].(string)
		if !k.asked[asked{n, id}] {
			k.tell(store.AreaJournal, k.sessions[n].ID, "a call of %s was begun in message %s, which there is not", row[2], id)
		}
		return nil
	})
}
