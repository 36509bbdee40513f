package postgres

import "testing"

// LockSetting returns a setting of the connection that holds the locks.
func LockSetting(t *testing.T, s *Store, name string) (value string) {
	t.Helper()
	if _, err := s.locks.conn.ask(t.Context(), "SELECT current_setting($1)", args{name}, func(r *row) { value = r.text(0) }); err != nil {
		t.Fatal(err)
	}
	return value
}
