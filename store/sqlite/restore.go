package sqlite

import (
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/internal/sqlitefile"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

const (
	sqlOwners  = "SELECT DISTINCT key >> 32 FROM messages ORDER BY 1"
	sqlPlaces  = "SELECT key & 0xffffffff, id FROM messages WHERE key >= ? AND key < ? ORDER BY key"
	sqlBodies  = "SELECT key, id, role, body FROM messages WHERE key >= ? AND key < ? ORDER BY key"
	sqlBody    = "UPDATE messages SET body = CAST(?2 AS TEXT) WHERE key = ?1"
	sqlHighest = "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'sessions'"
	sqlGone    = `DELETE FROM %s WHERE %s NOT IN (SELECT n FROM sessions)`
	sqlUnsaid  = "DELETE FROM effects WHERE session = ? AND message = ?"
)

// write fills the new file with what was found, in one transaction.
func (v *salvage) write(c *conn) error {
	if err := v.refuse(); err != nil {
		return err
	}
	if err := v.each(func(row sqlitefile.Row) error { return v.put(c, row) }); err != nil {
		return err
	}
	for _, f := range []func(*conn) error{v.adopt, v.writeSessions, v.dropForeign} {
		if err := f(c); err != nil {
			return err
		}
	}
	v.remark()
	return nil
}

// adopt makes sessions for messages whose own was lost.
func (v *salvage) adopt(c *conn) error {
	return c.query(v.ctx, sqlOwners, nil, func(row []driver.Value) error {
		n := row[0].(int64)
		if v.sessions[n] != nil {
			return nil
		}
		now := nanos(v.o.Now())
		s := &found{values: []driver.Value{n, "recovered-" + strconv.FormatInt(n, 10), "", "", "", "", "", "", now, now}}
		for len(s.values) < 17 {
			s.values = append(s.values, int64(0))
		}
		s.values = append(s.values, float64(0), "", int64(0))
		v.sessions[n] = s
		v.last = max(v.last, n)
		v.r.Lost = append(v.r.Lost, fmt.Sprintf("what a session was called: its messages are now those of session %s", s.id()))
		return nil
	})
}

func (v *salvage) writeSessions(c *conn) error {
	ids := map[string]bool{}
	for _, n := range v.numbers() {
		s := v.sessions[n]
		if ids[s.id()] {
			v.r.Remarks = append(v.r.Remarks, fmt.Sprintf("session %s was there twice: the other is now recovered-%d", s.id(), n))
			s.setID("recovered-" + strconv.FormatInt(n, 10))
		}
		ids[s.id()] = true
		if err := v.complete(c, n, s); err != nil {
			return fmt.Errorf("session %s: %w", s.id(), err)
		}
	}
	v.r.Sessions = len(v.sessions)
	return c.exec(sqlHighest, v.last)
}

// complete writes a session, fills the gaps in its messages as far as they are
// known elsewhere, and makes its part of the index.
func (v *salvage) complete(c *conn, n int64, s *found) error {
	title, err := freeTitle(v.ctx, c, s.title(), n)
	if err != nil {
		return err
	}
	s.values[2] = title
	have, err := v.places(c, n)
	if err != nil {
		return err
	}
	spare := v.spare(s.id(), have)
	lost, err := v.fill(c, n, s, have, spare)
	if err != nil {
		return err
	}
	if err := c.exec(sqlRestore, s.values...); err != nil {
		return err
	}
	if err := v.index(c, n, s, spare); err != nil {
		return err
	}
	if len(lost) > 0 {
		v.r.Lost = append(v.r.Lost, fmt.Sprintf("session %s (%s): %d of its %d messages: %s", s.id(), s.title(), len(lost), s.messages(), ranges(lost)))
		if err := v.note(c, n, store.NoteRecovered, store.Recovered{Lost: lost}); err != nil {
			return err
		}
	}
	if s.messages() == 0 {
		return nil
	}
	return v.note(c, n, store.NoteUnjournalled, store.Unjournalled{Messages: int(s.messages())})
}

func (v *salvage) note(c *conn, n int64, kind string, what any) error {
	body, err := json.Marshal(what)
	if err != nil {
		return err
	}
	return c.exec(sqlNote, n, nanos(v.o.Now()), kind, body)
}

// places returns the ids of the messages of session n, by their places.
func (v *salvage) places(c *conn, n int64) (map[int]string, error) {
	have := map[int]string{}
	err := c.query(v.ctx, sqlPlaces, []driver.Value{firstKey(n), endKey(n)}, func(row []driver.Value) error {
		have[int(row[0].(int64))] = row[1].(string)
		return nil
	})
	return have, err
}

// fill takes messages that are missing from elsewhere, and returns the places
// of those that are not to be had.
func (v *salvage) fill(c *conn, n int64, s *found, have map[int]string, spare []*message.Message) (lost []int, err error) {
	end := max(int(s.messages()), len(spare))
	for seq := range have {
		end = max(end, seq+1)
	}
	for seq := range end {
		if _, ok := have[seq]; ok {
			continue
		}
		if seq >= len(spare) {
			lost = append(lost, seq)
			continue
		}
		if err := insert(c, firstKey(n)+int64(seq), spare[seq]); err != nil {
			return nil, err
		}
		v.r.Filled++
	}
	v.r.Messages += end - len(lost)
	s.setCount(int64(end))
	return lost, nil
}

// spare is what is known elsewhere of a session, if its messages there are the
// same.
func (v *salvage) spare(id string, have map[int]string) []*message.Message {
	if v.o.Spare == nil {
		return nil
	}
	spare := v.o.Spare(id)
	for seq, m := range spare {
		if known, ok := have[seq]; ok && known != m.ID {
			v.r.Remarks = append(v.r.Remarks, fmt.Sprintf("the snapshot of session %s tells of other messages than the file: it is not used", id))
			return nil
		}
	}
	return spare
}

// index has a search find the messages of a session, and takes those that say
// nothing to be understood from elsewhere.
func (v *salvage) index(c *conn, n int64, s *found, spare []*message.Message) error {
	list, err := sessions(v.ctx, c, sqlByID, s.id())
	if err != nil || len(list) == 0 {
		return err
	}
	asks := map[string]bool{}
	err = c.query(v.ctx, sqlBodies, []driver.Value{firstKey(n), endKey(n)}, func(row []driver.Value) error {
		key := row[0].(int64)
		m, err := message.ParseJSON([]byte(row[3].(string)))
		if seq := int(key - firstKey(n)); err != nil && seq < len(spare) {
			m, err = spare[seq], c.exec(sqlBody, key, message.AppendJSON(nil, spare[seq]))
			v.r.Filled++
		}
		if err != nil {
			v.r.Lost = append(v.r.Lost, fmt.Sprintf("session %s: what message %s says: %v", s.id(), row[1], err))
			return nil
		}
		asks[m.ID] = m.HasCalls()
		text := store.SearchText(m)
		if text == "" || !v.indexed[key] && copied(list[0].Session, m) {
			return nil
		}
		return c.exec(sqlText, key, text)
	})
	if err != nil {
		return err
	}
	return v.dropUnsaid(c, n, asks)
}

// dropUnsaid leaves out of the journal what belongs to messages that are lost.
func (v *salvage) dropUnsaid(c *conn, n int64, asks map[string]bool) error {
	var unsaid []string
	err := c.query(v.ctx, "SELECT DISTINCT message FROM effects WHERE session = ?", []driver.Value{n}, func(row []driver.Value) error {
		if id := row[0].(string); !asks[id] {
			unsaid = append(unsaid, id)
		}
		return nil
	})
	for _, id := range unsaid {
		if err == nil {
			err = c.exec(sqlUnsaid, n, id)
		}
	}
	return err
}

// dropForeign leaves out what belongs to no session.
func (v *salvage) dropForeign(c *conn) error {
	for table, column := range map[string]string{"prompts": "n", "effects": "session", "repairs": "session", "notes": "session"} {
		n, err := c.change(fmt.Sprintf(sqlGone, table, column))
		if err != nil {
			return err
		}
		if n > 0 {
			v.r.Lost = append(v.r.Lost, fmt.Sprintf("what %d %s belonged to: they are left out", n, table))
		}
	}
	slices.Sort(v.r.Lost)
	return nil
}

// remark tells of the state of the file.
func (v *salvage) remark() {
	say := func(format string, args ...any) { v.r.Remarks = append(v.r.Remarks, fmt.Sprintf(format, args...)) }
	if v.file.HeadDamaged {
		say("the head of the file was damaged")
	}
	if v.file.FreeDamaged {
		say("the list of free pages was damaged: sessions that were deleted may be back")
	}
	if n := v.file.Skipped; n > 0 {
		say("%d records of the log could not be read", n)
	}
	if v.damaged > 0 {
		say("%d records of the file could not be read; some of them may have been parts of the index, which is made anew", v.damaged)
	}
}

// ranges writes numbers as in 1-3, 7.
func ranges(n []int) string {
	var b strings.Builder
	for i := 0; i < len(n); {
		j := i
		for j+1 < len(n) && n[j+1] == n[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(n[i]))
		if j > i {
			b.WriteString("-" + strconv.Itoa(n[j]))
		}
		i = j + 1
	}
	return b.String()
}
