package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// write relies on os.Rename, which on Windows replaces a file that is there,
// unless another process has it open.
func write(name, dir string, data []byte, perm fs.FileMode) error {
	f, err := os.CreateTemp(dir, "."+filepath.Base(name)+"-*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = f.Chmod(perm)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
