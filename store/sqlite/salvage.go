package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/rondo-engine/rondo/internal/sqlitefile"
)

// salvage reads the rows of a damaged file. Sessions are kept in memory, since
// which of several versions of one is the newest must be known; all else goes
// to the new file as it is met.
type salvage struct {
	*repair
	ctx  context.Context
	file *sqlitefile.File

	sessions map[int64]*found
	indexed  map[int64]bool // the messages that a search found
	schema   []string       // the tables that the file names
	last     int64          // the greatest number that a session had
	rows     int            // of messages
	damaged  int            // rows that could not be read
}

// found is the row of a session: its values in the order of sqlRestore, the
// first of which is its number.
type found struct{ values []driver.Value }

func (f *found) id() string      { return f.values[1].(string) }
func (f *found) updated() int64  { return f.values[9].(int64) }
func (f *found) messages() int64 { return f.values[10].(int64) }
func (f *found) setID(id string) { f.values[1] = id }
func (f *found) title() string   { s, _ := f.values[2].(string); return s }

func (f *found) setCount(n int64) { f.values[10] = n }

const (
	sqlRestore = `INSERT INTO sessions (n, id, title, parent, relation, workspace, provider, model, created_ns, updated_ns, messages,
		calls, input_tokens, cache_read_tokens, cache_write_tokens, output_tokens, reasoning_tokens, cost_usd, end_reason, indexed)
		VALUES (?1, ?2, nullif(?3, ''), ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?11)`
	sqlRestoreMessage = "INSERT INTO messages (key, id, role, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"
	sqlRestorePrompt  = "INSERT INTO prompts (n, system) VALUES (?, ?) ON CONFLICT DO NOTHING"
	sqlRestoreEffect  = `INSERT INTO effects (session, message, place, call, tool, args_digest, started_ns, finished_ns, status)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlRestoreRepair = "INSERT INTO repairs (session, n, body) VALUES (?, ?, ?) ON CONFLICT DO NOTHING"
	sqlRestoreNote   = "INSERT INTO notes (session, n, time_ns, kind, body) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)

// read looks at each row once, for what it says of the whole.
func (v *salvage) read() error {
	if known := len(migrations); v.file.UserVersion > known {
		return fmt.Errorf("%w: the file has version %d, this program knows versions up to %d", ErrNewerSchema, v.file.UserVersion, known)
	}
	return v.each(func(row sqlitefile.Row) error { return v.survey(row.Key, row.Index, row.Fields) })
}

// each calls f for each row that can be read.
func (v *salvage) each(f func(sqlitefile.Row) error) error {
	v.damaged = 0
	for row, err := range v.file.Rows() {
		if _, ok := errors.AsType[*sqlitefile.DamagedError](err); ok {
			v.damaged++
			continue
		}
		if err == nil {
			err = v.ctx.Err()
		}
		if err == nil {
			err = f(row)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// sessionTypes are the types of the first columns of a session, see fits. Those
// that later versions added are made anew.
const sessionTypes = "-s?sssssiiiiiiiiirs"

// survey takes note of the rows that are needed before the others.
func (v *salvage) survey(key int64, index bool, f []any) error {
	switch {
	case index:
	case len(f) >= len(sessionTypes) && fits(f, sessionTypes):
		v.session(key, f)
	case len(f) == 4 && fits(f, "-sss") && key >= firstKey(1):
		v.rows++
	case len(f) == 2 && fits(f, "-s") && key >= firstKey(1):
		v.indexed[key] = true
	case len(f) == 2 && fits(f, "si") && f[0] == "sessions":
		v.last = max(v.last, f[1].(int64))
	case len(f) == 5 && fits(f, "sssi?"):
		v.schema = append(v.schema, f[1].(string))
	}
	return nil
}

// session takes the row of a session, the newest if there are several.
func (v *salvage) session(n int64, f []any) {
	s := &found{values: make([]driver.Value, len(sessionTypes))}
	for i, x := range f[:len(sessionTypes)] {
		s.values[i] = x
	}
	s.values[0] = n
	if x, ok := f[17].(int64); ok { // how SQLite keeps a whole number of dollars
		s.values[17] = float64(x)
	}
	if old := v.sessions[n]; old == nil || old.updated() <= s.updated() {
		v.sessions[n] = s
	}
	v.last = max(v.last, n)
}

// put writes a row that belongs to a session into the new file.
func (v *salvage) put(c *conn, row sqlitefile.Row) error {
	f := row.Fields
	args := make([]driver.Value, len(f))
	for i, x := range f {
		args[i] = x
	}
	switch {
	case !row.Index && len(f) == 4 && fits(f, "-sss") && row.Key >= firstKey(1):
		args[0] = row.Key
		return c.exec(sqlRestoreMessage, args...)
	case !row.Index && len(f) == 2 && fits(f, "-s") && row.Key < firstKey(1):
		args[0] = row.Key
		return c.exec(sqlRestorePrompt, args...)
	case row.Index && len(f) == 9 && fits(f, "isisssi?s"):
		return c.exec(sqlRestoreEffect, args...)
	case row.Index && len(f) == 3 && fits(f, "iis"):
		return c.exec(sqlRestoreRepair, args...)
	case row.Index && len(f) == 5 && fits(f, "iiiss"):
		return c.exec(sqlRestoreNote, args...)
	}
	return nil
}

// fits reports whether fields have the types that a letter each names: i is a
// whole number, s a text, r a number, - NULL and ? anything.
func fits(fields []any, types string) bool {
	for i, want := range []byte(types) {
		var ok bool
		switch want {
		case 'i':
			_, ok = fields[i].(int64)
		case 's':
			_, ok = fields[i].(string)
		case 'r':
			_, whole := fields[i].(int64)
			_, ok = fields[i].(float64)
			ok = ok || whole
		case '-':
			ok = fields[i] == nil
		case '?':
			ok = true
		}
		if !ok {
			return false
		}
	}
	return true
}

// refuse says why a file is not repaired: it is somebody else's, or holds nothing.
func (v *salvage) refuse() error {
	switch {
	case len(v.sessions) > 0, v.rows > 0, slices.Contains(v.schema, "sessions"):
		return nil
	case len(v.schema) > 0:
		return fmt.Errorf("%w (it has a table %q)", ErrForeign, v.schema[0])
	}
	return ErrNothingReadable
}

// numbers are the numbers of the sessions, in order.
func (v *salvage) numbers() []int64 {
	return slices.SortedFunc(maps.Keys(v.sessions), cmp.Compare[int64])
}
