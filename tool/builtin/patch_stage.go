package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/tool"
)

// stage holds the files of a patch as they are and as they will be. Nothing is
// written before all of the patch is known to fit.
type stage struct {
	o     Options
	files []*stagedFile
	// rename moves a file; nil stands for the system's. Tests let it fail.
	rename func(f *stagedFile, from, to string) error
}

// stagedFile is a file as it is on the disk and as it will be.
type stagedFile struct {
	place  place
	info   fs.FileInfo // nil if it does not exist
	before string      // only what was asked for is read
	loaded bool

	exists bool
	after  string
	mode   fs.FileMode // of a file that another is moved to
	known  bool        // the model knows what it will hold
	stale  bool        // something else changed it after the model saw it
}

// isChanged reports whether the patch does anything to the file.
func (f *stagedFile) isChanged() bool {
	return f.exists != (f.info != nil) || f.exists && f.after != f.before
}

// open finds the files that the patch names.
func (s *stage) open(sections []section) error {
	for _, section := range sections {
		for _, path := range []string{section.path, section.target} {
			if path == "" {
				continue
			}
			p, err := s.o.Workspace.at(path, true)
			if err != nil {
				return err
			}
			if s.known(p.abs) != nil {
				p.Close()
				continue
			}
			s.files = append(s.files, &stagedFile{place: p})
		}
	}
	return nil
}

func (s *stage) close() {
	for _, f := range s.files {
		f.place.Close()
	}
}

func (s *stage) paths() []string {
	paths := make([]string, len(s.files))
	for i, f := range s.files {
		paths[i] = f.place.abs
	}
	return paths
}

func (s *stage) known(abs string) *stagedFile {
	i := slices.IndexFunc(s.files, func(f *stagedFile) bool { return f.place.abs == abs })
	if i < 0 {
		return nil
	}
	return s.files[i]
}

// file returns the file that path names. One file under two names (hard links) is
// one for a change of its content, which is what shared says.
func (s *stage) file(path string, shared bool) (*stagedFile, error) {
	resolved, err := tool.ResolvePath(s.o.Workspace.join(path))
	if err != nil {
		return nil, err
	}
	f := s.known(resolved)
	if f == nil {
		return nil, fmt.Errorf("%s came to lead elsewhere while the patch was read: try again", path)
	}
	if f, err = s.lookUp(f); err != nil || f.place.abs == resolved || shared {
		return f, err
	}
	return nil, fmt.Errorf("it is the same file as %s, which the patch changes, too: send two patches", s.o.Workspace.show(f.place.abs))
}

// lookUp looks up the state of a file, at first. It returns the one that is
// staged already if it is the same file under another name.
func (s *stage) lookUp(f *stagedFile) (*stagedFile, error) {
	if f.info != nil || f.exists {
		return f, nil
	}
	info, err := f.place.root.Lstat(f.place.rel)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f, nil
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errors.New("it is a directory")
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("it is not a regular file but %s", describeMode(info.Mode()))
	}
	for _, other := range s.files {
		if other != f && other.info != nil && os.SameFile(other.info, info) {
			return other, nil
		}
	}
	f.info, f.exists = info, true
	return f, nil
}

// load reads the file into memory, if that is still to be done.
func (s *stage) load(f *stagedFile) error {
	if f.loaded || f.info == nil {
		return nil
	}
	if f.info.Size() > editBytes {
		return fmt.Errorf("it has %d bytes, more than can be patched (%d): use a program in the shell", f.info.Size(), editBytes)
	}
	data, err := f.place.root.ReadFile(f.place.rel)
	if err != nil {
		return err
	}
	f.before, f.after, f.loaded = string(data), string(data), true
	fresh := s.o.Tracker.check(f.place.abs, f.info, data)
	f.known, f.stale = fresh == unchanged, fresh == changed
	return nil
}

// section does in memory what the patch says of one file, and returns a line on
// it.
func (s *stage) section(sec section) (string, error) {
	f, err := s.file(sec.path, sec.kind == updateSection && sec.target == "")
	if err != nil {
		return "", err
	}
	switch sec.kind {
	case addSection:
		return s.add(f, sec)
	case deleteSection:
		return s.remove(f, sec)
	}
	if !f.exists {
		return "", s.o.missing(f.place, sec.path)
	}
	if f.info != nil && f.info.Mode().Perm()&0o200 == 0 {
		return "", fmt.Errorf("the file is read-only (mode %v): %w", f.info.Mode(), fs.ErrPermission)
	}
	if err := s.load(f); err != nil {
		return "", err
	}
	line := "M " + sec.path
	if len(sec.hunks) > 0 {
		told, err := f.patch(sec.hunks)
		if err != nil {
			return "", err
		}
		line += told
	}
	if sec.target != "" {
		if err := s.move(f, sec.target); err != nil {
			return "", err
		}
		line = "R " + sec.path + " -> " + sec.target + strings.TrimPrefix(line, "M "+sec.path)
	}
	if f.stale && len(sec.hunks) > 0 {
		line += "\nNote: something else had changed " + sec.path + " after you last read it; those changes are kept."
	}
	return line, nil
}

