// Package stack spares goroutines the growth of their stacks.
//
// A stack begins small and is doubled when a call finds no room on it. Each time
// it is copied, for which every function that stands on it is looked up in the
// program's tables. A goroutine that goes deep step by step does that again and
// again, and in a large program that has just begun each look is a page fault.
package stack

// room is how many bytes of stack a run needs that asks a model and saves what is
// said, within a factor of two.
const room = 40 << 10

// Grow grows the stack of the calling goroutine to what a run needs. It pays
// where a goroutine is about to go deep and little is on its stack yet. What is
// not used of the stack takes no memory.
func Grow() { reserve(false) }

// reserve has a frame of the size that is wanted. The call makes room for it; it
// is touched only where use is set.
//
//go:noinline
func reserve(use bool) byte {
	if !use {
		return 0
	}
	var frame [room]byte
	return last(frame[:])
}

//go:noinline
func last(b []byte) byte { return b[len(b)-1] }
