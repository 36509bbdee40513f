// Command rondo is an agent-loop engine on the command line: it takes a task,
// asks a model, runs the tools that the model asks for, and goes on until the
// task is done.
//
// This package reads flags and the environment and wires the packages
// together; all else is theirs. main fills an environment and everything below
// takes what it needs from there, so that tests run the whole program in
// process. Each subcommand has a file and a constructor newXCommand.
package main

import (
	"context"
	"crypto/rand"
	"os"
	"runtime/debug"
	"time"

	"github.com/rondo-engine/rondo/internal/sandbox"
	_ "github.com/rondo-engine/rondo/internal/start" // for what it does first
)

// heapGrowth is how much the heap may grow, in percent of what is in use, before
// garbage is collected; GOGC goes before it. A run keeps little and makes little
// garbage, while the first collection costs it a good megabyte of tables and of
// the program's own code that is looked at. With Go's usual value that comes
// within 200 rounds and brings less than it costs; with this one it comes when it
// is worth it.
const heapGrowth = 125

func main() {
	sandbox.Init()
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(heapGrowth)
	}
	dir, err := os.Getwd()
	env := &environment{
		Args: os.Args[1:], Getenv: os.Getenv, Dir: dir, Now: time.Now, Random: rand.Reader,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Processors: newProcessors(os.Getenv),
	}
	if err != nil {
		os.Exit(env.fail(usagef("the current directory cannot be told (%v): change to one that exists", err)))
	}
	os.Exit(execute(context.Background(), env))
}
