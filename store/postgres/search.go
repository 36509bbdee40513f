package postgres

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

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
	sql, a := searchSQL(terms, o)
	err = s.ask(ctx, func(b *batch) {
		hits = nil
		b.add(sql, a, func(r *row) { hits = append(hits, hit(r, terms)) }, nil)
	})
	if err != nil {
		return nil, fmt.Errorf("search sessions for %q: %w", query, err)
	}
	return hits, nil
}

// hit reads a row of a search. The text of a message is in its body; where that
// is damaged, what was compared stands for it.
func hit(r *row, terms []string) store.Hit {
	h := store.Hit{
		Session: r.text(0), Title: r.text(1), MessageID: r.text(2), Seq: int(r.number(3)), Role: message.Role(r.text(4)),
	}
	text := r.text(6)
	if m, err := message.ParseJSON([]byte(r.text(5))); err == nil {
		text = store.SearchText(m)
	}
	h.SetSnippet(text, terms)
	return h
}

func searchSQL(terms []string, o store.SearchOptions) (string, args) {
	var sql strings.Builder
	var a args
	add := func(before string, arg any, after string) {
		a = append(a, arg)
		sql.WriteString(before + "$" + strconv.Itoa(len(a)) + after)
	}
	sql.WriteString(`SELECT s.id, coalesce(s.title, ''), m.id, m.seq, m.role, m.body, m.folded
		FROM rondo_messages m JOIN rondo_sessions s ON s.n = m.session WHERE m.folded IS NOT NULL`)
	like := strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)
	for _, t := range terms {
		add(" AND m.folded LIKE ", "%"+like.Replace(lower(t))+"%", "")
	}
	if o.Workspace != "" {
		add(" AND s.workspace = ", o.Workspace, "")
	}
	if o.Session != "" {
		add(" AND s.id = ", o.Session, "")
	}
	add(" ORDER BY m.session DESC, m.seq DESC LIMIT ", cmp.Or(o.Limit, store.DefaultSearchLimit), "::bigint")
	return sql.String(), a
}
