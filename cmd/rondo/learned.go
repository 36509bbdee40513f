package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/internal/atomicfile"
	"github.com/rondo-engine/rondo/model/resilient"
)

// learnedFile holds in $RONDO_HOME what providers gave away of their models'
// limits.
const learnedFile = "learned.json"

// learnedLife is how long it is believed: providers raise limits, too.
const learnedLife = 30 * 24 * time.Hour

// learnedLimit is an entry of the file.
type learnedLimit struct {
	resilient.Bounds
	LearnedAt time.Time `json:"learned_at"`
}

// learned is the file of learned limits.
type learned struct{ env *environment }

// limits is a memory of limits that lives in the file.
func (e *environment) limits() *resilient.Limits {
	l := learned{e}
	return resilient.NewLimits(resilient.BoundsOptions{
		Load: l.load, Save: l.save,
		Warn: func(err error) { fmt.Fprintf(e.Stderr, "rondo: %v\n", err) },
	})
}

func (l learned) path() (string, error) {
	home, err := l.env.home()
	return filepath.Join(home, learnedFile), err
}

// load returns the limits that are still believed.
func (l learned) load() (map[string]resilient.Bounds, error) {
	all, err := l.read()
	bounds := make(map[string]resilient.Bounds, len(all))
	for key, e := range all {
		bounds[key] = e.Bounds
	}
	return bounds, err
}

func (l learned) read() (map[string]learnedLimit, error) {
	file, err := l.path()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read what was learned of models' limits: %w", err)
	}
	all := map[string]learnedLimit{}
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, fmt.Errorf("%s does not hold what rondo wrote, and is left out: delete it: %w", file, err)
	}
	for key, e := range all {
		if l.env.Now().Sub(e.LearnedAt) > learnedLife {
			delete(all, key)
		}
	}
	return all, nil
}

// save adds the limits of a model to the file, which another process may have
// changed meanwhile.
func (l learned) save(key string, b resilient.Bounds) error {
	all, err := l.read()
	if err != nil {
		return err
	}
	if all == nil {
		all = map[string]learnedLimit{}
	}
	all[key] = learnedLimit{b, l.env.Now().UTC().Truncate(time.Second)}
	data, err := json.Marshal(all, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return err
	}
	file, err := l.path()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("keep what was learned of models' limits: %w", err)
	}
	if err := atomicfile.Write(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("keep what was learned of models' limits: %w", err)
	}
	return nil
}
