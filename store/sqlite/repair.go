package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/rondo-engine/rondo/internal/sqlitefile"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
)

// RepairOptions adjust a repair.
type RepairOptions struct {
	// Now names the backup; nil is time.Now.
	Now func() time.Time
	// Spare returns what is known elsewhere of the messages of a session, the
	// first one first, such as its snapshot; nil knows nothing. Messages that
	// are lost are taken from there.
	Spare func(id string) []*message.Message
}

// Repaired says what a repair did.
type Repaired struct {
	// Backup is the name of a copy of the file as it was. That of its log has
	// "-wal" behind the name.
	Backup             string
	Sessions, Messages int
	// Filled counts the messages that were taken from elsewhere.
	Filled int
	// Lost names what could not be recovered, Remarks what else is worth
	// knowing, a line each.
	Lost, Remarks []string
}

// ErrInUse is in the chain of the error about a file that other processes use.
var ErrInUse = errors.New("the session store is in use")

// ErrNothingReadable says that a file holds nothing that could be recovered. It
// was left as it is.
var ErrNothingReadable = errors.New("nothing of a session store can be read in the file: move it away, and a new one is made")

// What stands behind the name of a store's file during a repair.
const (
	suffixWork = ".repairing" // the new file, as long as it is not complete
	suffixDone = ".repaired"  // the new file, complete
)

// Repair recovers all that can be read of the store at path, which no process
// may have open, into a new file, and puts that in its place. The file is copied
// first. Records are read page by page, without SQLite; the full-text index is
// made anew from the messages. A repair that was killed is taken up by the next.
//
// Calls that were open when a session broke off count as begun afterwards: the
// journal may have lost its word of them.
func Repair(ctx context.Context, path string, o RepairOptions) (r Repaired, err error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return r, fmt.Errorf("repair session store: %w", err)
	}
	// Closing f gives up the lock on the file. Until then it must be opened
	// nowhere else in this process.
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := seize(f); err != nil {
		return r, fmt.Errorf("repair session store: %s: %w", path, err)
	}
	p := repair{path: path, f: f, o: o, r: &r}
	if err := p.do(ctx); err != nil {
		return r, fmt.Errorf("repair session store: %w", err)
	}
	return r, nil
}

// repair is a repair that goes on.
type repair struct {
	path string
	f    *os.File
	o    RepairOptions
	r    *Repaired
}

func (p *repair) do(ctx context.Context) error {
	begun, err := p.begun()
	if err != nil {
		return err
	}
	if begun {
		p.r.Remarks = append(p.r.Remarks, "a repair that was interrupted is completed")
		return p.install()
	}
	for _, suffix := range []string{suffixDone, suffixWork, suffixWork + "-wal", suffixWork + "-shm"} {
		if err := remove(p.path + suffix); err != nil {
			return err
		}
	}
	if err := p.backup(); err != nil {
		return errors.Join(err, p.dropBackup())
	}
	if err := p.rebuild(ctx); err != nil {
		return errors.Join(err, p.dropBackup())
	}
	if err := os.Rename(p.path+suffixWork, p.path+suffixDone); err != nil {
		return err
	}
	return p.install()
}

// begun reports whether a repair was killed while it put the new file in place:
// the old one has no head then, and no log any more.
func (p *repair) begun() (bool, error) {
	if _, err := os.Stat(p.path + suffixDone); err != nil {
		return false, nil
	}
	head := make([]byte, headSize)
	if _, err := p.f.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	for _, b := range head {
		if b != 0 {
			return false, nil
		}
	}
	info, err := os.Stat(p.path + "-wal")
	return err != nil || info.Size() == 0, nil
}

// headSize is how many bytes of a file say that it is a database.
const headSize = 100

// backup copies the file and its log.
func (p *repair) backup() error {
	p.r.Backup = p.path + ".damaged-" + p.o.Now().UTC().Format("20060102-150405.000")
	if err := copyFile(p.r.Backup, io.NewSectionReader(p.f, 0, 1<<62)); err != nil {
		return fmt.Errorf("keep a copy of the file: %w", err)
	}
	log, err := os.Open(p.path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(copyFile(p.r.Backup+"-wal", log), log.Close())
	}
	if err != nil {
		return fmt.Errorf("keep a copy of the log: %w", err)
	}
	return nil
}

