package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
)

// migrations bring a file forward, each from the version that is its index to
// the next. They are never changed, only added to; a file's version is its
// user_version.
//
// A message's key is its session's number times 2^32 plus its place in the
// session: one b-tree in the order in which sessions are read, and a number
// for the index of its text. Prompts have a table of their own, so that the
// row that each append changes stays small.
var migrations = [...]string{
	`CREATE TABLE sessions (
		n INTEGER PRIMARY KEY AUTOINCREMENT,
		id TEXT NOT NULL UNIQUE,
		title TEXT UNIQUE,
		parent TEXT NOT NULL,
		relation TEXT NOT NULL,
		workspace TEXT NOT NULL,
		provider TEXT NOT NULL,
		model TEXT NOT NULL,
		created_ns INTEGER NOT NULL,
		updated_ns INTEGER NOT NULL,
		messages INTEGER NOT NULL DEFAULT 0,
		calls INTEGER NOT NULL,
		input_tokens INTEGER NOT NULL,
		cache_read_tokens INTEGER NOT NULL,
		cache_write_tokens INTEGER NOT NULL,
		output_tokens INTEGER NOT NULL,
		reasoning_tokens INTEGER NOT NULL,
		cost_usd REAL NOT NULL,
		end_reason TEXT NOT NULL
	) STRICT;
	CREATE INDEX sessions_parent ON sessions (parent) WHERE parent <> '';
	CREATE TABLE prompts (
		n INTEGER PRIMARY KEY,
		system TEXT NOT NULL
	) STRICT;
	CREATE TABLE messages (
		key INTEGER PRIMARY KEY,
		session INTEGER AS (key >> 32) VIRTUAL,
		seq INTEGER AS (key & 0xffffffff) VIRTUAL,
		id TEXT NOT NULL,
		role TEXT NOT NULL,
		body TEXT NOT NULL
	) STRICT;
	CREATE VIRTUAL TABLE message_text USING fts5 (text, tokenize = 'trigram');`,

	// Calls with effects, by the message that holds them and their place in it;
	// and what was mended at loads.
	`CREATE TABLE effects (
		session INTEGER NOT NULL,
		message TEXT NOT NULL,
		place INTEGER NOT NULL,
		call TEXT NOT NULL,
		tool TEXT NOT NULL,
		args_digest TEXT NOT NULL,
		started_ns INTEGER NOT NULL,
		finished_ns INTEGER,
		status TEXT NOT NULL,
		PRIMARY KEY (session, message, place)
	) STRICT, WITHOUT ROWID;
	CREATE TABLE repairs (
		session INTEGER NOT NULL,
		n INTEGER NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (session, n)
	) STRICT, WITHOUT ROWID;`,

	// What became of conversations without anything being said.
	`CREATE TABLE notes (
		session INTEGER NOT NULL,
		n INTEGER NOT NULL,
		time_ns INTEGER NOT NULL,
		kind TEXT NOT NULL,
		body TEXT NOT NULL,
		PRIMARY KEY (session, n)
	) STRICT, WITHOUT ROWID;`,

	// The messages whose texts the index of texts is still to get. See below.
	`CREATE TABLE unindexed (
		key INTEGER PRIMARY KEY
	) STRICT;`,

	// Sessions with nothing in the journal may be older than that: calls that
	// are open in them count as begun (store.NoteUnjournalled).
	`INSERT INTO notes (session, n, time_ns, kind, body)
		SELECT n, (SELECT count(*) FROM notes o WHERE o.session = s.n), updated_ns, 'unjournalled', json_object('messages', messages)
		FROM sessions s WHERE messages > 0 AND NOT EXISTS (SELECT 1 FROM effects e WHERE e.session = s.n);`,

	// How many of a session's messages the index of texts has been told of, in
	// place of the table unindexed. That stays for older programs that have the
	// file open; what they write to it need not be read.
	`ALTER TABLE sessions ADD COLUMN indexed INTEGER NOT NULL DEFAULT 0;
	UPDATE sessions SET indexed = ifnull(
		(SELECT min(key) & 0xffffffff FROM unindexed WHERE key >= n << 32 AND key < (n + 1) << 32), messages);
	DELETE FROM unindexed;`,
}

// firstKey and endKey bound the keys of a session's messages.
func firstKey(n int64) int64 { return n << 32 }
func endKey(n int64) int64   { return (n + 1) << 32 }

// migrate brings the file to the version of this program. A file that has it
// costs one query.
func (s *Store) migrate(ctx context.Context, c *conn) error {
	version, err := s.version(ctx, c)
	if err != nil || version == int64(len(migrations)) {
		return err
	}
	if version == 0 {
		if err := s.patiently(ctx, func() error { return beginFile(ctx, c) }); err != nil {
			return err
		}
	}
	return s.transact(ctx, c, func(c *conn) error {
		version, err := s.version(ctx, c) // another process may have been faster
		if err != nil {
			return err
		}
		if version == 0 {
			if err := refuseForeign(ctx, c); err != nil {
				return err
			}
		}
		for ; version < int64(len(migrations)); version++ {
			if err := c.script(migrations[version]); err != nil {
				return fmt.Errorf("bring the file to version %d: %w", version+1, err)
			}
		}
		return c.script(fmt.Sprintf("PRAGMA user_version = %d", version))
	})
}

// version reads the version of the file and refuses one that is too new.
func (s *Store) version(ctx context.Context, c *conn) (version int64, err error) {
	err = s.patiently(ctx, func() error {
		return c.query(ctx, "PRAGMA user_version", nil, func(row []driver.Value) error {
			version = row[0].(int64)
			return nil
		})
	})
	if err == nil && version > int64(len(migrations)) {
		err = fmt.Errorf("%w: the file has version %d, this program knows versions up to %d; use the newer rondo, or another file", ErrNewerSchema, version, len(migrations))
	}
	return version, err
}

var (
	// ErrNewerSchema is in the chain of the error about a file that a newer
	// rondo wrote.
	ErrNewerSchema = errors.New("a newer version of rondo wrote this session store")
	// ErrForeign is in the chain of the error about a database that is not
	// rondo's.
	ErrForeign = errors.New("the file is the database of another program")
)

// beginFile turns an empty file to WAL mode, for good, and has it keep what is
// needed to cut it later.
func beginFile(ctx context.Context, c *conn) error {
	if err := refuseForeign(ctx, c); err != nil {
		return err
	}
	return c.script("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
}

// sqlUnknown finds a table in a file without a version. It is one statement:
// between two, another process may make a file of the empty one.
const sqlUnknown = "SELECT name FROM sqlite_schema, pragma_user_version WHERE user_version = 0 LIMIT 1"

// refuseForeign returns an error if the file has tables of another program.
func refuseForeign(ctx context.Context, c *conn) error {
	return c.query(ctx, sqlUnknown, nil, func(row []driver.Value) error {
		return fmt.Errorf("%w (it has a table %q and no version of rondo); choose another file", ErrForeign, row[0])
	})
}
