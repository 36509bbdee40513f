package builtin

import (
	"hash/maphash"
	"io"
	"io/fs"
	"sync"
	"time"
)

// Tracker remembers what a session has read and written, so that it notices
// when others change a file in the meantime. It is safe for concurrent use.
type Tracker struct {
	mu   sync.Mutex
	seed maphash.Seed
	seen map[string]stamp
}

// stamp is what is known of a file as the session last saw it.
type stamp struct {
	time time.Time
	size int64
	hash uint64 // 0 if it is not known
}

// NewTracker returns a Tracker for one session.
func NewTracker() *Tracker {
	return &Tracker{seed: maphash.MakeSeed(), seen: make(map[string]stamp)}
}

// saw notes the state of the file at abs. hash is that of its whole content, 0
// if it is not known.
func (t *Tracker) saw(abs string, info fs.FileInfo, hash uint64) {
	s := stamp{time: info.ModTime(), size: info.Size(), hash: hash}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.seen[abs] = s
}

// hash returns the hash of what r holds, 0 if it cannot be read.
func (t *Tracker) hash(r io.Reader) uint64 {
	var h maphash.Hash
	h.SetSeed(t.seed)
	if _, err := io.Copy(&h, r); err != nil {
		return 0
	}
	return h.Sum64()
}

// freshness says how a file stands to what the session knows of it.
type freshness uint8

const (
	unseen freshness = iota
	unchanged
	changed
)

// check compares the file at abs with what was seen. A file with a new time but
// the old content is unchanged.
func (t *Tracker) check(abs string, info fs.FileInfo, data []byte) freshness {
	t.mu.Lock()
	s, ok := t.seen[abs]
	t.mu.Unlock()
	switch {
	case !ok:
		return unseen
	case s.hash != 0 && s.hash == maphash.Bytes(t.seed, data):
		return unchanged
	case s.hash == 0 && s.size == info.Size() && s.time.Equal(info.ModTime()):
		return unchanged
	}
	return changed
}
