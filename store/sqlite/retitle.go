package sqlite

import (
	"context"
	"fmt"

	"github.com/rondo-engine/rondo/store"
)

var _ store.Retitler = (*Store)(nil)

const sqlRetitle = "UPDATE sessions SET title = ? WHERE n = ?"

// Retitle implements store.Retitler.
func (s *Store) Retitle(ctx context.Context, id, from, to string) (title string, err error) {
	err = s.write(ctx, func(c *conn) error {
		found, err := sessions(ctx, c, sqlByID, id)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return store.ErrNotFound
		}
		title = found[0].Title
		if !store.Numbered(title, from) {
			return nil
		}
		if title, err = freeTitle(ctx, c, to, found[0].n); err != nil {
			return err
		}
		return c.exec(sqlRetitle, title, found[0].n)
	})
	if err != nil {
		return "", fmt.Errorf("retitle session %s: %w", id, err)
	}
	return title, nil
}
