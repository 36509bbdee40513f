// Package sandbox confines commands by the kernel: they write only where they
// may, read no secrets, and reach the network only if they may.
//
// On Linux this is Landlock, with a seccomp filter where the network is off. A
// process can only confine itself, so a command is started by way of a helper:
// the program runs itself with a hidden first argument, confines itself and then
// becomes the command. A program that confines commands must therefore call Init
// at the beginning of its main, as rondo does; a test calls it in TestMain. The
// helper costs one start of the program.
//
// What is confined stays so, with all that it starts; the rights of other users
// (sudo) are out of its reach. It is not confined in the processes that it may
// end and in the sockets of the file system that it may connect to: a user who
// may use Docker can reach everything by way of its socket. A program that was
// started before it is not confined by it. And what it leaves where it may write
// can be run by others later: a hook in the .git of the workspace, a file in the
// cache of a build tool. Landlock cannot take a part out of a tree that may be
// written to; package guard asks for the writes that it can see.
//
// Where the kernel offers no Landlock, and on other systems, commands run
// without it: Version says so, and whoever confines commands must tell the user.
package sandbox

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/rondo-engine/rondo/internal/proc"
)

// Policy is what a command may do.
type Policy struct {
	// Writable are directories, and files, that may be changed. In one that
	// holds something hidden nothing new can be made, but below its other
	// directories.
	Writable []string `json:"writable,omitempty"`
	// Hidden are files and directories that may not be read; all others may
	// be. Where a directory holds one of them, it cannot be listed.
	Hidden []string `json:"hidden,omitempty"`
	// Readable may be read although they are in a hidden directory.
	Readable []string `json:"readable,omitempty"`
	// Network lets the command use it. Without it not even the machine's own
	// ports can be reached.
	Network bool `json:"network,omitempty"`
	// Temp becomes TMPDIR of the command and is writable; empty leaves it.
	Temp string `json:"temp,omitempty"`
}

// helperArgument is the first argument that makes a program the helper.
const helperArgument = "rondo-sandbox-helper"

// Wrap returns the command that confines itself and becomes c.
func (p Policy) Wrap(c proc.Cmd) (proc.Cmd, error) {
	if !supported {
		return c, nil
	}
	if !initialised.Load() {
		return c, fmt.Errorf("confine %v: %w", c.Argv, ErrNotInitialised)
	}
	text, err := json.Marshal(p)
	if err != nil {
		return c, fmt.Errorf("confine %v: %w", c.Argv, err)
	}
	c.Argv = append([]string{self, helperArgument, string(text)}, c.Argv...)
	if p.Temp != "" {
		c.Env = append(slices.Clip(c.Env), "TMPDIR="+p.Temp)
	}
	return c, nil
}

// Workspace returns the policy for commands that work on a directory: that, the
// temporary directories and the caches of build tools may be changed, the secrets
// of the home may not be read, and the network may be used.
func Workspace(dir, home string, getenv func(string) string) Policy {
	temp := []string{"/tmp", "/var/tmp"}
	if t := getenv("TMPDIR"); t != "" {
		temp = []string{t}
	}
	return Policy{
		Writable: slices.Concat([]string{dir}, temp, Caches(home, getenv)), Hidden: Secrets(home), Network: true,
	}
}

// Confined tells how well the kernel can hold a policy, for people.
func Confined(version int) (ok bool, text string) {
	switch {
	case !supported:
		return false, "the shell is confined on Linux only"
	case version <= 0:
		return false, "the kernel does not offer Landlock, so the shell is not confined"
	case version < 3:
		return true, fmt.Sprintf("the kernel offers Landlock (version %d); files that may not be changed can still be emptied before version 3", version)
	}
	return true, fmt.Sprintf("the kernel offers Landlock (version %d)", version)
}

// Secrets are the files and directories below a home that hold keys and logins.
func Secrets(home string) []string {
	if home == "" {
		return nil
	}
	names := []string{
		".ssh", ".aws", ".gnupg", ".netrc", ".azure", ".kube", ".docker/config.json", ".git-credentials", ".npmrc", ".pypirc", ".pgpass", ".my.cnf",
		".config/gcloud", ".config/gh", ".config/glab-cli", ".config/op", ".config/hub", ".config/rclone", ".config/sops", ".config/age", ".config/doctl",
		".config/google-chrome", ".config/chromium", ".mozilla", ".password-store", ".local/share/keyrings", ".local/share/gnome-keyring", ".cargo/credentials.toml",
		".cargo/credentials", ".terraform.d/credentials.tfrc.json", ".vault-token", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties",
		".bash_history", ".zsh_history", ".python_history", ".node_repl_history", ".psql_history", ".claude/.credentials.json", ".codex/auth.json",
	}
	all := make([]string, len(names))
	for i, n := range names {
		all[i] = filepath.Join(home, n)
	}
	return all
}

// Caches are the directories in which build tools keep what they can make again.
// Without them hardly any build works.
func Caches(home string, getenv func(string) string) []string {
	var all []string
	if home != "" {
		for _, n := range []string{
			".cache", "go/pkg", ".npm/_cacache", ".npm/_logs", ".cargo/registry", ".cargo/git", ".gradle/caches", ".gradle/daemon", ".gradle/wrapper",
			".m2/repository", ".local/share/pnpm/store", ".yarn/berry/cache", ".bun/install/cache", ".nuget/packages", ".ivy2/cache", ".pub-cache",
			"Library/Caches",
		} {
			all = append(all, filepath.Join(home, n))
		}
	}
	for _, name := range []string{"XDG_CACHE_HOME", "GOCACHE", "GOMODCACHE", "npm_config_cache", "PIP_CACHE_DIR", "UV_CACHE_DIR", "CCACHE_DIR"} {
		if dir := getenv(name); filepath.IsAbs(dir) {
			all = append(all, dir)
		}
	}
	return all
}
