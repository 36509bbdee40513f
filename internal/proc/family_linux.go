package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// member is a process. start, in clock ticks since the system's, tells it from a
// later one with the same id.
type member struct {
	pid, parent, group, session int
	state                       byte
	start                       uint64
}

// identify notes when the leader began; it must not have been waited for yet.
func (f *family) identify() {
	m, _ := readMember(f.leader)
	f.since = m.start
}

// same reports whether m still lives under its id.
func (m member) same() bool {
	now, ok := readMember(m.pid)
	return ok && now.start == m.start && now.state != 'Z'
}

// readMember reads /proc/PID/stat, see proc_pid_stat(5).
func readMember(pid int) (member, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return member{}, false
	}
	end := bytes.LastIndexByte(b, ')') // the name before may hold anything
	if end < 0 {
		return member{}, false
	}
	f := strings.Fields(string(b[end+1:]))
	if len(f) < 20 {
		return member{}, false
	}
	m := member{pid: pid, state: f[0][0]}
	m.start, _ = strconv.ParseUint(f[19], 10, 64)
	m.parent, _ = strconv.Atoi(f[1])
	m.group, _ = strconv.Atoi(f[2])
	m.session, _ = strconv.Atoi(f[3])
	return m, true
}

// members returns all living processes that belong to the family: by group, by
// session, by descent and by the variable in their environment.
func (f *family) members() []member {
	all := f.younger()
	in := make(map[int]bool)
	for _, m := range all {
		if m.pid == f.leader || m.group == f.leader || m.session == f.leader || f.marked(m.pid) {
			in[m.pid] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, m := range all {
			if in[m.parent] && !in[m.pid] {
				in[m.pid], grown = true, true
			}
		}
	}
	var family []member
	for _, m := range all {
		if in[m.pid] {
			family = append(family, m)
		}
	}
	return family
}

// younger returns all processes that live and began with the leader or later.
func (f *family) younger() []member {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return nil
	}
	var all []member
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || pid == os.Getpid() {
			continue
		}
		if m, ok := readMember(pid); ok && m.state != 'Z' && m.start >= f.since {
			all = append(all, m)
		}
	}
	return all
}

// marked reports whether a process carries the family's id.
func (f *family) marked(pid int) bool {
	if f.id == "" {
		return false
	}
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false
	}
	mark := []byte(callID + "=" + f.id + "\x00")
	return bytes.HasPrefix(env, mark) || bytes.Contains(env, append([]byte{0}, mark...))
}

// strays returns the members outside of the command's process group.
func (f *family) strays() []member {
	var strays []member
	for _, m := range f.members() {
		if m.group != f.leader {
			strays = append(strays, m)
		}
	}
	return strays
}

// rest returns the ids of the members that still live. Looking for them costs
// milliseconds, so it is done only where the command's group is not empty.
func (f *family) rest() []int {
	if !f.groupAlive() {
		return nil
	}
	var pids []int
	f.left = nil
	for _, m := range f.members() {
		if !slices.ContainsFunc(f.killed, func(k member) bool { return k.pid == m.pid && k.start == m.start }) {
			pids, f.left = append(pids, m.pid), append(f.left, m)
		}
	}
	return pids
}

// killHolders ends the members that hold the terminal of that name or, if it is
// empty, the other end of pipe, and returns their number.
func (f *family) killHolders(pipe *os.File, terminal string) int {
	name := terminal
	if name == "" {
		name = pipeName(pipe)
	}
	for _, m := range f.members() {
		if name != "" && holds(m.pid, name) && m.same() {
			_ = syscall.Kill(m.pid, syscall.SIGKILL)
			f.killed = append(f.killed, m)
		}
	}
	return len(f.killed)
}

// pipeName is how /proc names a pipe, "" if that is not known.
func pipeName(pipe *os.File) string {
	info, err := pipe.Stat()
	if err != nil {
		return ""
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("pipe:[%d]", st.Ino)
}

// holds reports whether a process has a file of that name open.
func holds(pid int, name string) bool {
	fds, err := filepath.Glob("/proc/" + strconv.Itoa(pid) + "/fd/*")
	if err != nil {
		return false
	}
	for _, fd := range fds {
		if target, err := os.Readlink(fd); err == nil && target == name {
			return true
		}
	}
	return false
}
