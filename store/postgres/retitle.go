package postgres

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo/store"
)

var _ store.Retitler = (*Store)(nil)

// sqlTitle reads a title and keeps it as it is until the transaction ends.
const sqlTitle = "SELECT coalesce(title, '') FROM rondo_sessions WHERE id = $1 FOR UPDATE"

// Retitle implements store.Retitler.
func (s *Store) Retitle(ctx context.Context, id, from, to string) (title string, err error) {
	err = s.write(ctx, func(c *conn, _ bool) error {
		found, err := c.ask(ctx, sqlTitle, args{id}, func(r *row) { title = r.text(0) })
		if err == nil && found == 0 {
			err = store.ErrNotFound
		}
		if err != nil || !store.Numbered(title, from) {
			return err
		}
		if title, err = freeTitle(ctx, c, to, id); err != nil {
			return err
		}
		return c.tell(ctx, sqlRename, args{id, title, foldKey(title)}, store.ErrNotFound)
	})
	if err != nil {
		return "", fmt.Errorf("retitle session %s: %w", id, err)
	}
	return title, nil
}
