package postgres

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

var _ store.Checker = (*Store)(nil)

const (
	// sqlCounts finds sessions that count other messages than they have, or
	// have some in wrong places.
	sqlCounts = `SELECT s.id, s.messages, count(m.seq), coalesce(min(m.seq), 0), coalesce(max(m.seq) + 1, 0)
		FROM rondo_sessions s LEFT JOIN rondo_messages m ON m.session = s.n GROUP BY s.n
		HAVING count(m.seq) <> s.messages OR coalesce(min(m.seq), 0) <> 0 OR coalesce(max(m.seq) + 1, 0) <> s.messages ORDER BY s.n`
	sqlAll = `SELECT s.id, m.seq, m.id, m.body, m.folded FROM rondo_messages m JOIN rondo_sessions s ON s.n = m.session
		ORDER BY m.session, m.seq`
	sqlBegins = `SELECT s.id, e.message, e.tool FROM rondo_effects e JOIN rondo_sessions s ON s.n = e.session
		WHERE NOT EXISTS (SELECT FROM rondo_messages m WHERE m.session = e.session AND m.id = e.message) ORDER BY s.n`
)

// Check implements store.Checker. The pages and the indexes are the server's to
// check; this looks at what the records say of one another.
func (s *Store) Check(ctx context.Context) (r store.Report, err error) {
	err = s.look(ctx, func(b *batch) {
		r = store.Report{}
		var all []store.Session
		tell := func(area store.Area, session, format string, a ...any) {
			r.Problems = append(r.Problems, store.Problem{Area: area, Session: session, Text: fmt.Sprintf(format, a...)})
		}
		b.add(sqlSession, nil, into(&all), func(rows int64) error {
			r.Sessions = int(rows)
			r.Problems = append(r.Problems, store.CheckLineage(all)...)
			return nil
		})
		b.add(sqlCounts, nil, func(x *row) {
			tell(store.AreaMessages, x.text(0), "it counts %d messages and has %d, from number %d to before %d", x.number(1), x.number(2), x.number(3), x.number(4))
		}, nil)
		b.add(sqlAll, nil, func(x *row) {
			r.Messages++
			checkMessage(x, tell)
		}, nil)
		b.add(sqlBegins, nil, func(x *row) {
			tell(store.AreaJournal, x.text(0), "a call of %s was begun in message %s, which there is not", x.text(2), x.text(1))
		}, nil)
	})
	if err != nil {
		return r, fmt.Errorf("check the session store: %w", err)
	}
	return r, nil
}

// checkMessage looks whether a message can be read and is found by what it says.
// One without a text to find was brought from another session, or has none.
func checkMessage(x *row, tell func(area store.Area, session, format string, a ...any)) {
	m, err := message.ParseJSON([]byte(x.text(3)))
	if err != nil {
		tell(store.AreaMessages, x.text(0), "message %d (%s) cannot be read: %v", x.number(1), x.text(2), err)
		return
	}
	if x.values[4] != nil && x.text(4) != lower(store.SearchText(m)) {
		tell(store.AreaIndex, x.text(0), "a search does not find message %d as it is", x.number(1))
	}
}
