package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	supported = true
	// self runs this very program again, even if its file was replaced.
	self = "/proc/self/exe"
)

// failed is the exit status of a helper that could not become its command.
const failed = 126

// Init makes the process the helper if it was started as such, and then does not
// return. Otherwise it does nothing. It must be called before anything else.
func Init() {
	if len(os.Args) < 4 || os.Args[1] != helperArgument {
		initialised.Store(true)
		return
	}
	err := become(os.Args[2], os.Args[3:])
	fmt.Fprintf(os.Stderr, "rondo: the command cannot be confined, so it was not run: %v\n", err)
	os.Exit(failed)
}

// become confines the process by a policy and turns it into a command. All of it
// holds for one thread, the one that becomes the command.
func become(policy string, argv []string) error {
	runtime.LockOSThread()
	var p Policy
	if err := json.Unmarshal([]byte(policy), &p); err != nil {
		return err
	}
	path, err := exec.LookPath(argv[0])
	if err != nil && !errors.Is(err, exec.ErrDot) {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if v := Version(); v > 0 {
		if err := p.restrict(v); err != nil {
			return err
		}
	}
	if !p.Network {
		if err := denySockets(); err != nil {
			return fmt.Errorf("close the network: %w", err)
		}
	}
	return fmt.Errorf("%s: %w", path, syscall.Exec(path, argv, os.Environ()))
}

// dropCapabilities takes from root what would lead around the confinement, such
// as reading the memory and environment of other processes. See capabilities(7).
func dropCapabilities() error {
	if os.Geteuid() != 0 {
		return nil
	}
	for _, capability := range []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_SYS_PTRACE, unix.CAP_PERFMON, unix.CAP_BPF, unix.CAP_SYS_MODULE, unix.CAP_SYS_RAWIO, unix.CAP_SYS_BOOT,
		unix.CAP_SYS_TIME, unix.CAP_SYSLOG, unix.CAP_MKNOD, unix.CAP_NET_ADMIN, unix.CAP_NET_RAW, unix.CAP_DAC_READ_SEARCH, unix.CAP_LINUX_IMMUTABLE,
		unix.CAP_MAC_ADMIN, unix.CAP_MAC_OVERRIDE, unix.CAP_CHECKPOINT_RESTORE, unix.CAP_AUDIT_CONTROL, unix.CAP_SYS_CHROOT, unix.CAP_SETFCAP,
	} {
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.EPERM) {
			return fmt.Errorf("give up capability %d: %w", capability, err)
		}
	}
	return nil
}

// Version returns which version of Landlock the kernel offers, 0 for none; see
// landlock_create_ruleset(2).
func Version() int {
	v, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0
	}
	return int(v)
}

// The rights of Landlock, as they came with its versions.
const (
	readFile  = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	readRight = readFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	fileRight = readFile | writeFile
	version1  = 1<<13 - 1
	version2  = version1 | unix.LANDLOCK_ACCESS_FS_REFER
	version3  = version2 | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	version5  = version3 | unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	// newNodes are rights that nobody gets: to make devices.
	newNodes = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK
)

func fsRights(version int) uint64 {
	switch {
	case version >= 5:
		return version5
	case version >= 3:
		return version3
	case version == 2:
		return version2
	}
	return version1
}

// restrict confines the thread by Landlock.
func (p Policy) restrict(version int) error {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: fsRights(version)}
	if !p.Network && version >= 4 {
		attr.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	if !p.Network && version >= 6 {
		attr.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
	}
	fd, err := createRuleset(&attr)
	if err != nil {
		return fmt.Errorf("make a Landlock ruleset: %w", err)
	}
	r := ruleset{fd: fd, handled: attr.Handled_access_fs}
	if err := r.fill(p); err != nil {
		return err
	}
	if _, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(fd), 0, 0); errno != 0 {
		return fmt.Errorf("take a Landlock ruleset: %w", errno)
	}
	return unix.Close(fd)
}

// ruleset is a Landlock ruleset in the making.
type ruleset struct {
	fd      int
	handled uint64
}

// fill adds the rules of a policy.
func (r ruleset) fill(p Policy) error {
	hidden := resolved(append(systemSecrets(), p.Hidden...))
	shown := resolved(p.Readable)
	for _, path := range append(readable(hidden), shown...) {
		if err := r.allow(path, readRight); err != nil {
			return err
		}
	}
	for _, path := range devices() {
		if err := r.allow(path, fileRight&^unix.LANDLOCK_ACCESS_FS_EXECUTE|unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
	}
	// Shared memory and semaphores are files there.
	if err := r.allow("/dev/shm", version5&^newNodes); err != nil {
		return err
	}
	writable := p.Writable
	if p.Temp != "" {
		writable = append(slices.Clip(writable), p.Temp)
	}
	trees := resolved(writable)
	for _, path := range withoutHidden(trees, hidden) {
		if err := r.allow(path, version5&^newNodes); err != nil {
			return err
		}
	}
	for _, path := range trees { // one that holds hidden files can be listed at least
		if err := r.allow(path, unix.LANDLOCK_ACCESS_FS_READ_DIR); err != nil {
			return err
		}
	}
	return nil
}

// allow gives rights to a path and all below it. One that is not there is left
// out: it may have gone meanwhile.
func (r ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil //nolint:nilerr // what cannot be opened cannot be allowed
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("look at %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRight
	}
	if rights &= r.handled; rights == 0 {
		return nil
	}
	if err := addRule(r.fd, fd, rights); err != nil {
		return fmt.Errorf("allow %s by Landlock: %w", path, err)
	}
	return nil
}
