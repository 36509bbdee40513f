package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/rondo-engine/rondo/tool"
)

// Workspace is the directory that the file tools work in. Paths in calls are
// relative to it or absolute; symbolic links are followed to their end, also
// those that lead to nothing, before it is decided whether a path is inside.
// What is inside is then opened through an os.Root, so that a link which is put
// in place in the meantime leads nowhere.
//
// Agents that work in one directory should share one Workspace: it sees to it
// that one file is changed by one call at a time. It is safe for concurrent use.
type Workspace struct {
	root         *os.Root
	dir          string // resolved
	allowOutside bool
	readable     []string

	mu    sync.Mutex
	locks map[string]*pathLock
}

// pathLock is the lock of a file and how many calls have or want it.
type pathLock struct {
	sync.Mutex
	users int
}

// WorkspaceOptions widen what the file tools may touch.
type WorkspaceOptions struct {
	// AllowOutside lets them read and write everywhere.
	AllowOutside bool
	// Readable are directories outside that they may read, such as the one
	// that large results are saved to.
	Readable []string
}

// OpenWorkspace opens dir, which must exist. The caller closes the Workspace.
func OpenWorkspace(dir string, opts WorkspaceOptions) (*Workspace, error) {
	resolved, err := tool.ResolvePath(dir)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Workspace{
		root: root, dir: resolved, allowOutside: opts.AllowOutside, readable: opts.Readable,
		locks: make(map[string]*pathLock),
	}, nil
}

// Dir returns the directory with all symbolic links followed.
func (w *Workspace) Dir() string { return w.dir }

// Close closes the directory.
func (w *Workspace) Close() error { return w.root.Close() }

// place is a file or directory that a call may touch.
type place struct {
	root *os.Root
	own  bool // root is closed with the place
	rel  string
	abs  string
}

// Close releases the place.
func (p place) Close() error {
	if p.own {
		return p.root.Close()
	}
	return nil
}

// abs returns path as an absolute one, links not followed.
func (w *Workspace) abs(path string) string {
	if path == "" {
		return w.dir
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.dir, path)
	}
	return filepath.Clean(path)
}

// join is abs without cleaning: a/link/../b is where the system finds it.
func (w *Workspace) join(path string) string {
	if path == "" || filepath.IsAbs(path) {
		return w.abs(path)
	}
	return w.dir + string(filepath.Separator) + path
}

// at finds the place that path names, or says why the call may not touch it.
func (w *Workspace) at(path string, write bool) (place, error) {
	if strings.ContainsRune(path, 0) {
		return place{}, errors.New("the path holds a NUL character")
	}
	resolved, err := tool.ResolvePath(w.join(path))
	if err != nil {
		return place{}, err
	}
	if rel, ok := below(w.dir, resolved); ok {
		return place{root: w.root, rel: rel, abs: resolved}, nil
	}
	if !w.allowOutside && (write || !w.mayRead(resolved)) {
		return place{}, w.outside(path, resolved)
	}
	base := filepath.VolumeName(resolved) + string(filepath.Separator)
	root, err := os.OpenRoot(base)
	if err != nil {
		return place{}, err
	}
	rel, _ := below(base, resolved)
	return place{root: root, own: true, rel: rel, abs: resolved}, nil
}

func (w *Workspace) outside(path, resolved string) error {
	leads := ""
	if w.abs(path) != resolved {
		leads = " (it leads to " + resolved + ")"
	}
	return fmt.Errorf("%s is outside of the workspace %s%s: file tools may not touch it", path, w.dir, leads)
}

func (w *Workspace) mayRead(resolved string) bool {
	for _, dir := range w.readable {
		if dir, err := tool.ResolvePath(dir); err == nil {
			if _, ok := below(dir, resolved); ok {
				return true
			}
		}
	}
	return false
}

// below returns path relative to dir if it is dir or stands below it.
func below(dir, path string) (string, bool) {
	if path == dir {
		return ".", true
	}
	rel, ok := strings.CutPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
	return rel, ok
}

// show returns a path as it is told to the model: relative inside the workspace.
func (w *Workspace) show(abs string) string {
	if rel, ok := below(w.dir, abs); ok {
		return filepath.ToSlash(rel)
	}
	return abs
}

// lock makes the caller the only one that changes the file until it calls the
// function that is returned.
func (w *Workspace) lock(abs string) (unlock func()) { return w.lockKey(lockKey(abs)) }

// lockAll is lock for several files. They are locked in one order by all, so that
// nobody waits for somebody who waits for them.
func (w *Workspace) lockAll(paths []string) (unlock func()) {
	keys := make([]string, len(paths))
	for i, path := range paths {
		keys[i] = lockKey(path)
	}
	slices.Sort(keys)
	var unlocks []func()
	for _, key := range slices.Compact(keys) {
		unlocks = append(unlocks, w.lockKey(key))
	}
	return func() {
		for _, unlock := range unlocks {
			unlock()
		}
	}
}

// lockKey names a resolved path for lock: a file with several names is changed in
// place, so that its identity on the disk stands for all of them.
func lockKey(abs string) string {
	if info, err := os.Lstat(abs); err == nil && hasOtherNames(info) {
		if keys := tool.PathKeys(abs); len(keys) > 1 {
			return keys[1]
		}
	}
	return abs
}

func (w *Workspace) lockKey(key string) (unlock func()) {
	w.mu.Lock()
	l := w.locks[key]
	if l == nil {
		l = new(pathLock)
		w.locks[key] = l
	}
	l.users++
	w.mu.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		w.mu.Lock()
		defer w.mu.Unlock()
		if l.users--; l.users == 0 {
			delete(w.locks, key)
		}
	}
}

// write replaces the content of the file at p, or makes it, with its parents:
// readers see the old content or the new. An existing file keeps its mode. A
// file with several names is overwritten in place, so that it stays one file.
func (p place) write(data []byte) error {
	mode := fs.FileMode(0o666) // less the umask
	info, err := p.root.Lstat(p.rel)
	switch {
	case err == nil && info.Mode().Perm()&0o200 == 0:
		return fmt.Errorf("the file is read-only (mode %v): %w", info.Mode(), fs.ErrPermission)
	case err == nil && hasOtherNames(info):
		return p.root.WriteFile(p.rel, data, info.Mode().Perm())
	case err == nil:
		mode = info.Mode().Perm()
	case errors.Is(err, fs.ErrNotExist):
		if err := p.root.MkdirAll(filepath.Dir(p.rel), 0o777); err != nil {
			return err
		}
	default:
		return err
	}
	f, name, err := p.temp(mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if info != nil && err == nil {
		err = f.Chmod(mode) // the umask may have taken bits away
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = p.root.Rename(name, p.rel)
	}
	if err != nil {
		return errors.Join(err, p.root.Remove(name))
	}
	return nil
}

// temp makes a new file beside p.
func (p place) temp(mode fs.FileMode) (f *os.File, name string, err error) {
	for n := range 1000 {
		name = filepath.Join(filepath.Dir(p.rel), fmt.Sprintf(".rondo-%d%s", n, tempSuffix))
		f, err = p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if !errors.Is(err, fs.ErrExist) {
			return f, name, err
		}
	}
	return nil, "", err
}

// freeName returns a name beside p that nothing has.
func (p place) freeName() (string, error) {
	f, name, err := p.temp(0o600)
	if err != nil {
		return "", err
	}
	return name, f.Close()
}

// tempSuffix ends the names of files that are being written.
const tempSuffix = ".tmp"
