package approval

import (
	"path"
	"slices"
	"strings"
)

// kind says what a path is to the user.
type kind int

// The kinds of places, the least dangerous first.
const (
	nullDevice kind = iota
	inTemp
	inWorkspace
	theWorkspace // the workspace itself, or all that is in it
	repository   // in the workspace: history, and settings that programs obey
	nowhere      // not known beforehand
	outside
	secret
	rawDevice
	critical  // files that accounts and booting need
	protected // root, homes and system directories, or all that is in one
)

// place is where a path leads.
type place struct {
	kind kind
	// path is absolute and resolved; empty if it is not known.
	path string
}

// protectedDirs are the directories that are not to be removed.
func protectedDirs(home string) []string {
	dirs := []string{
		"/", "/bin", "/boot", "/dev", "/etc", "/home", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/root", "/run", "/sbin",
		"/srv", "/sys", "/usr", "/var", "/usr/bin", "/usr/lib", "/usr/lib64", "/usr/local", "/usr/sbin", "/usr/share", "/usr/include",
		"/usr/libexec", "/usr/local/bin", "/usr/local/lib", "/var/lib", "/var/log", "/var/lib/dpkg", "/var/lib/docker", "/boot/efi",
		"/home/*", "/Users", "/Users/*", "/System", "/Library", "/Applications", "/Volumes", "/private", "/private/etc", "/private/var",
		"/nix", "/nix/store", "/etc/ssh", "/etc/systemd", "/lib/modules", "/c", "/mnt/c", "/mnt/c/Windows", "/mnt/c/Users",
	}
	if home != "" && home != "/" {
		dirs = append(dirs, path.Clean(home))
	}
	return dirs
}

// criticalFiles are files, and directories with all below them, without which
// nobody can log in or nothing boots.
func criticalFiles() []string {
	return []string{
		"/etc/passwd", "/etc/shadow", "/etc/group", "/etc/gshadow", "/etc/sudoers", "/etc/sudoers.d", "/etc/fstab", "/etc/pam.d",
		"/boot", "/lib/ld-linux-x86-64.so.2", "/etc/ld.so.preload", "/proc/sysrq-trigger", "/proc/kcore", "/sys/firmware", "/etc/crypttab",
		"/etc/inittab", "/efi",
	}
}

// isRawDevice reports whether p is a disk, the machine's memory or the like.
func isRawDevice(p string) bool {
	name, ok := strings.CutPrefix(p, "/dev/")
	if !ok {
		return false
	}
	switch name {
	case "mem", "kmem", "port":
		return true
	}
	for _, kind := range [...]string{
		"sd", "hd", "vd", "xvd", "nvme", "mmcblk", "disk", "rdisk", "loop", "md", "dm-", "mapper/", "sr", "nbd", "zram", "ram", "block/", "bus/", "mtd", "pmem",
	} {
		if strings.HasPrefix(name, kind) {
			return true
		}
	}
	return false
}

// procLink returns what follows /proc/PROCESS/NAME in a path, where NAME is a
// link to a directory of the process: root or cwd.
func procLink(abs, name string) (process, rest string, ok bool) {
	rest, ok = strings.CutPrefix(abs, "/proc/")
	if !ok {
		return "", "", false
	}
	process, rest, _ = strings.Cut(rest, "/")
	if process != "self" && process != "thread-self" && !isNumber(process) {
		return "", "", false
	}
	if thread, ok := strings.CutPrefix(rest, "task/"); ok {
		if n, after, ok := strings.Cut(thread, "/"); ok && isNumber(n) {
			rest = after
		}
	}
	rest, ok = strings.CutPrefix(rest, name)
	return process, rest, ok && (rest == "" || rest[0] == '/')
}

func isNumber(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }

