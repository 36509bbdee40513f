// Package start makes the start of a program cheaper. A main package imports it
// for what it does before most other packages are initialised: it imports next
// to nothing, so that its turn comes early.
//
// A large program touches nearly all of its code while its packages are
// initialised, and each piece that is met for the first time is a page fault, a
// dear one on virtual machines. The system is therefore told to map the code at
// once. And the stack of the first goroutine grows again and again meanwhile; so
// it is made to grow while next to nothing is on it.
//
// The program begins with one processor, unless the variable GOMAXPROCS says
// otherwise: what a start does is done in order, and more of them only wake one
// another. Whoever can use the others takes them (runtime.SetDefaultGOMAXPROCS).
package start

import (
	"runtime"
	"syscall"

	"github.com/rondo-engine/rondo/internal/stack"
)

func init() {
	if chosen, _ := syscall.Getenv("GOMAXPROCS"); chosen == "" {
		runtime.GOMAXPROCS(1)
	}
	mapCode()
	stack.Grow()
}
