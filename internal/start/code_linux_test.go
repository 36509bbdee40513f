package start

import (
	"os"
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

func TestWhatIsHotIsFound(t *testing.T) {
	const code, tables = "00400000-00e69000 r-xp 00000000 fe:00 12 /bin/x\n", "00e69000-0187c000 r--p 00a69000 fe:00 12 /bin/x\n"
	for name, c := range map[string]struct {
		maps     string
		from, to uintptr
		ok       bool
	}{
		"code and constants": {code + tables + "0187c000-019be000 rw-p 0147c000 fe:00 12 /bin/x\n", 0x400000, 0xe69000 + 0x284000, true},
		"code alone":         {code, 0x400000, 0xe69000, true},
		"code and data":      {code + "00e69000-0187c000 rw-p 00a69000 fe:00 12 /bin/x\n", 0x400000, 0xe69000, true},
		"a gap behind it":    {code + "00e6a000-0187c000 r--p 00a69000 fe:00 12 /bin/x\n", 0x400000, 0xe69000, true},
		"of a program that can be loaded anywhere": {
			"55d0c0a00000-55d0c0b00000 r--p 00000000 fe:00 12 /bin/x\n55d0c0b00000-55d0c1c0f000 r-xp 00100000 fe:00 12 /bin/x\n", 0x55d0c0b00000, 0x55d0c1c0f000, true,
		},
		"no code":      {tables, 0, 0, false},
		"cut":          {"00400000-00e6", 0, 0, false},
		"cut behind":   {code + tables[:14], 0x400000, 0xe69000, true},
		"nothing":      {"", 0, 0, false},
		"out of order": {"00e69000-00400000 r-xp 0", 0, 0, false},
	} {
		if from, to, ok := hot([]byte(c.maps)); ok != c.ok || ok && (from != c.from || to != c.to) {
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
