//go:build unix

package guard

import (
	"io/fs"
	"syscall"
)

// hasOtherNames reports whether a file has more than one name.
func hasOtherNames(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
