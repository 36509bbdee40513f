package start

import "syscall"

// populateRead is MADV_POPULATE_READ of madvise(2), which Linux knows since 5.14.
const populateRead = 22

// mapCode has the kernel map the code of the program and the constants behind it.
// Where it cannot, they are mapped as they are met, as usual.
func mapCode() {
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
	if from, to, ok := hot(maps[:n]); ok {
		_, _, _ = syscall.RawSyscall(syscall.SYS_MADVISE, from, to-from, populateRead)
	}
}

// hot finds the first executable range, and the first quarter of a range that
// follows it and can only be read, in what proc(5) says of a process's memory:
// "00400000-00e69000 r-xp 00000000 ...", a line each. Go's linker puts constants
// and types into that quarter. What comes after them, tables of all functions,
// is needed in a few places only.
func hot(maps []byte) (from, to uintptr, ok bool) {
	for len(maps) > 0 {
		begin, end, mode, rest := mapping(maps)
		switch {
		case !ok && mode == "r-x":
			from, to, ok = begin, end, begin < end
		case ok && mode == "r--" && begin == to && begin < end:
			const page = 4096
			return from, to + (end-begin)/4&^(page-1), true
		case ok:
			return from, to, true
		}
		maps = rest
	}
	return from, to, ok
}

// mapping reads a line.
func mapping(maps []byte) (begin, end uintptr, mode string, rest []byte) {
	begin, rest = address(maps)
	end, rest = address(skip(rest, 1))
	rest = skip(rest, 1)
	mode = string(rest[:min(3, len(rest))])
	for len(rest) > 0 && rest[0] != '\n' {
		rest = rest[1:]
	}
	return begin, end, mode, skip(rest, 1)
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
