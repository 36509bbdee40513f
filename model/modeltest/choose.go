package modeltest

import (
	"fmt"
	"sync"
)

// scriptState is a script with how far it has been played.
type scriptState struct {
	script *Script
	mu     sync.Mutex
	used   []int // of each reply
	// places are the positions of a script by history: the unconditional
	// replies, in groups of failing ones with the one that follows them.
	places [][]int
	tries  map[string]int // requests so far, by conversation and position
}

func newScriptState(s *Script) *scriptState {
	st := &scriptState{script: s, used: make([]int, len(s.Replies)), tries: map[string]int{}}
	var group []int
	for i := range s.Replies {
		r := &s.Replies[i]
		if r.When != nil {
			continue
		}
		for range max(r.Times, 1) {
			group = append(group, i)
			if !r.fails() {
				st.places = append(st.places, group)
				group = nil
			}
		}
	}
	if len(group) > 0 {
		st.places = append(st.places, group)
	}
	return st
}

// choose returns the reply to req as the package comment tells.
func (st *scriptState) choose(req *Request) (Reply, bool) {
	if i := st.index(req); i >= 0 {
		return st.script.Replies[i], true
	}
	if st.script.Func != nil {
		return st.script.Func(req), true
	}
	return Reply{}, false
}

func (st *scriptState) index(req *Request) int {
	st.mu.Lock()
	defer st.mu.Unlock()
	for i := range st.script.Replies {
		r := &st.script.Replies[i]
		if r.When != nil && (r.Times <= 0 || st.used[i] < r.Times) && r.When(req) {
			st.used[i]++
			return i
		}
	}
	if st.script.ByHistory {
		return st.byHistory(req)
	}
	for i := range st.script.Replies {
		r := &st.script.Replies[i]
		if r.When == nil && (r.Times < 0 || st.used[i] < max(r.Times, 1)) {
			st.used[i]++
			return i
		}
	}
	return -1
}

func (st *scriptState) byHistory(req *Request) int {
	at := req.Assistants()
	if at >= len(st.places) {
		if n := len(st.places); n > 0 {
			last := st.places[n-1]
			if i := last[len(last)-1]; st.script.Replies[i].Times < 0 {
				return i
			}
		}
		return -1
	}
	key := fmt.Sprintf("%d\x00%s", at, req.conversation())
	group := st.places[at]
	n := min(st.tries[key], len(group)-1)
	st.tries[key]++
	return group[n]
}
