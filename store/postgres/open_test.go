package postgres_test

import (
	"errors"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/pgtest"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
)

// as is a URL with another user.
func as(t *testing.T, text, user, password string) string {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword(user, password)
	return u.String()
}

// nameOf is the name of a URL's database. Roles that are named after it are of
// one test alone.
func nameOf(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }

// refused opens a store that cannot be opened and returns why. No error may
// hold the password, "s3cret" in all tests.
func refused(t *testing.T, url string) error {
	t.Helper()
	s, err := postgres.Open(t.Context(), url, postgres.Options{RetryFor: time.Millisecond})
	if err == nil {
		t.Errorf("%s was opened", url)
		return errors.Join(s.Close(), errors.New("it was opened"))
	}
	for e := err; e != nil; e = errors.Unwrap(e) {
		if strings.Contains(e.Error(), "s3cret") || strings.Contains(e.Error(), "cret") {
			t.Errorf("the password is shown: %v", e)
		}
	}
	return err
}

func TestOpenSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	database := server.Database(t)
	name := nameOf(database)
	pgtest.Exec(t, database, "CREATE ROLE guest_"+name+" LOGIN PASSWORD 'guest'", "REVOKE CREATE ON SCHEMA public FROM public",
		"CREATE DATABASE latin_"+name+" ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0")
	latin := strings.TrimSuffix(database, name) + "latin_" + name
	newer := server.Schema(t)
	if err := open(t, newer).Close(); err != nil {
		t.Fatal(err)
	}
	pgtest.Exec(t, newer, "UPDATE rondo_schema SET version = 1000")
	for what, c := range map[string]struct{ url, want string }{
		"no server":      {"postgres://rondo:s3cret@127.0.0.1:1/x", "postgres://rondo:****@127.0.0.1:1/x: the server cannot be reached: check that it runs"},
		"no host":        {"postgres://rondo:s3cret@nowhere.invalid/x", "the server cannot be reached"},
		"wrong password": {as(t, database, pgtest.User, "s3cret!"), "the server does not accept the password: check"},
		"no user":        {as(t, database, "nobody", "s3cret"), "the server does not accept the password: check the user"},
		"no database":    {database + "x", "the server has no such database: make it with createdb"},
		"no right":       {as(t, database, "guest_"+name, "guest"), "the user may not use or make the tables"},
		"newer":          {newer, "version 1000, this program knows versions up to 1; use the newer rondo"},
		"no Unicode":     {latin, "the database does not hold Unicode"},
		"bad port":       {"postgres://rondo:s3cret@127.0.0.1:x/db", "the URL of the session store cannot be read"},
		"raw slash":      {"postgres://rondo:s3cret/word@127.0.0.1/db", "with %2F, %40"},
		"raw percent":    {"postgres://rondo:s3cret%word@127.0.0.1/db", "with %2F, %40"},
		"raw hash":       {"postgres://rondo:s3cret#word@127.0.0.1/db", "with %2F, %40"},
		"other database": {"mysql://rondo:s3cret@127.0.0.1/db", "postgres://USER:PASSWORD@HOST:5432/DATABASE"},
		"words":          {"host=127.0.0.1 password=s3cret", "postgres://USER:PASSWORD@HOST:5432/DATABASE"},
		"bad parameter":  {"postgres://rondo:s3cret@127.0.0.1/db?sslmode=never", "sslmode"},
		"bad pool":       {"postgres://rondo:s3cret@127.0.0.1/db?pool_max_conns=many", "pool_max_conns"},
	} {
		if err := refused(t, c.url); !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", what, err, c.want)
		}
	}
	if err := refused(t, newer); !errors.Is(err, postgres.ErrNewerSchema) {
		t.Errorf("newer: %v, want ErrNewerSchema", err)
	}
}

// A port that takes connections and says nothing must not hold a program up for
// longer than its URL allows.
func TestAServerThatSaysNothingIsNotWaitedForForever(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = refused(t, "postgres://rondo:s3cret@"+l.Addr().String()+"/x?sslmode=disable&connect_timeout=1")
	if !strings.Contains(err.Error(), "the server cannot be reached") {
		t.Error(err)
	}
}

func TestManyOpenAnEmptyDatabaseAtOnce(t *testing.T) {
	url := server.Database(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s, err := postgres.Open(t.Context(), url, postgres.Options{})
			if err != nil {
				t.Errorf("Open: %v", err)
				return
			}
			if _, err := s.List(t.Context(), store.ListOptions{}); err != nil {
				t.Errorf("List: %v", err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestTablesOfAnOlderVersionAreBroughtForward(t *testing.T) {
	url := server.Schema(t)
	pgtest.Exec(t, url, "CREATE TABLE rondo_schema (version int NOT NULL)", "INSERT INTO rondo_schema VALUES (0)")
	s := open(t, url)
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Error(err)
	}
}

// A user who may make no extension, in a schema of its own, searches all the
// same.
func TestSearchNeedsNoExtension(t *testing.T) {
	database := server.Database(t)
	plain := "plain_" + nameOf(database)
	pgtest.Exec(t, database, "CREATE ROLE "+plain+" LOGIN PASSWORD 'plain'", "CREATE SCHEMA own AUTHORIZATION "+plain)
	s := open(t, as(t, database, plain, "plain")+"?search_path=own")
	if err := s.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(t.Context(), "s", user("m1", "Ein grauer REIHER, 東京"), store.Update{}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"reiher", "東京", "r 京"} {
		if hits, err := s.Search(t.Context(), query, store.SearchOptions{}); err != nil || len(hits) != 1 {
			t.Errorf("Search(%q) = %v, %v", query, hits, err)
		}
	}
}

func TestClosedStoreSaysSo(t *testing.T) {
	s := open(t, server.Schema(t))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	for name, err := range map[string]error{
		"Create": s.Create(t.Context(), store.Session{ID: "s"}),
		"Append": s.Append(t.Context(), "s", user("m", "x"), store.Update{}),
		"Delete": s.Delete(t.Context(), "s"),
	} {
		if !errors.Is(err, postgres.ErrClosed) {
			t.Errorf("%s = %v, want ErrClosed", name, err)
		}
	}
	if _, err := s.Lock(t.Context(), "s"); !errors.Is(err, postgres.ErrClosed) {
		t.Errorf("Lock = %v, want ErrClosed", err)
	}
}
