//go:build unix

package builtin

import (
	"io/fs"
	"syscall"
)

// hasOtherNames reports whether a file has hard links.
func hasOtherNames(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1 && info.Mode().IsRegular()
}
