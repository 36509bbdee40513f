//go:build unix

package builtin

import (
	"errors"
	"syscall"
)

// load reads the file at abs into s.buf and returns its length, 0 if it cannot
// be read or its beginning is binary. It makes the system calls itself: package
// os makes three more for each file, which is a third of the time of a search.
func (s *searcher) load(abs string) (n int, tooLarge bool) {
	fd, err := open(abs)
	if err != nil {
		return 0, false
	}
	defer func() { _ = syscall.Close(fd) }()
	for {
		if n == len(s.buf) {
			if n >= searchBytes {
				return 0, true
			}
			s.buf = append(s.buf, make([]byte, len(s.buf))...)
		}
		k, err := syscall.Read(fd, s.buf[n:])
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return 0, false
		}
		if k == 0 {
			return n, false
		}
		if n == 0 && sniffBinary(s.buf[:min(k, 8000)]) != "" {
			return 0, false
		}
		n += k
	}
}

func open(abs string) (fd int, err error) {
	for {
		fd, err = syscall.Open(abs, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
		if !errors.Is(err, syscall.EINTR) {
			return fd, err
		}
	}
}
