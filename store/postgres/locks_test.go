package postgres_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/internal/pgtest"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/store/postgres"
)

func user(id, text string) []*message.Message {
	m := message.NewUser(text)
	m.ID = id
	return []*message.Message{m}
}

func TestASecondStoreIsToldWhoHoldsTheLock(t *testing.T) {
	url := server.Schema(t)
	a, b := open(t, url), open(t, url)
	unlock, err := a.Lock(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.Lock(t.Context(), "s")
	locked, ok := errors.AsType[*store.LockedError](err)
	if !ok || locked.Holder.PID != os.Getpid() || locked.Holder.Host == "" || locked.Holder.Since.IsZero() {
		t.Errorf("locked twice: %v", err)
	}
	if h, held, err := b.Holder(t.Context(), "s"); err != nil || !held || h != locked.Holder {
		t.Errorf("Holder = %+v, %v, %v", h, held, err)
	}
	elsewhere := open(t, server.Schema(t)) // the same id in another store
	if _, err := elsewhere.Lock(t.Context(), "s"); err != nil {
		t.Errorf("a session of another store: %v", err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
	if err := unlock(); err != nil {
		t.Errorf("unlocked twice: %v", err)
	}
	if _, err := b.Lock(t.Context(), "s"); err != nil {
		t.Errorf("after it was unlocked: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if _, held, err := a.Holder(t.Context(), "s"); held || err != nil {
		t.Errorf("after the holder was closed: %v, %v", held, err)
	}
}

// cutLocks cuts the connections that hold locks, as the server does when it
// finds the machine at the other end gone.
func cutLocks(t *testing.T, url string) {
	t.Helper()
	pgtest.Exec(t, url, `DO $$ BEGIN
		PERFORM pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND pid <> pg_backend_pid();
		WHILE EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory') LOOP PERFORM pg_sleep(0.01); END LOOP;
	END $$`)
}

func TestWhoLostALockToAnotherWritesNoMore(t *testing.T) {
	url := server.Schema(t)
	a, b := open(t, url), open(t, url)
	if err := a.Create(t.Context(), store.Session{ID: "s"}); err != nil {
		t.Fatal(err)
	}
	unlock, err := a.Lock(t.Context(), "s")
	if err != nil {
		t.Fatal(err)
	}
	cutLocks(t, url)
	if err := a.Append(t.Context(), "s", user("m1", "nobody was faster"), store.Update{}); err != nil {
		t.Errorf("before another claims it: %v", err)
	}
	unlockB, err := b.Lock(t.Context(), "s")
	if err != nil {
		t.Fatalf("another claims it: %v", err)
	}
	for name, err := range map[string]error{
		"Append":    a.Append(t.Context(), "s", user("m2", "late"), store.Update{Calls: 1}),
		"rename":    a.Append(t.Context(), "s", nil, store.Update{Title: "late"}),
		"SaveState": a.SaveState(t.Context(), "s", []byte("late")),
		"Continue":  a.Continue(t.Context(), store.Session{ID: "c", Parent: "s"}, nil),
	} {
		if locked, ok := errors.AsType[*store.LockedError](err); !ok || locked.Holder.PID != os.Getpid() {
			t.Errorf("%s after another claimed it: %v", name, err)
		}
	}
	if err := b.Append(t.Context(), "s", user("m2", "mine"), store.Update{}); err != nil {
		t.Error(err)
	}
	if err := unlock(); err != nil {
		t.Errorf("the lost lock: %v", err)
	}
	if _, held, err := a.Holder(t.Context(), "s"); !held || err != nil {
		t.Errorf("the lost lock took the new one away: %v, %v", held, err)
	}
	session, msgs, err := a.Load(t.Context(), "s")
	if err != nil || len(msgs) != 2 || msgs[1].Text() != "mine" || session.Calls != 0 || session.Title != "" {
		t.Errorf("%+v, %d messages, %v", session, len(msgs), err)
	}
	if err := unlockB(); err != nil {
		t.Error(err)
	}
	if _, err := a.Lock(t.Context(), "s"); err != nil {
		t.Errorf("over a connection that was cut: %v", err)
	}
}

func TestTheServerLooksAfterTheMachineThatHoldsALock(t *testing.T) {
	s := open(t, server.Schema(t))
	if _, err := s.Lock(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"tcp_keepalives_idle": "15", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3", "tcp_user_timeout": "30000",
	} {
		if got := postgres.LockSetting(t, s, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

func TestNamesOfLocksMayBeAny(t *testing.T) {
	s := open(t, server.Schema(t))
	for _, id := range []string{"a\x00b", "\xff", strings.Repeat("x", 2000)} {
		unlock, err := s.Lock(t.Context(), id)
		if err != nil {
			t.Errorf("Lock(%.10q): %v", id, err)
			continue
		}
		if _, held, err := s.Holder(t.Context(), id); !held || err != nil {
			t.Errorf("Holder(%.10q) = %v, %v", id, held, err)
		}
		if err := unlock(); err != nil {
			t.Error(err)
		}
	}
}
