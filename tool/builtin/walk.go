package builtin

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// walk visits the files below a directory that are not ignored, with several
// workers. Symbolic links are not followed, version control is left out.
type walk struct {
	base string // absolute
	// visit is called with the number of the worker and the file's path
	// relative to base, with slashes. Calls of one worker come one at a time.
	visit func(worker int, rel string, name string)

	mu    sync.Mutex
	more  sync.Cond
	stack []walkTask
	busy  int // workers that may still add tasks
	err   error
}

// walkTask is a directory to read, or files of one to visit.
type walkTask struct {
	rel   string // "" for base
	ig    *ignores
	files []string
}

// walkChunk is how many files of one directory a worker keeps to itself.
const walkChunk = 128

// walkWorkers returns how many workers a walk has.
func walkWorkers() int { return max(runtime.GOMAXPROCS(0), 1) }

// run walks until all is visited or ctx ends. Directories that cannot be read
// are left out; the error is that of base, or of ctx.
func (w *walk) run(ctx context.Context, ig *ignores) error {
	w.more.L = &w.mu
	w.stack = []walkTask{{ig: ig}}
	stop := context.AfterFunc(ctx, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.more.Broadcast()
	})
	defer stop()
	var wg sync.WaitGroup
	for i := range walkWorkers() {
		wg.Go(func() {
			for {
				task, ok := w.next(ctx)
				if !ok {
					return
				}
				w.do(ctx, i, task)
			}
		})
	}
	wg.Wait()
	return errors.Join(w.err, ctx.Err())
}

// next takes a task; there is none when all workers wait for one.
func (w *walk) next(ctx context.Context) (walkTask, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.stack) == 0 && w.busy > 0 && ctx.Err() == nil {
		w.more.Wait()
	}
	if len(w.stack) == 0 || ctx.Err() != nil {
		w.more.Broadcast()
		return walkTask{}, false
	}
	task := w.stack[len(w.stack)-1]
	w.stack = w.stack[:len(w.stack)-1]
	w.busy++
	return task, true
}

func (w *walk) do(ctx context.Context, worker int, task walkTask) {
	var found []walkTask
	if task.files == nil {
		var err error
		if found, task.files, err = w.read(&task); err != nil && task.rel == "" {
			w.mu.Lock()
			w.err = err
			w.mu.Unlock()
		}
	}
	for len(task.files) > walkChunk {
		found = append(found, walkTask{rel: task.rel, files: task.files[:walkChunk]})
		task.files = task.files[walkChunk:]
	}
	w.mu.Lock()
	w.stack = append(w.stack, found...)
	w.mu.Unlock()
	if len(found) > 0 {
		w.more.Broadcast()
	}
	for _, name := range task.files {
		if ctx.Err() != nil {
			break
		}
		w.visit(worker, joinRel(task.rel, name), name)
	}
	w.mu.Lock()
	w.busy--
	w.mu.Unlock()
	w.more.Broadcast()
}

// read lists a directory: the directories below it and its files.
func (w *walk) read(task *walkTask) (dirs []walkTask, files []string, err error) {
	f, err := os.Open(filepath.Join(w.base, filepath.FromSlash(task.rel)))
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	for _, e := range entries {
		if e.Name() == ".gitignore" && e.Type().IsRegular() {
			task.ig = w.ignores(task)
		}
	}
	for _, e := range entries {
		name := e.Name()
		isDir := e.IsDir()
		if !isDir && !e.Type().IsRegular() || isDir && isVersionControl(name) {
			continue
		}
		rel := ""
		if task.ig != nil || isDir {
			rel = joinRel(task.rel, name)
		}
		if task.ig.ignored(rel, name, isDir) {
			continue
		}
		if isDir {
			dirs = append(dirs, walkTask{rel: rel, ig: task.ig})
		} else {
			files = append(files, name)
		}
	}
	return dirs, files, err
}

// ignores returns the rules of the task's directory with those above it.
func (w *walk) ignores(task *walkTask) *ignores {
	f, err := os.Open(filepath.Join(w.base, filepath.FromSlash(task.rel), ".gitignore"))
	if err != nil {
		return task.ig
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return task.ig
	}
	return parseIgnores(task.ig, task.rel, string(text))
}

func isVersionControl(name string) bool { return name == ".git" || name == ".hg" || name == ".svn" }

func joinRel(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// isDir reports whether the place is a directory, or why that is not known.
func (o Options) isDir(p place, path string) (bool, error) {
	info, err := p.root.Stat(p.rel)
	if errors.Is(err, fs.ErrNotExist) {
		return false, o.missing(p, path)
	}
	if err != nil {
		return false, err
	}
	return info.IsDir(), nil
}
