package wire

import (
	"strings"
	"testing"
)

func TestNamesFitAndStayDifferent(t *testing.T) {
	names := []string{"read_file", "fs.read", "fs_read", "fs/read", "9lives", "_9lives", "-x", "größe", "", strings.Repeat("x", 64), strings.Repeat("x", 65), Name("fs.read", false)}
	for _, lead := range []bool{false, true} {
		seen := map[string]string{}
		for _, n := range names {
			got := Name(n, lead)
			if !fitsName(got) || lead && !leads(got[0]) {
				t.Errorf("Name(%q, %v) = %q", n, lead, got)
			}
			if other, ok := seen[got]; ok {
				t.Errorf("%q and %q are both sent as %q", other, n, got)
			}
			seen[got] = n
		}
	}
	if got := Name("read_file", true); got != "read_file" {
		t.Errorf("a name that fits is sent as %q", got)
	}
}
