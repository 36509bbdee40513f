package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// gram is the length in characters of what the index of texts is made of.
const gram = 3

// Search implements store.Searcher. Terms of three characters and more are
// looked up in an index; shorter ones are compared with each text that is left
// and fit in either case for ASCII letters only.
func (s *Store) Search(ctx context.Context, query string, o store.SearchOptions) (hits []store.Hit, err error) {
	terms := store.Terms(query)
	if len(terms) == 0 {
		return nil, store.ErrEmptyQuery
	}
	if err := s.catchUp(ctx); err != nil {
		return nil, fmt.Errorf("search sessions for %q: %w", query, err)
	}
	sql, args := searchSQL(terms, o)
	err = s.read(ctx, func(c *conn) error {
		hits = nil
		return c.queryOnce(ctx, sql, args, func(row []driver.Value) error {
			h := store.Hit{
				Session: row[0].(string), Title: row[1].(string), MessageID: row[2].(string),
				Seq: int(row[3].(int64)), Role: message.Role(row[4].(string)),
			}
			h.SetSnippet(row[5].(string), terms)
			hits = append(hits, h)
			return nil
		})
	})
	if err != nil {
		return nil, fmt.Errorf("search sessions for %q: %w", query, err)
	}
	return hits, nil
}

func searchSQL(terms []string, o store.SearchOptions) (string, []driver.Value) {
	var sql strings.Builder
	var args []driver.Value
	add := func(text string, arg driver.Value) {
		sql.WriteString(text)
		args = append(args, arg)
	}
	sql.WriteString(`SELECT s.id, ifnull(s.title, ''), m.id, m.seq, m.role, t.text
		FROM message_text t JOIN messages m ON m.key = t.rowid JOIN sessions s ON s.n = m.session WHERE true`)
	var match []string
	for _, t := range terms {
		if utf8.RuneCountInString(t) >= gram {
			match = append(match, `"`+strings.ReplaceAll(t, `"`, `""`)+`"`)
		} else {
			add(` AND t.text LIKE ? ESCAPE '\'`, "%"+likeEscaper.Replace(t)+"%")
		}
	}
	if len(match) > 0 {
		add(" AND t.text MATCH ?", strings.Join(match, " AND "))
	}
	if o.Workspace != "" {
		add(" AND s.workspace = ?", o.Workspace)
	}
	if o.Session != "" {
		add(" AND s.id = ?", o.Session)
	}
	add(" ORDER BY t.rowid DESC LIMIT ?", int64(cmp.Or(o.Limit, store.DefaultSearchLimit)))
	return sql.String(), args
}

var likeEscaper = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
