// Package sandbox confines the shell of an agent by the kernel, for programs
// that embed rondo. On Linux that is Landlock, and a seccomp filter where the
// network is closed; on other systems and older kernels commands run without it,
// which Support tells.
//
// A process can only confine itself. A command is therefore started by way of
// the program itself, which is run again, confines itself and becomes the
// command. Init makes that work: it must be the first thing that main does.
//
//	func main() {
//		sandbox.Init()
//		policy := sandbox.Workspace(dir)
//		tools := builtin.All(builtin.Options{Workspace: ws, Run: policy.Run})
//		…
//	}
//
// What the confinement holds, and what it cannot, is tried by the tests of
// package internal/sandbox: no writes outside of the directories that are
// allowed, through links, descriptors, /proc, namespaces or children; no reading
// of secrets; no sockets where the network is closed; no hold on other processes.
// It is not confined in the sockets of the file system: who may use Docker can
// reach everything by way of its socket. And what a command leaves in the
// workspace can be run later by others, such as a hook of git: that is what
// package guard asks about.
package sandbox

import (
	"context"
	"os"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/internal/sandbox"
)

// Init makes the process the helper if it was started as such, and then does not
// return. Otherwise it only notes that it was called: without it commands are
// not run. It must be called before anything else.
func Init() { sandbox.Init() }

// Policy is what commands may do. The zero value may read all but what root
// alone should, and change nothing.
type Policy struct {
	// Writable are directories, and files, that may be changed. In one that
	// holds something hidden nothing new can be made, but below its other
	// directories.
	Writable []string
	// Hidden are files and directories that may not be read; all others may
	// be. Where a directory holds one of them, it cannot be listed.
	Hidden []string
	// Readable may be read although they are in a hidden directory.
	Readable []string
	// Network lets commands use it. Without it not even the machine's own
	// ports can be reached.
	Network bool
	// Temp becomes TMPDIR of the command and is writable; empty leaves it.
	Temp string
}

// Workspace returns the policy for work on a directory: that, the temporary
// directories and the caches of build tools may be changed, the usual secrets of
// the user's home may not be read, and the network may be used.
func Workspace(dir string) Policy {
	home, _ := os.UserHomeDir() // without one there is nothing to hide in it
	return Policy(sandbox.Workspace(dir, home, os.Getenv))
}

// ReadOnly returns the policy for looking: temp alone may be changed, which
// should be a directory of its own; the rest is as in Workspace.
func ReadOnly(temp string) Policy {
	p := Workspace(temp)
	p.Writable, p.Temp = nil, temp
	return p
}

// Run runs a command within the policy. It is for builtin.Options.Run.
func (p Policy) Run(ctx context.Context, c proc.Cmd) (proc.Result, error) {
	c, err := sandbox.Policy(p).Wrap(c)
	if err != nil {
		return proc.Result{}, err
	}
	return proc.Run(ctx, c)
}

// Start starts a command in the background within the policy. It is for
// builtin.ProcessesOptions.Start.
func (p Policy) Start(c proc.Cmd, terminal *proc.Terminal) (*proc.Background, error) {
	c, err := sandbox.Policy(p).Wrap(c)
	if err != nil {
		return nil, err
	}
	return proc.Start(c, terminal)
}

// Support reports whether the system can confine commands, and tells in a
// sentence how well. A program should show the text to its user once if it
// cannot.
func Support() (ok bool, text string) { return sandbox.Confined(sandbox.Version()) }

// Secrets are the files and directories below a home that hold keys and logins.
func Secrets(home string) []string { return sandbox.Secrets(home) }
