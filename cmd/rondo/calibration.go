package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/internal/atomicfile"
	"github.com/rondo-engine/rondo/window"
)

// calibrationFile holds in $RONDO_HOME how models count their tokens.
const calibrationFile = "calibration.json"

// calibration is what is known of how models count. It is read when it is first
// asked for and written once, at the end of the program.
type calibration struct {
	path string

	mu      sync.Mutex
	known   map[string]window.Ratio
	changed map[string]window.Ratio
}

func newCalibration(home string) *calibration {
	return &calibration{path: filepath.Join(home, calibrationFile), changed: map[string]window.Ratio{}}
}

// Ratio implements window.Ratios.
func (c *calibration) Ratio(name string) window.Ratio {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.changed[name]; ok {
		return r
	}
	if c.known == nil {
		c.known, _ = c.read() // what cannot be read is learned again, and told of when it is written
	}
	return c.known[name]
}

// SetRatio implements window.Ratios.
func (c *calibration) SetRatio(name string, r window.Ratio) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed[name] = r
}

func (c *calibration) read() (map[string]window.Ratio, error) {
	all := map[string]window.Ratio{}
	data, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return all, nil
	}
	if err != nil {
		return all, err
	}
	if err := json.Unmarshal(data, &all); err != nil {
		return map[string]window.Ratio{}, fmt.Errorf("%s does not hold what rondo wrote: delete it: %w", c.path, err)
	}
	return all, nil
}

// save writes what was learned, beside what other processes have.
func (c *calibration) save() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.changed) == 0 {
		return nil
	}
	all, err := c.read()
	if err != nil {
		return fmt.Errorf("keep how models count: %w", err)
	}
	for name, r := range c.changed {
		all[name] = r
	}
	data, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return fmt.Errorf("keep how models count: %w", err)
	}
	if err := atomicfile.Write(c.path, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep how models count: %w", err)
	}
	return nil
}
