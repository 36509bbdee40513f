//go:build !unix

package guard

import "io/fs"

// hasOtherNames reports that a file may have more than one name: it is not known
// here.
func hasOtherNames(fs.FileInfo) bool { return true }
