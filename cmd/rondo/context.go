package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/memory"
	"github.com/rondo-engine/rondo/prompt"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/window"
)

// memoryStore opens what is remembered; nil where that is switched off.
func (e *environment) memoryStore(home string, c *config.Loaded) *memory.Store {
	if !c.Memory.Enabled {
		return nil
	}
	return memory.Open(filepath.Join(home, "memories"), memory.Options{
		MemoryLimit: c.Memory.MemoryCharLimit, UserLimit: c.Memory.UserCharLimit,
	})
}

// skillDirs are where skills are looked for, those of the user first.
func (e *environment) skillDirs(c *config.Loaded, workspace string) ([]string, error) {
	home, err := e.home()
	if err != nil {
		return nil, err
	}
	dirs := []string{filepath.Join(home, "skills")}
	for _, d := range c.Prompt.SkillDirs {
		dirs = append(dirs, e.path(d))
	}
	return append(dirs, filepath.Join(workspace, ".rondo", "skills"), filepath.Join(workspace, ".agents", "skills")), nil
}

// facts are what the system prompt says in a workspace. What cannot be read is
// left out and told in notes.
func (e *environment) facts(c *config.Loaded, workspace string, mem *memory.Store) (f prompt.Facts, notes []string, err error) {
	home, err := e.home()
	if err != nil {
		return f, nil, err
	}
	f = prompt.Facts{Workspace: workspace, Platform: runtime.GOOS + "/" + runtime.GOARCH, Day: e.Now()}
	note := func(err error) {
		if err != nil {
			notes = append(notes, "the system prompt lacks something: "+strings.ReplaceAll(err.Error(), "\n", "; "))
		}
	}
	f.Soul, err = readOptional(filepath.Join(home, "SOUL.md"))
	note(err)
	if name := c.Prompt.Personality; name != "" {
		if f.Personality, err = e.personality(home, name); err != nil {
			return f, nil, usage(err)
		}
	}
	if mem != nil {
		f.Memory, err = mem.Snapshot()
		note(err)
	}
	if c.Prompt.Skills {
		dirs, err := e.skillDirs(c, workspace)
		note(err)
		f.Skills, err = prompt.Skills(dirs...)
		note(err)
	}
	if c.Prompt.ContextFiles {
		f.Files, err = prompt.Files(workspace)
		note(err)
	}
	return f, notes, nil
}

// readOptional reads a file that need not be there.
func readOptional(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), err
}

// personality is the text of personalities/NAME.md in RONDO_HOME, or one of
// rondo's own.
func (e *environment) personality(home, name string) (string, error) {
	if name != filepath.Base(name) {
		return "", fmt.Errorf("prompt.personality is %q: it must be a name without a slash", name)
	}
	text, err := readOptional(filepath.Join(home, "personalities", name+".md"))
	if err != nil || text != "" {
		return text, err
	}
	if text, ok := personalities()[name]; ok {
		return text, nil
	}
	var known []string
	for n := range personalities() {
		known = append(known, n)
	}
	slices.Sort(known)
	return "", fmt.Errorf("there is no personality %q: write %s, or use one of %s",
		name, filepath.Join(home, "personalities", name+".md"), strings.Join(known, ", "))
}

// personalities are those that need no file.
func personalities() map[string]string {
	return map[string]string{
		"concise": "Answer in as few words as do the job. No greeting, no summary of what was asked, no offer of further help.",
		"teacher": "Explain as you go: say why each step is taken and name the idea behind it, for somebody who wants to learn. Keep examples small.",
		"plain":   "Use short sentences and everyday words. Explain a technical term when it first comes up.",
	}
}

// openMemory opens what is remembered and how models count, and returns the tool
// that goes with it.
func (s *setup) openMemory(home string) []*tool.Tool {
	s.calibration = newCalibration(home)
	s.memory = s.env.memoryStore(home, s.settings)
	if s.memory == nil {
		return nil
	}
	return []*tool.Tool{s.memory.Tool()}
}

// showContextFiles has the file tools show the context files of directories
// that they go to.
func (s *setup) showContextFiles() {
	nearby := prompt.NewNearby(s.workspace.Dir())
	for i, t := range s.tools {
		if t.Toolset == "files" {
			s.tools[i] = nearby.Wrap(t)
		}
	}
}

// systemPrompt is what the model is told first, and what builds it anew; nil for
// one that the user gave.
type systemPrompt struct {
	text    string
	refresh func() string
}

// buildPrompt makes the system prompt, unless one is given.
func (s *setup) buildPrompt(given string) error {
	if given != "" {
		s.prompt.text = given
		return nil
	}
	f, notes, err := s.env.facts(s.settings, s.workspace.Dir(), s.memory)
	if err != nil {
		return err
	}
	s.notes = append(s.notes, notes...)
	f.Model, f.Tools = s.model.Profile().Model, len(s.tools) > 0
	s.prompt.text = prompt.Build(f)
	s.prompt.refresh = func() string {
		if s.memory != nil {
			if now, err := s.memory.Snapshot(); err == nil {
				f.Memory = now
			}
		}
		return prompt.Build(f)
	}
	return nil
}

// contextOptions say how conversations are kept within the window.
func (s *setup) contextOptions() rondo.ContextOptions {
	c := s.settings.Compression
	o := rondo.ContextOptions{
		Engine: &window.Compressor{ProtectLast: c.ProtectLastN, Alone: s.settings.Context.Engine == "record"},
		Off:    !c.Enabled, Threshold: c.Threshold,
		Ratios: s.calibration, Refresh: s.prompt.refresh, Summariser: s.summariser, Carry: s.carryProcesses,
	}
	i := slices.IndexFunc(s.tools, func(t *tool.Tool) bool { return t.Name == memory.ToolName })
	if i >= 0 && s.settings.Memory.Flush {
		o.Memory = s.tools[i]
	}
	return o
}
