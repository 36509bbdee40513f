package start

import "syscall"

// populateRead is MADV_POPULATE_READ of madvise(2), which Linux knows since 5.14.
const populateRead = 22

// mapText has the kernel map the code of the program. Where it cannot, the code
// is mapped as it is met, as usual.
func mapText() {
	fd, err := syscall.Open("/proc/self/maps", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	var maps [1024]byte // the program itself comes first
	n, err := syscall.Read(fd, maps[:])
	_ = syscall.Close(fd) // it was only read
	if err != nil {
		return
	}
	if from, to, ok := executable(maps[:n]); ok {
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, from, to-from, populateRead)
	}
}

// executable finds the first executable range in what proc(5) says of a process's
// memory, as in "00400000-00e69000 r-xp 00000000 ...", a line each.
func executable(maps []byte) (from, to uintptr, ok bool) {
	for len(maps) > 0 {
		from, rest := address(maps)
		to, rest := address(skip(rest, 1))
		if len(rest) > 4 && rest[3] == 'x' {
			return from, to, from < to
		}
		for len(rest) > 0 && rest[0] != '\n' {
			rest = rest[1:]
		}
		maps = skip(rest, 1)
	}
	return 0, 0, false
}

// address reads a hexadecimal number and returns what follows it.
func address(s []byte) (n uintptr, rest []byte) {
	for len(s) > 0 {
		switch c := s[0]; {
		case '0' <= c && c <= '9':
			n = n<<4 | uintptr(c-'0')
		case 'a' <= c && c <= 'f':
			n = n<<4 | uintptr(c-'a'+10)
		default:
			return n, s
		}
		s = s[1:]
	}
	return n, nil
}

func skip(s []byte, n int) []byte { return s[min(n, len(s)):] }
