package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/internal/injection"
)

// MaxFile is how many characters of a context file the prompt has at most.
const MaxFile = 20_000

// File is a file in which a project says how to work on it.
type File struct {
	// Path is relative to the workspace where it lies below it.
	Path string
	Text string
}

// fileNames are the names of context files; of those in one directory the first
// counts.
var fileNames = [...]string{"AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules", ".github/copilot-instructions.md"}

// Files returns the context files of a workspace: that of its own directory and
// those above it up to the root of the repository, the nearest last. Without a
// repository only the workspace's own counts.
func Files(workspace string) ([]File, error) {
	var files []File
	for _, dir := range upToRoot(workspace) {
		f, err := fileIn(workspace, dir)
		if err != nil {
			return nil, err
		}
		if f != nil {
			files = append(files, *f)
		}
	}
	slices.Reverse(files)
	return files, nil
}

// upToRoot lists the directories from dir up to the root of its repository.
func upToRoot(dir string) []string {
	dirs := []string{dir}
	for at := dir; ; {
		if _, err := os.Stat(filepath.Join(at, ".git")); err == nil {
			return dirs
		}
		up := filepath.Dir(at)
		if up == at {
			return []string{dir}
		}
		at = up
		dirs = append(dirs, at)
	}
}

// fileIn returns the context file of dir, or nil.
func fileIn(workspace, dir string) (*File, error) {
	for _, name := range fileNames {
		path := filepath.Join(dir, filepath.FromSlash(name))
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read the context file: %w", err)
		}
		shown := path
		if rel, err := filepath.Rel(workspace, path); err == nil {
			shown = filepath.ToSlash(rel)
		}
		text := strings.TrimSpace(strings.ToValidUTF8(string(data), "\uFFFD"))
		if text == "" {
			continue
		}
		return &File{Path: shown, Text: safe(shown, text)}, nil
	}
	return nil, nil
}

// safe returns the text of a file for the prompt: cut to MaxFile characters, or
// a note that it was left out.
func safe(name, text string) string {
	if what := injection.Find(text); what != "" {
		return fmt.Sprintf("[BLOCKED: %s was left out, since it holds %s]", name, what)
	}
	if utf8.RuneCountInString(text) <= MaxFile {
		return text
	}
	runes := []rune(text)
	head, tail := runes[:MaxFile*7/10], runes[len(runes)-MaxFile*2/10:]
	return fmt.Sprintf("%s\n\n[… %d characters of %s left out: read it for the rest …]\n\n%s",
		string(head), len(runes)-len(head)-len(tail), name, string(tail))
}
