package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
)

const (
	// sqlSession yields the columns that scan reads.
	sqlSession = `SELECT s.id, coalesce(s.title, ''), s.parent, s.relation, s.workspace, s.provider, s.model, s.system,
		s.created_ns, s.updated_ns, s.messages, s.calls, s.input_tokens, s.cache_read_tokens, s.cache_write_tokens,
		s.output_tokens, s.reasoning_tokens, s.cost_usd, s.end_reason FROM rondo_sessions s `
	sqlByID     = sqlSession + "WHERE s.id = $1"
	sqlByPrefix = sqlSession + "WHERE s.id >= $1 AND s.id < $1 || chr(1114111) ORDER BY s.id LIMIT 20"
	sqlByTitle  = sqlSession + "WHERE s.title_key = $1"
	sqlList     = sqlSession + "WHERE $1 = '' OR s.workspace = $1 ORDER BY s.updated_ns DESC, s.id DESC LIMIT nullif($2::bigint, 0)"
	sqlLast     = sqlSession + "WHERE ($1 = '' OR s.workspace = $1) AND s.relation <> 'delegate' ORDER BY s.updated_ns DESC, s.id DESC LIMIT 1"
	// sqlTip follows a line of compressions to its end.
	sqlTip = `WITH RECURSIVE line AS (
			SELECT id, 0 AS depth FROM rondo_sessions WHERE id = $1
			UNION ALL
			SELECT next.id, line.depth + 1 FROM line CROSS JOIN LATERAL (
				SELECT id FROM rondo_sessions WHERE parent = line.id AND parent <> '' AND relation = 'compression' ORDER BY n LIMIT 1
			) next
		) ` + sqlSession + "WHERE s.id = (SELECT id FROM line ORDER BY depth DESC LIMIT 1)"
	sqlMessages = `SELECT m.body FROM rondo_messages m JOIN rondo_sessions s ON s.n = m.session WHERE s.id = $1 ORDER BY m.seq`
)

// scan reads a row of sqlSession.
func scan(r *row) store.Session {
	return store.Session{
		ID: r.text(0), Title: r.text(1), Parent: r.text(2), Relation: r.text(3), Workspace: r.text(4),
		Provider: r.text(5), Model: r.text(6), System: r.text(7),
		CreatedAt: time.Unix(0, r.number(8)), UpdatedAt: time.Unix(0, r.number(9)),
		Messages: int(r.number(10)), Calls: int(r.number(11)),
		Usage: model.Usage{
			Input: r.number(12), CacheRead: r.number(13), CacheWrite: r.number(14), Output: r.number(15), Reasoning: r.number(16),
		},
		CostUSD: r.float(17), EndReason: r.text(18),
	}
}

// into appends the sessions that a statement over sqlSession yields to list.
func into(list *[]store.Session) func(*row) {
	return func(r *row) { *list = append(*list, scan(r)) }
}

// sessions returns the sessions that a statement over sqlSession yields.
func (s *Store) sessions(ctx context.Context, sql string, a args) (list []store.Session, err error) {
	err = s.ask(ctx, func(b *batch) {
		list = nil
		b.add(sql, a, into(&list), nil)
	})
	return list, err
}

// Load implements store.Store. Messages that cannot be read are left out; the
// error is then a *store.DamagedError and comes with all the others.
func (s *Store) Load(ctx context.Context, id string) (store.Session, []*message.Message, error) {
	var found []store.Session
	var msgs []*message.Message
	var damaged *store.DamagedError
	err := s.look(ctx, func(b *batch) {
		found, msgs, damaged = nil, nil, nil
		b.add(sqlByID, args{id}, into(&found), nil)
		seq := 0
		b.add(sqlMessages, args{id}, func(r *row) {
			m, err := message.ParseJSON([]byte(r.text(0)))
			if err == nil {
				msgs = append(msgs, m)
			} else {
				if damaged == nil {
					damaged = &store.DamagedError{Session: id, Err: err}
				}
				damaged.Seqs = append(damaged.Seqs, seq)
			}
			seq++
		}, nil)
	})
	if err == nil && len(found) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Session{}, nil, fmt.Errorf("load session %s: %w", id, err)
	}
	if damaged != nil {
		return found[0], msgs, damaged
	}
	return found[0], msgs, nil
}

// Find implements store.Store.
func (s *Store) Find(ctx context.Context, ref, workspace string) (found store.Session, err error) {
	if ref == store.Last {
		found, err = s.last(ctx, workspace)
	} else {
		found, err = s.resolve(ctx, ref)
	}
	if err != nil {
		return store.Session{}, fmt.Errorf("find session: %w", err)
	}
	return found, nil
}

func (s *Store) last(ctx context.Context, workspace string) (store.Session, error) {
	list, err := s.sessions(ctx, sqlLast, args{workspace})
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("there is no last one: %w", store.ErrNotFound)
	}
	if err != nil {
		return store.Session{}, err
	}
	return list[0], nil
}

func (s *Store) resolve(ctx context.Context, ref string) (store.Session, error) {
	var prefixed, titled []store.Session
	err := s.ask(ctx, func(b *batch) {
		prefixed, titled = nil, nil
		b.add(sqlByPrefix, args{ref}, into(&prefixed), nil)
		b.add(sqlByTitle, args{foldKey(ref)}, into(&titled), nil)
	})
	if err != nil {
		return store.Session{}, err
	}
	chosen, byTitle, err := store.Choose(ref, append(prefixed, titled...))
	if err != nil || !byTitle {
		return chosen, err
	}
	return s.tip(ctx, chosen.ID)
}

func (s *Store) tip(ctx context.Context, id string) (store.Session, error) {
	list, err := s.sessions(ctx, sqlTip, args{id})
	if err == nil && len(list) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return store.Session{}, err
	}
	return list[0], nil
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, o store.ListOptions) ([]store.Session, error) {
	list, err := s.sessions(ctx, sqlList, args{o.Workspace, o.Limit})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return list, nil
}