// add makes a new file.
func (s *stage) add(f *stagedFile, sec section) (string, error) {
	if f.exists {
		return "", fmt.Errorf("it exists already: change it with %s", strings.TrimSpace(updateMark))
	}
	if err := f.replaceable(); err != nil {
		return "", err
	}
	f.exists, f.after, f.known = true, sec.content, true
	return "A " + sec.path, nil
}

// replaceable says why a file that is deleted cannot be replaced by another: it
// could not be restored.
func (f *stagedFile) replaceable() error {
	if f.info != nil && f.info.Size() > 0 && !f.loaded {
		return fmt.Errorf("it has %d bytes, too many to be replaced by a patch: delete it in a patch of its own", f.info.Size())
	}
	return nil
}

// remove deletes a file that the model knows: it has read it, or the patch says
// all that it holds.
func (s *stage) remove(f *stagedFile, sec section) (string, error) {
	if !f.exists {
		return "", s.o.missing(f.place, sec.path)
	}
	if len(sec.hunks) > 0 {
		if err := s.load(f); err != nil {
			return "", err
		}
		if _, err := f.patch(sec.hunks); err != nil {
			return "", err
		}
		if f.after != "" {
			return "", errors.New("it is to be deleted, but holds more than the lines that the patch takes away")
		}
	} else if err := s.mayRemove(f); err != nil {
		return "", err
	}
	f.exists, f.after = false, ""
	return "D " + sec.path, nil
}

// mayRemove says why a file must not be deleted: the model would destroy what it
// does not know.
func (s *stage) mayRemove(f *stagedFile) error {
	if f.info == nil || f.info.Size() == 0 {
		return nil // the patch itself made it
	}
	var data []byte
	if f.info.Size() <= editBytes {
		if err := s.load(f); err != nil {
			return err
		}
		data = []byte(f.before)
	}
	switch s.o.Tracker.check(f.place.abs, f.info, data) {
	case unseen:
		return errors.New("it was not read in this session, so it is not deleted: read it first")
	case changed:
		return errors.New("something else changed it after it was last read here, so it is not deleted: read it again first")
	}
	return nil
}

// move gives a file another path.
func (s *stage) move(f *stagedFile, target string) error {
	to, err := s.file(target, false)
	switch {
	case err != nil:
		return fmt.Errorf("move to %s: %w", target, err)
	case to == f:
		return nil
	case to.exists:
		return fmt.Errorf("move to %s: it exists already: delete it first, or choose another name", target)
	}
	if err := to.replaceable(); err != nil {
		return fmt.Errorf("move to %s: %w", target, err)
	}
	to.exists, to.after, to.known = true, f.after, f.known
	if f.info != nil {
		to.mode = f.info.Mode().Perm()
	}
	f.exists, f.after = false, ""
	return nil
}

// patch changes the content as the hunks say, all or none, and words what they
// did.
func (f *stagedFile) patch(hunks []hunk) (string, error) {
	if what := sniffBinary([]byte(f.after[:min(len(f.after), 8000)])); what != "" {
		return "", fmt.Errorf("it is %s, not text", what)
	}
	text, bom := strings.CutPrefix(f.after, byteOrderMark)
	p := &patchText{lines: splitLines(text)}
	places := make([]int, len(hunks))
	note := ""
	for i := range hunks {
		at, level, err := p.place(&hunks[i])
		if err != nil {
			return "", fmt.Errorf("hunk %d of %d (line %d of the patch): %w", i+1, len(hunks), hunks[i].at, err)
		}
		places[i] = at
		if level > asItStands {
			note = levelNote(level)
		}
	}
	after := p.String()
	if bom {
		after = byteOrderMark + after
	}
	if after == f.after {
		return "", errors.New("the patch leaves it as it is")
	}
	f.after, f.known = after, true
	if len(hunks) == 1 {
		return fmt.Sprintf(": 1 hunk in line %d%s", places[0]+1, note), nil
	}
	return fmt.Sprintf(": %d hunks in %s%s", len(hunks), listLines(places), note), nil
}

// byteOrderMark begins some files of Windows programs.
const byteOrderMark = "\ufeff"
