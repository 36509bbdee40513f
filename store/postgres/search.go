package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// Search implements store.Searcher. Terms of three characters and more are
// looked up in an index of trigrams, if the database has it; the others are
// compared with each text.
func (s *Store) Search(ctx context.Context, query string, o store.SearchOptions) (hits []store.Hit, err error) {
	terms := store.Terms(query)
	if len(terms) == 0 {
		return nil, store.ErrEmptyQuery
	}
	sql, args := searchSQL(terms, o)
	err = s.ask(ctx, func(b *pgx.Batch) {
		hits = nil
		b.Queue(sql, args...).Query(func(rows pgx.Rows) error {
			for rows.Next() {
				h, err := scanHit(rows, terms)
				if err != nil {
					return err
				}
				hits = append(hits, h)
			}
			return rows.Err()
		})
	})
	if err != nil {
		return nil, fmt.Errorf("search sessions for %q: %w", query, err)
	}
	return hits, nil
}

// scanHit reads a row of a search. The text of a message is in its body; where
// that is damaged, what was compared stands for it.
func scanHit(rows pgx.Rows, terms []string) (store.Hit, error) {
	var h store.Hit
	var role, body, folded string
	err := rows.Scan(&h.Session, &h.Title, &h.MessageID, &h.Seq, &role, &body, &folded)
	h.Session, h.Title, h.MessageID = unescape(h.Session), unescape(h.Title), unescape(h.MessageID)
	h.Role = message.Role(role)
	text := unescape(folded)
	if m, err := message.ParseJSON([]byte(body)); err == nil {
		text = store.SearchText(m)
	}
	h.SetSnippet(text, terms)
	return h, err
}

func searchSQL(terms []string, o store.SearchOptions) (string, []any) {
	var sql strings.Builder
	var args []any
	add := func(before string, arg any, after string) {
		args = append(args, arg)
		sql.WriteString(before + "$" + strconv.Itoa(len(args)) + after)
	}
	sql.WriteString(`SELECT s.id, coalesce(s.title, ''), m.id, m.seq, m.role, m.body, m.folded
		FROM rondo_messages m JOIN rondo_sessions s ON s.n = m.session WHERE m.folded IS NOT NULL`)
	like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
	for _, t := range terms {
		add(" AND m.folded LIKE ", "%"+like.Replace(escape(lower(t)))+"%", "")
	}
	if o.Workspace != "" {
		add(" AND s.workspace = ", escape(o.Workspace), "")
	}
	if o.Session != "" {
		add(" AND s.id = ", escape(o.Session), "")
	}
	add(" ORDER BY m.session DESC, m.seq DESC LIMIT ", cmp.Or(o.Limit, store.DefaultSearchLimit), "::bigint")
	return sql.String(), args
}
