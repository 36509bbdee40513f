package tool

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// maxLinks is how many symbolic links a path may lead through.
const maxLinks = 64

// ResolvePath returns the absolute path that path stands for once every
// symbolic link in it is followed, links that lead to nothing included: what
// does not exist is resolved as far as it does, so that the result is where a
// file would be made.
func ResolvePath(path string) (string, error) {
	abs := path // not filepath.Abs: it would take x/.. out although x may be a link
	if !filepath.IsAbs(path) {
		dir, err := os.Getwd()
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
		abs = dir + string(filepath.Separator) + path
	}
	const separator = string(filepath.Separator)
	volume := filepath.VolumeName(abs)
	root := volume + separator
	resolved, rest, links := root, filepath.FromSlash(abs[len(volume):]), 0
	for rest != "" {
		var name string
		name, rest, _ = strings.Cut(strings.TrimLeft(rest, separator), separator)
		switch name {
		case "", ".":
			continue
		case "..":
			resolved = filepath.Dir(resolved)
			continue
		}
		next := filepath.Join(resolved, name)
		info, err := os.Lstat(next)
		if err != nil || info.Mode()&fs.ModeSymlink == 0 {
			resolved = next
			continue
		}
		if links++; links > maxLinks {
			return "", fmt.Errorf("resolve %s: more than %d symbolic links", path, maxLinks)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", fmt.Errorf("resolve %s: %w", path, err)
		}
		if filepath.IsAbs(target) {
			resolved = root
		}
		rest = filepath.FromSlash(target) + separator + rest
	}
	return resolved, nil
}

// PathKeys returns the resource keys of a file for Access: its resolved path
// and, if the file exists, its identity on the disk, so that one file under two
// names is one resource. A path that cannot be resolved is its own key.
func PathKeys(path string) []string {
	resolved, err := ResolvePath(path)
	if err != nil {
		return []string{filepath.ToSlash(path)}
	}
	keys := []string{filepath.ToSlash(resolved)}
	if info, err := os.Lstat(resolved); err == nil && info.Mode().IsRegular() {
		if id := fileID(info); id != "" {
			keys = append(keys, id)
		}
	}
	return keys
}

// DirKey returns the resource key that stands for a directory and everything
// below it.
func DirKey(path string) string {
	resolved, err := ResolvePath(path)
	if err != nil {
		resolved = path
	}
	return strings.TrimSuffix(filepath.ToSlash(resolved), "/") + "/"
}
