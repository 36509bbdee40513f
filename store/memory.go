package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/message"
)

// Memory is a Store that keeps sessions in memory, for tests and for agents
// that leave nothing behind. It is also a Searcher.
type Memory struct {
	mu       sync.Mutex
	now      func() time.Time
	sessions []*memorySession // in the order of their creation
	byID     map[string]*memorySession
	locks    map[string]Holder
}

type memorySession struct {
	Session
	msgs    []*message.Message
	effects []Effect
	repairs []Repair
	notes   []Note
	// copied is how many of msgs, from the start, no search finds.
	copied int
}

var (
	_ Store    = (*Memory)(nil)
	_ Searcher = (*Memory)(nil)
)

// NewMemory returns an empty store that reads the system's clock.
func NewMemory() *Memory {
	return &Memory{now: time.Now, byID: map[string]*memorySession{}, locks: map[string]Holder{}}
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, s Session) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := CheckNew(s); err != nil {
		return err
	}
	if m.byID[s.ID] != nil {
		return fmt.Errorf("create session %s: %w", s.ID, ErrExists)
	}
	s.Stamp(m.now())
	s.Title = m.freeTitle(s.Title, nil)
	m.byID[s.ID] = &memorySession{Session: s}
	m.sessions = append(m.sessions, m.byID[s.ID])
	return nil
}

// Append implements Store.
func (m *Memory) Append(ctx context.Context, id string, msgs []*message.Message, u Update) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.append(ctx, id, msgs, u)
}

func (m *Memory) append(ctx context.Context, id string, msgs []*message.Message, u Update) error {
	if err := cmp.Or(ctx.Err(), CheckMessages(id, msgs)); err != nil {
		return err
	}
	s := m.byID[id]
	if s == nil {
		return fmt.Errorf("append to session %s: %w", id, ErrNotFound)
	}
	s.msgs = append(s.msgs, msgs...)
	s.Messages = len(s.msgs)
	s.UpdatedAt = m.now()
	if u.Title != "" {
		u.Title = m.freeTitle(u.Title, s)
	}
	s.Apply(u)
	return nil
}

// Apply changes s as u says.
func (s *Session) Apply(u Update) {
	for _, f := range []struct {
		to *string
		v  string
	}{{&s.Title, u.Title}, {&s.Provider, u.Provider}, {&s.Model, u.Model}, {&s.System, u.System}} {
		if f.v != "" {
			*f.to = f.v
		}
	}
	if u.EndReason != "" || u.Running {
		s.EndReason = u.EndReason
	}
	s.Usage = s.Usage.Add(u.Usage)
	s.Calls += u.Calls
	s.CostUSD += u.CostUSD
}

// Load implements Store.
func (m *Memory) Load(_ context.Context, id string) (Session, []*message.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.byID[id]
	if s == nil {
		return Session{}, nil, fmt.Errorf("load session %s: %w", id, ErrNotFound)
	}
	return s.Session, slices.Clone(s.msgs), nil
}

// Find implements Store.
func (m *Memory) Find(_ context.Context, ref, workspace string) (Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if ref == Last {
		for _, s := range m.byUse(workspace) {
			if s.Relation != Delegate {
				return s, nil
			}
		}
		return Session{}, fmt.Errorf("find the last session: %w", ErrNotFound)
	}
	s, byTitle, err := Choose(ref, m.byUse(""))
	for err == nil && byTitle {
		next := m.next(s.ID)
		if next == nil {
			break
		}
		s = next.Session
	}
	return s, err
}

// List implements Store.
func (m *Memory) List(_ context.Context, o ListOptions) ([]Session, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	list := m.byUse(o.Workspace)
	if o.Limit > 0 && len(list) > o.Limit {
		list = list[:o.Limit]
	}
	return list, nil
}

// Delete implements Store.
func (m *Memory) Delete(_ context.Context, id string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.byID[id] == nil {
		return fmt.Errorf("delete session %s: %w", id, ErrNotFound)
	}
	delete(m.byID, id)
	m.sessions = slices.DeleteFunc(m.sessions, func(s *memorySession) bool { return s.ID == id })
	return nil
}

// Search implements Searcher.
func (m *Memory) Search(_ context.Context, query string, o SearchOptions) ([]Hit, error) {
	terms := Terms(query)
	if len(terms) == 0 {
		return nil, ErrEmptyQuery
	}
	limit := cmp.Or(o.Limit, DefaultSearchLimit)
	m.mu.Lock()
	defer m.mu.Unlock()
	var hits []Hit
	for _, s := range slices.Backward(m.sessions) {
		if o.Workspace != "" && s.Workspace != o.Workspace || o.Session != "" && s.ID != o.Session {
			continue
		}
		for seq, msg := range slices.Backward(s.msgs) {
			text := SearchText(msg)
			if seq < s.copied || text == "" || !holdsAll(text, terms) {
				continue
			}
			h := Hit{Session: s.ID, Title: s.Title, MessageID: msg.ID, Seq: seq, Role: msg.Role}
			h.SetSnippet(text, terms)
			if hits = append(hits, h); len(hits) == limit {
				return hits, nil
			}
		}
	}
	return hits, nil
}

func holdsAll(text string, terms []string) bool {
	for _, t := range terms {
		if i, _ := foldIndex(text, t); i < 0 {
			return false
		}
	}
	return true
}

// Close implements Store; it does nothing.
func (m *Memory) Close() error { return nil }

// byUse lists the sessions of workspace, or all, the one used last first.
func (m *Memory) byUse(workspace string) []Session {
	var list []Session
	for _, s := range m.sessions {
		if workspace == "" || s.Workspace == workspace {
			list = append(list, s.Session)
		}
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), strings.Compare(b.ID, a.ID))
	})
	return list
}

func (m *Memory) freeTitle(title string, self *memorySession) string {
	if title == "" {
		return ""
	}
	free, _ := FreeTitle(title, func(t string) (bool, error) { // the function never fails
		return slices.ContainsFunc(m.sessions, func(s *memorySession) bool { return s != self && s.Title == t }), nil
	})
	return free
}