// locate finds where a path leads. follow says that its last name is followed if
// it is a link.
func (s *scope) locate(name string, follow bool) place {
	abs := s.absolute(name)
	if abs == "" {
		return place{kind: nowhere}
	}
	if process, rest, ok := procLink(abs, "cwd"); ok && !isNumber(process) {
		abs = s.cwd + rest
	}
	for {
		_, rest, ok := procLink(abs, "root")
		if !ok {
			break
		}
		abs = "/" + rest
	}
	lexical := path.Clean(abs)
	resolved := s.resolve(abs, follow)
	k := s.c.classify(resolved)
	if strings.HasSuffix(strings.TrimRight(abs, "/."), "/*") {
		k = max(k, s.c.classify(path.Dir(resolved)))
	}
	if l := s.c.classify(lexical); l >= rawDevice {
		k = max(k, l)
	}
	return place{kind: k, path: resolved}
}

// absolute makes a path absolute, "" if it cannot be known where it leads. What
// is not known within it is taken for a name.
func (s *scope) absolute(name string) string {
	if strings.HasPrefix(name, unknown) || name == "" {
		return ""
	}
	if !strings.HasPrefix(name, "/") {
		if strings.HasPrefix(s.cwd, unknown) {
			return ""
		}
		name = s.cwd + "/" + name
	}
	return name
}

// resolve follows the links of a path up to its first pattern.
func (s *scope) resolve(abs string, follow bool) string {
	head, tail := abs, ""
	if i := strings.IndexAny(abs, "*?["+unknown); i >= 0 {
		i = strings.LastIndexByte(abs[:i], '/')
		head, tail = abs[:i+1], abs[i+1:]
	} else if !follow && !strings.HasSuffix(abs, "/") && path.Base(abs) != ".." && path.Base(abs) != "." {
		head, tail = abs[:strings.LastIndexByte(abs, '/')+1], path.Base(abs)
	}
	resolved, err := s.c.Resolve(head)
	if err != nil {
		return path.Clean(abs)
	}
	return path.Join(resolved, tail)
}

// classify says what an absolute path is, which may hold patterns.
func (c *Checker) classify(p string) kind {
	ws, inside := below(c.Workspace, p)
	switch {
	case c.coversProtected(p) && (ws != "." || c.isHome(c.Workspace)):
		return protected
	case inside && c.isSecret(p):
		return secret
	case inside && c.runsLater(p):
		return repository
	case inside:
		return inWorkspaceAt(ws)
	case c.isCritical(p):
		return critical
	case isRawDevice(p):
		return rawDevice
	case isNullDevice(p):
		return nullDevice
	}
	if c.isSecret(p) {
		return secret
	}
	for _, dir := range c.Temp {
		if rel, ok := below(dir, p); ok && rel != "." && !matchesAll(rel) {
			return inTemp
		}
	}
	return outside
}

// isSecret reports whether p is a secret or stands in a directory of such. A
// workspace within one is none: whoever chose it meant it.
func (c *Checker) isSecret(p string) bool {
	return slices.ContainsFunc(c.Secrets, func(dir string) bool {
		_, ok := below(dir, p)
		_, meant := below(dir, c.Workspace)
		return ok && !meant
	})
}

func inWorkspaceAt(rel string) kind {
	switch {
	case rel == "." || matchesAll(rel):
		return theWorkspace
	case isRepository(rel):
		return repository
	}
	return inWorkspace
}

func (c *Checker) isHome(p string) bool { return p == "/" || p == c.Home && c.Home != "" }

func isNullDevice(p string) bool {
	switch p {
	case "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/stdout", "/dev/stderr", "/dev/stdin", "/dev/ptmx":
		return true
	}
	return strings.HasPrefix(p, "/dev/fd/") || strings.HasPrefix(p, "/dev/shm/") || strings.HasPrefix(p, "/proc/self/fd/") || strings.HasPrefix(p, "/dev/pts/")
}

func (c *Checker) isCritical(p string) bool {
	return slices.ContainsFunc(c.places().critical, func(f string) bool {
		_, ok := below(f, p)
		return ok || strings.ContainsAny(p, "*?[") && covers(p, f)
	})
}

