package builtin

import (
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"path/filepath"
	"slices"
)

// commit carries out what is staged. All new contents are written to files beside
// their places first, where most of what can fail does; then they are put in
// place. If that fails, what was done is taken back. note tells what is left to
// tidy up after it has succeeded.
func (s *stage) commit() (note string, err error) {
	var steps []*step
	for _, f := range s.files {
		if f.isChanged() {
			steps = append(steps, &step{stage: s, stagedFile: f})
		}
	}
	if len(steps) == 0 {
		return "", errors.New("the patch changes nothing: the files are already as it would make them")
	}
	for _, phase := range []func(*step) error{(*step).prepare, (*step).do} {
		for _, st := range steps {
			if err := phase(st); err != nil {
				return "", st.failed(err, takeBack(steps))
			}
		}
	}
	for _, st := range steps {
		note += st.finish()
	}
	return note, nil
}

// failed words that a step could not be done, and whether the others were taken
// back.
func (st *step) failed(err, left error) error {
	err = fmt.Errorf("the patch could not be carried out: %s: %w", st.show(), err)
	if left != nil {
		return fmt.Errorf("%w; not all of it could be taken back, look at the files: %w", err, left)
	}
	return fmt.Errorf("%w; all files are as they were", err)
}

func (st *step) show() string { return st.stage.o.Workspace.show(st.place.abs) }

// step is the change of one file on the disk.
type step struct {
	*stagedFile
	stage *stage
	// temp is the new content beside its place, or the old file out of the way.
	temp string
	done bool
	dirs []string // that were made for it, the outermost first
}

// inPlace reports whether the file is overwritten where it is: it has other names,
// and is to stay one file.
func (st *step) inPlace() bool { return st.exists && st.info != nil && hasOtherNames(st.info) }

// prepare writes the new content beside its place.
func (st *step) prepare() error {
	if !st.exists || st.inPlace() {
		return nil
	}
	if err := st.makeDirs(); err != nil {
		return err
	}
	mode := st.mode
	if mode == 0 {
		mode = 0o666 // less the umask
	}
	exactly := st.mode != 0
	if st.info != nil {
		mode, exactly = st.info.Mode().Perm(), true
	}
	f, name, err := st.place.temp(mode)
	if err != nil {
		return err
	}
	st.temp = name
	_, err = f.WriteString(st.after)
	if exactly && err == nil {
		err = f.Chmod(mode) // the umask may have taken bits away
	}
	return errors.Join(err, f.Close())
}

// makeDirs makes the directories that are missing above the file.
func (st *step) makeDirs() error {
	var missing []string
	for dir := filepath.Dir(st.place.rel); ; dir = filepath.Dir(dir) {
		if _, err := st.place.root.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		missing = append([]string{dir}, missing...)
	}
	for _, dir := range missing {
		if err := st.place.root.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		st.dirs = append(st.dirs, dir)
	}
	return nil
}

// do puts the new content in place, or moves a file that is deleted out of the
// way.
func (st *step) do() error {
	var err error
	switch {
	case st.inPlace():
		st.done = true // in part, if it fails
		return st.place.root.WriteFile(st.place.rel, []byte(st.after), st.info.Mode().Perm())
	case st.exists:
		err = st.move(st.temp, st.place.rel)
	default:
		var name string
		if name, err = st.place.freeName(); err == nil {
			err = st.move(st.place.rel, name)
		}
		st.temp = name // also where the move fails, to be removed
	}
	st.done = err == nil
	return err
}

func (st *step) move(from, to string) error {
	if st.stage.rename != nil {
		return st.stage.rename(st.stagedFile, from, to)
	}
	return st.place.root.Rename(from, to)
}

// takeBack undoes steps in reverse order, as far as they were done.
func takeBack(steps []*step) error {
	var errs []error
	for _, st := range slices.Backward(steps) {
		if err := st.undo(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", st.show(), err))
		}
	}
	return errors.Join(errs...)
}

func (st *step) undo() error {
	var err error
	switch {
	case !st.done && st.temp != "":
		err = st.place.root.Remove(st.temp)
	case !st.done:
	case !st.exists:
		err = st.place.root.Rename(st.temp, st.place.rel)
	case st.info != nil:
		err = st.place.write([]byte(st.before))
	default:
		err = st.place.root.Remove(st.place.rel)
	}
	for _, dir := range slices.Backward(st.dirs) {
		_ = st.place.root.Remove(dir) // another may have put something there
	}
	return err
}

// finish notes the new state of a file that stays, and removes one that does not.
func (st *step) finish() (note string) {
	if !st.exists {
		if err := st.place.root.Remove(st.temp); err != nil {
			return fmt.Sprintf("\nNote: what was %s is left as %s: %v", st.show(), st.temp, err)
		}
		return ""
	}
	info, err := st.place.root.Stat(st.place.rel)
	if err == nil && st.known { // if it is gone already, another has removed it
		st.stage.o.Tracker.saw(st.place.abs, info, maphash.String(st.stage.o.Tracker.seed, st.after))
	}
	return ""
}
