// Package pgtest runs a PostgreSQL server of a test's own.
//
// A Server finds the programs where Debian and others put them, makes a
// database cluster in a temporary directory and serves it on the loopback
// interface for as long as the tests run. It writes nothing to disk for good,
// so that it is quick. Where there are no programs, tests are skipped, unless
// RONDO_NEED_POSTGRES is set.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// User and Password are the superuser of a Server.
const (
	User     = "rondo"
	Password = "s3cret/+word" // what a URL must escape
)

// startTime bounds the start of a server, on a machine that has much to do.
const startTime = 2 * time.Minute

// Server is one PostgreSQL server, started when it is first asked for. Its zero
// value is ready to use; Stop ends it.
type Server struct {
	once sync.Once
	err  error // why it does not run
	dir  string
	host string // with port
	stop func() error

	mu   sync.Mutex
	made int // databases and schemas
}

// errMissing says that the machine has no PostgreSQL.
var errMissing = errors.New("no PostgreSQL server is installed (apt-get install postgresql)")

// Database makes an empty database and returns its URL. It skips the test where
// there is no server.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := s.name(t)
	Exec(t, s.URL("postgres"), "CREATE DATABASE "+name)
	return s.URL(name)
}

// Schema makes an empty schema and returns the URL for it, which is quicker
// than a database.
func (s *Server) Schema(t testing.TB) string {
	t.Helper()
	name := s.name(t)
	Exec(t, s.URL("postgres"), "CREATE SCHEMA "+name)
	return s.URL("postgres") + "?search_path=" + name
}

// name starts the server and returns a name that nothing has.
func (s *Server) name(t testing.TB) string {
	t.Helper()
	s.once.Do(func() { s.err = s.start() })
	if errors.Is(s.err, errMissing) && os.Getenv("RONDO_NEED_POSTGRES") == "" {
		t.Skip(s.err)
	}
	if s.err != nil {
		t.Fatal(s.err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return "test" + strconv.Itoa(s.made)
}

// URL is where a database of the server is reached by its superuser.
func (s *Server) URL(database string) string {
	u := url.URL{Scheme: "postgres", User: url.UserPassword(User, Password), Host: s.host, Path: "/" + database}
	return u.String()
}

// Exec runs statements in the database of a URL.
func Exec(t testing.TB, databaseURL string, statements ...string) {
	t.Helper()
	ctx := context.Background()
	c, err := pgconn.Connect(ctx, databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range statements {
		if err = c.Exec(ctx, sql).Close(); err != nil {
			err = fmt.Errorf("%s: %w", sql, err)
			break
		}
	}
	if err := errors.Join(err, c.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the server and removes what it wrote.
func (s *Server) Stop() error {
	var err error
	if s.stop != nil {
		err = s.stop()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// programs returns the directory of the newest server's programs.
func programs() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if err != nil {
		return "", err
	}
	slices.SortFunc(found, func(a, b string) int { return version(a) - version(b) })
	if out, err := exec.Command("pg_config", "--bindir").Output(); err == nil {
		found = append(found, filepath.Join(strings.TrimSpace(string(out)), "initdb"))
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		found = append(found, path)
	}
	for _, initdb := range slices.Backward(found) {
		dir := filepath.Dir(initdb)
		if _, err := os.Stat(initdb); err != nil {
			continue
		}
		if _, err := os.Stat(filepath.Join(dir, "postgres")); err == nil {
			return dir, nil
		}
	}
	return "", errMissing
}

// version is the major version in the path of a Debian program.
func version(path string) int {
	n, _ := strconv.Atoi(filepath.Base(filepath.Dir(filepath.Dir(path)))) // others come first
	return n
}

func (s *Server) start() error {
	bin, err := programs()
	if err != nil {
		return err
	}
	as, err := serverUser()
	if err != nil {
		return err
	}
	if s.dir, err = os.MkdirTemp("", "rondo-pg-"); err != nil {
		return err
	}
	if err := as.own(s.dir); err != nil {
		return err
	}
	password, data := filepath.Join(s.dir, "password"), filepath.Join(s.dir, "data")
	if err := os.WriteFile(password, []byte(Password+"\n"), 0o644); err != nil {
		return err
	}
	for _, locale := range []string{"C.UTF-8", "C"} { // not every system has the first
		initdb := as.command(filepath.Join(bin, "initdb"), "-D", data, "-U", User, "--pwfile", password,
			"-A", "scram-sha-256", "-E", "UTF8", "--locale", locale, "--no-sync", "--no-instructions")
		initdb.Dir = s.dir
		out, failed := initdb.CombinedOutput()
		if failed == nil {
			err = nil
			break
		}
		err = errors.Join(err, fmt.Errorf("initdb: %w: %s", failed, out))
	}
	if err != nil {
		return err
	}
	for range 5 { // the port may be taken meanwhile
		if err = s.serve(as, filepath.Join(bin, "postgres"), data); err == nil {
			return nil
		}
	}
	return err
}

// serve starts the server on a free port and waits until it answers.
func (s *Server) serve(as account, postgres, data string) error {
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s.host = l.Addr().String()
	if err := l.Close(); err != nil {
		return err
	}
	_, port, _ := net.SplitHostPort(s.host) // an address has a port
	cmd := as.command(postgres, "-D", data, "-p", port, "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=",
		"-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off", "-c", "max_connections=60",
		"-c", "shared_buffers=32MB", "-c", "autovacuum=off", "-c", "jit=off", "-c", "wal_level=minimal", "-c", "max_wal_senders=0", "-c", "log_min_messages=fatal")
	log := new(bytes.Buffer)
	cmd.Dir, cmd.Stderr = s.dir, log
	ended, err := run(cmd)
	if err != nil {
		return err
	}
	if err := s.await(ended); err != nil {
		_ = cmd.Process.Kill() // it does not answer
		<-ended
		return fmt.Errorf("start PostgreSQL: %w: %s", err, log)
	}
	s.stop = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil { // ends connections, too
			return err
		}
		<-ended
		return nil
	}
	return nil
}

// await returns when the server answers, or why it will not.
func (s *Server) await(ended <-chan struct{}) error {
	ctx, cancel := context.WithTimeout(context.Background(), startTime)
	defer cancel()
	for {
		c, err := pgconn.Connect(ctx, s.URL("postgres"))
		if err == nil {
			return c.Close(ctx)
		}
		select {
		case <-ended:
			return errors.New("it ended")
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
