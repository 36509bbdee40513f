package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlEnded = `UPDATE rondo_effects SET finished_ns = $1, status = $2
		WHERE session = (SELECT n FROM rondo_sessions WHERE id = $3) AND message = $4 AND place = $5`
	sqlEffects = `SELECT e.place, e.call, e.tool, e.args_digest, e.started_ns, e.finished_ns, e.status
		FROM rondo_effects e JOIN rondo_sessions s ON s.n = e.session WHERE s.id = $1 AND e.message = $2 ORDER BY e.place`
	sqlExists  = "SELECT FROM rondo_sessions WHERE id = $1"
	sqlMend    = "INSERT INTO rondo_repairs (session, body) SELECT n, $2 FROM rondo_sessions WHERE id = $1"
	sqlRepairs = "SELECT r.body FROM rondo_repairs r JOIN rondo_sessions s ON s.n = r.session WHERE s.id = $1 ORDER BY r.n"
	sqlState   = "SELECT st.body FROM rondo_sessions s LEFT JOIN rondo_states st ON st.session = s.n WHERE s.id = $1"
	// sqlSaveState takes the token of the session's lock as sqlRecord does.
	sqlSaveState = "WITH " + sqlFence + ` INSERT INTO rondo_states (session, body)
		SELECT n, $3 FROM rondo_sessions WHERE id = $1 AND ` + fenced + ` ON CONFLICT (session) DO UPDATE SET body = excluded.body`
)

// parted parts effects that begin from those that end.
func parted(effects []store.Effect) (begin, ends []store.Effect) {
	for _, e := range effects {
		if e.FinishedAt.IsZero() {
			begin = append(begin, e)
		} else {
			ends = append(ends, e)
		}
	}
	return begin, ends
}

// effectArgs are the arguments of sqlRecord for effects that begin.
func effectArgs(begin []store.Effect) args {
	n := len(begin)
	messages, calls, tools, digests := make([]string, n), make([]string, n), make([]string, n), make([]string, n)
	places, started := make([]int64, n), make([]int64, n)
	for i, e := range begin {
		messages[i], places[i], calls[i] = e.MessageID, int64(e.Index), e.CallID
		tools[i], digests[i], started[i] = e.Tool, e.ArgsDigest, e.StartedAt.UnixNano()
	}
	return args{messages, places, calls, tools, digests, started}
}

// addEnd records the end of an effect of session id.
func addEnd(b *batch, id string, e store.Effect) {
	b.add(sqlEnded, args{e.FinishedAt.UnixNano(), string(e.Status), id, e.MessageID, e.Index}, nil,
		some(fmt.Errorf("record the end of %s: %w", e.Tool, store.ErrNotBegun)))
}

// Effects implements store.Journal.
func (s *Store) Effects(ctx context.Context, id, messageID string) (list []store.Effect, err error) {
	err = s.lookInto(ctx, id, func(b *batch) {
		list = nil
		b.add(sqlEffects, args{id, messageID}, func(r *row) {
			e := store.Effect{
				MessageID: messageID, Index: int(r.number(0)), CallID: r.text(1), Tool: r.text(2), ArgsDigest: r.text(3),
				StartedAt: time.Unix(0, r.number(4)), Status: message.Status(r.text(6)),
			}
			if r.values[5] != nil {
				e.FinishedAt = time.Unix(0, r.number(5))
			}
			list = append(list, e)
		}, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("read the journal of session %s: %w", id, err)
	}
	return list, nil
}

// lookInto is look for what belongs to session id.
func (s *Store) lookInto(ctx context.Context, id string, fill func(b *batch)) error {
	return s.look(ctx, func(b *batch) {
		b.add(sqlExists, args{id}, nil, some(store.ErrNotFound))
		fill(b)
	})
}

// change runs a statement that changes a row of a session or finds none.
func (s *Store) change(ctx context.Context, how attempts, sql string, a args) error {
	return s.use(ctx, how, func(c *conn) error { return c.tell(ctx, sql, a, store.ErrNotFound) })
}

// Mend implements store.Mender.
func (s *Store) Mend(ctx context.Context, id string, r store.Repair) error {
	body, err := json.Marshal(r, jsontext.AllowInvalidUTF8(true))
	if err == nil {
		err = s.change(ctx, once, sqlMend, args{id, string(body)})
	}
	if err != nil {
		return fmt.Errorf("mend session %s: %w", id, err)
	}
	return nil
}

// Repairs implements store.Mender.
func (s *Store) Repairs(ctx context.Context, id string) (list []store.Repair, err error) {
	err = s.lookInto(ctx, id, func(b *batch) {
		list = nil
		b.add(sqlRepairs, args{id}, func(r *row) {
			var repair store.Repair
			r.fail(0, json.Unmarshal([]byte(r.text(0)), &repair, jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true)))
			list = append(list, repair)
		}, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("read the repairs of session %s: %w", id, err)
	}
	return list, nil
}

// SaveState implements store.Stater.
func (s *Store) SaveState(ctx context.Context, id string, state []byte) error {
	err := s.change(ctx, repeated, sqlSaveState, args{id, s.locks.token(id), string(state)})
	if errors.Is(err, store.ErrNotFound) {
		err = s.whyNot(ctx, id)
	}
	if err != nil {
		return fmt.Errorf("save the state of session %s: %w", id, err)
	}
	return nil
}

// State implements store.Stater.
func (s *Store) State(ctx context.Context, id string) (state []byte, err error) {
	err = s.ask(ctx, func(b *batch) {
		state = nil
		b.add(sqlState, args{id}, func(r *row) {
			if r.values[0] != nil {
				state = []byte(r.text(0))
			}
		}, some(store.ErrNotFound))
	})
	if err != nil {
		return nil, fmt.Errorf("read the state of session %s: %w", id, err)
	}
	return state, nil
}
