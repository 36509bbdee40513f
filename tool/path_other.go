//go:build !unix

package tool

import "io/fs"

// fileID names a file by its identity on the disk; "" where that is not known.
func fileID(fs.FileInfo) string { return "" }
