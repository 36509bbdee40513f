//go:build linux

package main

import (
	"flag"
	"fmt"
	"syscall"
	"testing"
)

var (
	outputBytes   = flag.Int64("output.bytes", 100_000_000, "how much a command prints whose cost in memory is measured")
	outputProgram = flag.String("output.program", "rondo", "the program to measure")
)

// maxOutputCost is what a command may cost of the engine's memory, however much it
// prints, in bytes.
const maxOutputCost = 32 << 20

// A command that prints much costs the engine little: in one line, in many, and in
// the background where nobody takes it.
func TestWhatACommandPrintsCostsLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it prints much")
	}
	base := peakMemory(t, `{"command":"echo END"}`)
	for name, command := range map[string]string{
		"one line":   fmt.Sprintf(`{"command":"head -c %d /dev/zero | tr '\\0' x; echo; echo END","timeout":600}`, *outputBytes),
		"many lines": fmt.Sprintf(`{"command":"yes 'a line of output' | head -c %d; echo; echo END","timeout":600}`, *outputBytes),
		"background": fmt.Sprintf(`{"command":"yes 'a line of output' | head -c %d; echo; echo END","background":true}`, *outputBytes),
	} {
		cost := peakMemory(t, command) - base
		t.Logf("%s: %d MB cost %.1f MiB over %.1f", name, *outputBytes/1_000_000, float64(cost)/(1<<20), float64(base)/(1<<20))
		if cost > maxOutputCost {
			t.Errorf("%s: %d bytes cost %d bytes of memory", name, *outputBytes, cost)
		}
	}
}

// peakMemory is the most memory that the program had, in bytes, in a run with one
// command, and with what that has running in the background waited for.
func peakMemory(t *testing.T, command string) int64 {
	t.Helper()
	s := newStation(t, apiModes[0], "reply when result \"END\\n\" times forever\n  text done\nreply times 1\n  call shell "+command+"\n"+
		"reply times forever\n  call process {\"action\":\"poll\",\"id\":1,\"wait\":300000}\n")
	c := s.command("run", "--sandbox", "off", "--quiet", "go")
	if *outputProgram != "rondo" {
		c.Path, c.Err = *outputProgram, nil
	}
	out, err := c.CombinedOutput()
	if err != nil || string(out) != "done\n" {
		t.Fatalf("%v: %s", err, out)
	}
	usage, ok := c.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("how much memory it had is not known")
	}
	return usage.Maxrss << 10 // which is in KiB
}
