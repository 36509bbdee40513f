//go:build !unix

package builtin

import "io/fs"

// hasOtherNames reports whether a file has hard links, if that can be told.
func hasOtherNames(fs.FileInfo) bool { return false }
