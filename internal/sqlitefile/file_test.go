package sqlitefile_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/rondo-engine/rondo/internal/sqlitefile"
)

// rows is how many rows with a number the file of the tests has.
const rows = 400

// file makes an SQLite file with its log in memory. Row i has the text text(i),
// some of which need pages of their own.
func file(t *testing.T, checkpoint bool) (db, log []byte) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.db")
	conn, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetMaxOpenConns(1)
	run := func(query string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(query, args...); err != nil {
			t.Fatal(err)
		}
	}
	run("PRAGMA auto_vacuum = INCREMENTAL")
	run("PRAGMA journal_mode = WAL")
	run("PRAGMA wal_autocheckpoint = 0")
	run("CREATE TABLE a (n INTEGER PRIMARY KEY, body TEXT, x REAL, y)")
	run("CREATE TABLE b (k TEXT, n INTEGER, PRIMARY KEY (k, n)) WITHOUT ROWID")
	for i := range rows {
		if i%20 == 0 {
			run("BEGIN")
		}
		run("INSERT INTO a VALUES (?, ?, ?, NULL)", i+1, text(i), float64(i)/2)
		run("INSERT INTO b VALUES (?, ?)", strings.Repeat("k", 50), i)
		if i%20 == 19 {
			run("COMMIT")
		}
	}
	run("PRAGMA user_version = 7")
	run("DELETE FROM a WHERE n = 3")
	if checkpoint {
		run("PRAGMA wal_checkpoint(TRUNCATE)")
	}
	db, err = os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	log, _ = os.ReadFile(path + "-wal") // gone after a checkpoint
	return db, log
}

func text(i int) string { return fmt.Sprintf("%d %s", i, strings.Repeat("é", i*i%9000)) }

// read counts the whole rows of both tables, and those that are damaged.
func read(t *testing.T, db, log []byte) (f *sqlitefile.File, a, b, damaged int) {
	t.Helper()
	f, err := sqlitefile.Open(bytes.NewReader(db), int64(len(db)), bytes.NewReader(log), int64(len(log)))
	if err != nil {
		t.Fatal(err)
	}
	for row, err := range f.Rows() {
		switch {
		case err != nil:
			if _, ok := errors.AsType[*sqlitefile.DamagedError](err); !ok {
				t.Fatal(err)
			}
			damaged++
		case row.Index && len(row.Fields) == 2:
			b++
		case !row.Index && len(row.Fields) == 4:
			i := int(row.Key) - 1
			x, ok := row.Fields[2].(float64)
			if !ok {
				x = float64(row.Fields[2].(int64))
			}
			if row.Fields[1] != text(i) || x != float64(i)/2 || row.Fields[3] != nil {
				t.Errorf("row %d holds %.40v", row.Key, row.Fields)
			}
			a++
		}
	}
	return f, a, b, damaged
}

func TestAllRowsAreReadFromTheFileAndItsLog(t *testing.T) {
	for _, checkpoint := range []bool{false, true} {
		db, log := file(t, checkpoint)
		f, a, b, damaged := read(t, db, log)
		if a != rows-1 || b != rows || damaged != 0 || f.UserVersion != 7 || f.HeadDamaged || f.FreeDamaged || f.Skipped != 0 {
			t.Errorf("checkpoint %v: %d and %d rows, %d damaged, %+v", checkpoint, a, b, damaged, f)
		}
	}
}

func TestADamagedHeadHidesNoRows(t *testing.T) {
	db, log := file(t, true)
	copy(db, make([]byte, 4096))
	f, a, b, _ := read(t, db, log)
	if !f.HeadDamaged || a < rows-1 || b != rows {
		t.Errorf("%v, %d and %d rows", f.HeadDamaged, a, b)
	}
}

func TestADamagedRecordOfTheLogHidesNoLaterOnes(t *testing.T) {
	db, log := file(t, false)
	_, all, _, _ := read(t, db, log)
	at := len(log) / 2
	copy(log[at:], "damage")
	f, a, _, _ := read(t, db, log)
	if f.Skipped == 0 || a == all || a < all*9/10 {
		t.Errorf("%d records skipped, %d of %d rows", f.Skipped, a, all)
	}
	copy(log, "damage") // the head
	if f, a, _, _ = read(t, db, log); f.Skipped < 2 || a < all*9/10 {
		t.Errorf("without a head: %d records skipped, %d of %d rows", f.Skipped, a, all)
	}
}

// Whatever is damaged, reading ends without a panic, and what it takes for a
// row of a table is one.
func TestAnyDamageIsSurvived(t *testing.T) {
	db, log := file(t, true)
	random := rand.New(rand.NewPCG(1, 2))
	for range 80 {
		torn := bytes.Clone(db)
		for range 1 + random.IntN(20) {
			at := random.IntN(len(torn))
			n := min(1+random.IntN(5000), len(torn)-at)
			for i := range torn[at : at+n] {
				torn[at+i] = byte(random.Uint32())
			}
		}
		torn = torn[:len(torn)-random.IntN(len(torn)/2)]
		f, err := sqlitefile.Open(bytes.NewReader(torn), int64(len(torn)), bytes.NewReader(log), int64(len(log)))
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range f.Rows() {
			n++
		}
		if n > 100*rows {
			t.Errorf("%d rows", n)
		}
	}
}
