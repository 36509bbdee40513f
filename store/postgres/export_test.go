package postgres

import "testing"

// LockSetting returns a setting of the connection that holds the locks.
func LockSetting(t *testing.T, s *Store, name string) (value string) {
	t.Helper()
	if err := s.locks.conn.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&value); err != nil {
		t.Fatal(err)
	}
	return value
}
