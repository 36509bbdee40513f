package start

import (
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

func TestTheFirstExecutableRangeIsFound(t *testing.T) {
	for name, c := range map[string]struct {
		maps     string
		from, to uintptr
		ok       bool
	}{
		"first": {"00400000-00e69000 r-xp 00000000 fe:00 12 /bin/x\n00e69000-0187c000 r--p 00a69000 fe:00 12 /bin/x\n", 0x400000, 0xe69000, true},
		"second, as of a program that can be loaded anywhere": {
			"55d0c0a00000-55d0c0b00000 r--p 00000000 fe:00 12 /bin/x\n55d0c0b00000-55d0c1c0f000 r-xp 00100000 fe:00 12 /bin/x\n", 0x55d0c0b00000, 0x55d0c1c0f000, true,
		},
		"none":         {"00400000-00e69000 r--p 00000000 fe:00 12 /bin/x\n", 0, 0, false},
		"cut":          {"00400000-00e6", 0, 0, false},
		"nothing":      {"", 0, 0, false},
		"out of order": {"00e69000-00400000 r-xp 0", 0xe69000, 0x400000, false},
	} {
		if from, to, ok := executable([]byte(c.maps)); ok != c.ok || ok && (from != c.from || to != c.to) {
			t.Errorf("%s: %x-%x, %v; want %x-%x, %v", name, from, to, ok, c.from, c.to, c.ok)
		}
	}
}

// All of the code is in memory already when the tests begin.
func TestTheCodeIsMapped(t *testing.T) {
	page := os.Getpagesize()
	if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, 0, 0, populateRead); errno != 0 {
		t.Skipf("this kernel cannot map memory ahead: %v", errno)
	}
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skipf("the system does not tell what is mapped: %v", err)
	}
	m := regexp.MustCompile(`(?s)^.*? r-xp .*?Size: +(\d+) kB.*?Rss: +(\d+) kB`).FindSubmatch(smaps)
	if m == nil {
		t.Fatalf("no executable range in\n%.500s", smaps)
	}
	size, _ := strconv.Atoi(string(m[1]))
	resident, _ := strconv.Atoi(string(m[2]))
	if size < 10*page>>10 || resident < size/10*9 {
		t.Errorf("%d of %d kB of the code are mapped", resident, size)
	}
}
