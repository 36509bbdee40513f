package sandbox

import (
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

func createRuleset(attr *unix.LandlockRulesetAttr) (int, error) {
	// The first three members: later ones are of versions that are not used.
	const size = 3 * 8
	fd, _, errno := syscall.RawSyscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(attr)), size, 0)
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

func addRule(ruleset, parent int, rights uint64) error {
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(parent)}
	_, _, errno := syscall.RawSyscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(ruleset), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Where struct seccomp_data has what the filter looks at; see seccomp(2). The
// architectures below are little-endian: the low half of an argument comes first.
const (
	offsetNumber = 0
	offsetArch   = 4
	offsetArg0   = 16
)

const (
	ioURingSetup = 425        // the same on all architectures
	x32Bit       = 0x40000000 // of numbers in amd64's second table
)

// auditArch is the kernel's number of the architecture, 0 where there is no
// filter for it: Landlock alone keeps TCP closed there.
func auditArch() uint32 {
	switch runtime.GOARCH {
	case "amd64":
		return unix.AUDIT_ARCH_X86_64
	case "arm64":
		return unix.AUDIT_ARCH_AARCH64
	}
	return 0
}

// denySockets lets the thread open no socket but those within the machine's file
// system and to the kernel, and no io_uring, which could open others.
func denySockets() error {
	arch := auditArch()
	if arch == 0 {
		return nil
	}
	load := func(offset uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
	}
	jump := func(op uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | op | unix.BPF_K, Jt: yes, Jf: no, K: k}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{
		load(offsetArch),
		jump(unix.BPF_JEQ, arch, 0, 8), // else: deny
		load(offsetNumber),
		jump(unix.BPF_JGE, x32Bit, 6, 0),       // deny
		jump(unix.BPF_JEQ, ioURingSetup, 5, 0), // deny
		jump(unix.BPF_JEQ, uint32(unix.SYS_SOCKET), 0, 3),
		load(offsetArg0),
		jump(unix.BPF_JEQ, unix.AF_UNIX, 1, 0),
		jump(unix.BPF_JEQ, unix.AF_NETLINK, 0, 1),
		end(unix.SECCOMP_RET_ALLOW),
		end(unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)),
	}
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	_, _, errno := syscall.RawSyscall(unix.SYS_PRCTL, unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)))
	runtime.KeepAlive(filter)
	if errno != 0 {
		return errno
	}
	return nil
}
