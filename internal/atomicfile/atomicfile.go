// Package atomicfile replaces files as a whole: whoever reads one at any moment,
// also after a kill or a loss of power, finds the old content or the new.
package atomicfile

import (
	"io/fs"
	"path/filepath"
)

// Write makes data the content of the file name, whose directory must exist.
// The temporary file stands beside it. A file that is there keeps its name and
// gets the mode perm, before umask.
func Write(name string, data []byte, perm fs.FileMode) error {
	return write(name, filepath.Dir(name), data, perm)
}
