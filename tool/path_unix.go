//go:build unix

package tool

import (
	"fmt"
	"io/fs"
	"syscall"
)

// fileID names a file by device and inode; "" where they are not known.
func fileID(info fs.FileInfo) string {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("inode:%d:%d", st.Dev, st.Ino)
	}
	return ""
}