// coversProtected reports whether p is a protected directory, or one that holds
// such, or a pattern for these, or one for all that is in one.
func (c *Checker) coversProtected(p string) bool {
	dir, last := path.Split(p)
	for _, q := range c.places().protected {
		if covers(p, q) || matchesAll(last) && covers(path.Clean(dir), q) && covers(q, path.Clean(dir)) {
			return true
		}
	}
	return false
}

// matchesAll reports whether a pattern matches (nearly) all names.
func matchesAll(pattern string) bool {
	switch pattern {
	case "*", "**", ".*", "?*", "*?", "*.*", ".[!.]*", "[!.]*", ".??*", "*/", "**/*", "*/*":
		return true
	}
	return false
}

// covers reports whether pattern matches p or a directory that p is in.
func covers(pattern, p string) bool {
	if pattern == "/" {
		return true
	}
	if p == "/" {
		return pattern == "/"
	}
	parts, names := strings.Split(strings.Trim(pattern, "/"), "/"), strings.Split(strings.Trim(p, "/"), "/")
	if len(parts) > len(names) {
		return false
	}
	for i, part := range parts {
		if ok, err := path.Match(part, names[i]); part != names[i] && (err != nil || !ok) {
			if ok, err := path.Match(names[i], part); err != nil || !ok { // a protected pattern such as /home/*
				return false
			}
		}
	}
	return true
}

// below returns p relative to dir if it is dir or stands below it.
func below(dir, p string) (string, bool) {
	switch {
	case dir == "":
		return "", false
	case p == dir:
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// show is a path as it is told to people.
func show(p place, name string) string {
	if p.path != "" && !strings.HasPrefix(name, "/") {
		return p.path
	}
	if name == "" {
		return "the current directory"
	}
	return strings.ReplaceAll(name, unknown, "…")
}

// removes judges that a program takes a path away with all below it.
func (s *scope) removes(key, who, name string) {
	p := s.locate(name, false)
	switch p.kind {
	case protected:
		s.deny(who + " would destroy " + show(p, name) + ", which is the root, a home or a system directory")
	case critical, rawDevice:
		s.deny(who + " would destroy " + show(p, name) + ", which the system needs")
	case nowhere:
		s.ask(key, who+" would remove what is not known beforehand")
	case outside, secret:
		s.ask(key, who+" would remove "+show(p, name)+", which is outside of the workspace")
	case theWorkspace:
		s.ask(key, who+" would remove the whole workspace")
	case repository:
		s.ask(key, who+" would remove "+show(p, name)+", which holds history or settings")
	}
}

// writes judges that a program writes to a path, or makes it.
func (s *scope) writes(key, who, name string) {
	p := s.locate(name, true)
	switch {
	case strings.HasPrefix(name, "/dev/tcp/") || strings.HasPrefix(name, "/dev/udp/"):
		s.ask(key, who+" opens a network connection by "+show(p, name))
	case p.kind == rawDevice:
		s.deny(who + " would write to the raw device " + show(p, name))
	case p.kind == critical:
		s.deny(who + " would overwrite " + show(p, name) + ", which the system needs")
	case p.kind == nowhere:
		s.ask(key, who+" would write to a place that is not known beforehand")
	case p.kind == outside || p.kind == secret || p.kind == protected:
		s.ask(key, who+" would write to "+show(p, name)+", which is outside of the workspace")
	case p.kind == repository:
		s.ask(key, who+" would write to "+show(p, name)+", which holds history or settings")
	}
}

// reads judges that a program reads a path.
func (s *scope) reads(key, name string) {
	if name == "" || strings.HasPrefix(name, unknown) {
		return
	}
	p := s.locate(name, true)
	switch {
	case p.kind == secret, p.kind == critical && strings.Contains(p.path, "shadow"):
		s.ask(key, "it reads "+show(p, name)+", which holds secrets")
	case p.kind == rawDevice:
		s.ask(key, "it reads the raw device "+show(p, name))
	}
}