// dropBackup removes the copies of a repair that changed nothing.
func (p *repair) dropBackup() error {
	name := p.r.Backup
	p.r.Backup = ""
	return errors.Join(remove(name), remove(name+"-wal"))
}

// install makes the file hold what the new one does. It keeps the file itself,
// since other processes may have opened it and wait for its lock. Until its head
// is written, which is last, nobody takes it for a store.
func (p *repair) install() error {
	done, err := os.Open(p.path + suffixDone)
	if err != nil {
		return err
	}
	err = p.overwrite(done)
	if err = errors.Join(err, done.Close()); err != nil {
		return fmt.Errorf("put the repaired file in place, which the next repair takes up: %w", err)
	}
	return os.Remove(p.path + suffixDone)
}

func (p *repair) overwrite(done *os.File) error {
	info, err := done.Stat()
	if err != nil {
		return err
	}
	if _, err := p.f.WriteAt(make([]byte, headSize), 0); err != nil {
		return err
	}
	if err := p.f.Sync(); err != nil {
		return err
	}
	for _, suffix := range []string{"-wal", "-shm"} {
		if err := remove(p.path + suffix); err != nil {
			return err
		}
	}
	_, err = io.Copy(io.NewOffsetWriter(p.f, headSize), io.NewSectionReader(done, headSize, info.Size()-headSize))
	if err == nil {
		err = p.f.Truncate(info.Size())
	}
	if err == nil {
		err = p.f.Sync()
	}
	head := make([]byte, headSize)
	if err == nil {
		_, err = done.ReadAt(head, 0)
	}
	if err == nil {
		_, err = p.f.WriteAt(head, 0)
	}
	return errors.Join(err, p.f.Sync())
}

// remove removes a file that need not be there.
func remove(name string) error {
	err := os.Remove(name)
	if errors.Is(err, os.ErrNotExist) || name == "" {
		return nil
	}
	return err
}

// copyFile makes a new file for the user alone, and makes it durable.
func copyFile(name string, from io.Reader) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// rebuild makes the new file, or none.
func (p *repair) rebuild(ctx context.Context) (err error) {
	work := p.path + suffixWork
	defer func() {
		for _, suffix := range []string{"", "-wal", "-shm"} {
			if err != nil {
				err = errors.Join(err, remove(work+suffix))
			}
		}
	}()
	info, err := p.f.Stat()
	if err != nil {
		return err
	}
	log, logSize, err := p.openLog()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	file, err := sqlitefile.Open(p.f, info.Size(), log, logSize)
	if err != nil {
		return err
	}
	s, err := Open(ctx, work, Options{Now: p.o.Now})
	if err != nil {
		return err
	}
	v := salvage{repair: p, ctx: ctx, file: file, sessions: map[int64]*found{}, indexed: map[int64]bool{}}
	err = v.read()
	if err == nil {
		err = s.write(ctx, v.write)
	}
	if err == nil {
		err = s.verify(ctx)
	}
	return errors.Join(err, s.Close())
}

// verify checks a new file, in which nothing may be amiss but what was lost.
func (s *Store) verify(ctx context.Context) error {
	report, err := s.Check(ctx)
	for _, p := range report.Problems {
		if p.Area != store.AreaMessages && p.Area != store.AreaLineage {
			return fmt.Errorf("the new file is not whole either (%s): the old one stays", p)
		}
	}
	return err
}

// openLog opens the log beside the file. Where there is none, it is empty.
func (p *repair) openLog() (*os.File, int64, error) {
	log, err := os.Open(p.path + "-wal")
	if errors.Is(err, os.ErrNotExist) {
		log, err = os.Open(os.DevNull)
	}
	if err != nil {
		return nil, 0, err
	}
	info, err := log.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, log.Close())
	}
	return log, info.Size(), nil
}
