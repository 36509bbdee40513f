package builtin

import (
	"fmt"
	"io"
)

// ReadFile returns the content of a file that the file tools may read; one of
// more than limit bytes is an error. It is for other tools that take a path.
func (w *Workspace) ReadFile(path string, limit int64) ([]byte, error) {
	p, err := w.at(path, false)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	f, info, err := Options{Workspace: w}.open(p, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info.Size() > limit {
		return nil, fmt.Errorf("%s has %d bytes, more than the %d that are read at once", path, info.Size(), limit)
	}
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return data, nil
}
