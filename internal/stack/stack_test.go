package stack

import (
	"runtime"
	"testing"
)

// inUse is how much memory goroutines' stacks take.
func inUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.StackInuse
}

func TestGrowMakesRoom(t *testing.T) {
	const goroutines = 50
	before := inUse()
	begun, end := make(chan struct{}), make(chan struct{})
	defer close(end)
	for range goroutines {
		go func() {
			Grow()
			begun <- struct{}{}
			<-end
		}()
	}
	for range goroutines {
		<-begun
	}
	if grown := inUse() - before; grown < goroutines*room {
		t.Errorf("the stacks of %d goroutines grew by %d bytes, want %d each", goroutines, grown, room)
	}
	if reserve(true) != 0 {
		t.Error("a new frame is not empty")
	}
}

// BenchmarkDeep goes 8 KB deep in new goroutines, in small steps.
func BenchmarkDeep(b *testing.B) {
	for name, begin := range map[string]func(){"grown": Grow, "as usual": func() {}} {
		b.Run(name, func(b *testing.B) {
			done := make(chan int)
			for b.Loop() {
				go func() {
					begin()
					done <- deep(200)
				}()
				<-done
			}
		})
	}
}

//go:noinline
func deep(n int) int {
	if n == 0 {
		return 0
	}
	return 1 + deep(n-1)
}
