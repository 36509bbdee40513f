package guard

import (
	"cmp"
	"slices"
	"sync"

	"github.com/rondo-engine/rondo/internal/approval"
)

// Grants are what a person allowed for as long as a session is in use by one
// process. They do not outlive it: whoever resumes the session is asked again,
// since a yes was given to what was seen then, and no file could vouch for it.
// The zero value holds nothing. They are safe for concurrent use.
type Grants struct {
	mu  sync.Mutex
	set map[grant]bool
}

// grant is a command or a write that was answered with a yes, and where it runs;
// empty for anywhere.
type grant struct{ key, dir string }

func (g *Grants) has(key, dir string) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.set[grant{key, dir}]
}

// add takes over what was asked, if all of it can be remembered.
func (g *Grants) add(asks []approval.Question, keys []string) {
	if g == nil || len(keys) == 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.set == nil {
		g.set = map[grant]bool{}
	}
	for _, q := range asks {
		g.set[grant{q.Key, q.Dir}] = true
	}
}

// Grant is a command or a write that a person allowed, and the directory where
// it runs; empty for anywhere.
type Grant struct {
	Key string `json:"key"`
	Dir string `json:"dir,omitempty"`
}

// List returns what is allowed, in order, for people to see.
func (g *Grants) List() []Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	list := make([]Grant, 0, len(g.set))
	for x := range g.set {
		list = append(list, Grant{x.key, x.dir})
	}
	slices.SortFunc(list, func(a, b Grant) int { return cmp.Or(cmp.Compare(a.Key, b.Key), cmp.Compare(a.Dir, b.Dir)) })
	return list
}

// granted reports whether all of what has to be asked was answered before.
func (g *Guard) granted(session *Grants, asks []approval.Question) bool {
	for _, q := range asks {
		if q.Key == "" || !g.always.has(q.Key, "") && !session.has(q.Key, q.Dir) {
			return false
		}
	}
	return true
}

// keep remembers keys for good.
func (g *Guard) keep(keys []string) error {
	if g.o.Persist != nil && len(keys) > 0 {
		rules := make([]string, len(keys))
		for i, k := range keys {
			rules[i] = approval.Exactly(k)
		}
		if err := g.o.Persist(rules); err != nil {
			return err
		}
	}
	all := make([]approval.Question, len(keys))
	for i, k := range keys {
		all[i].Key = k
	}
	g.always.add(all, keys)
	return nil
}
