package prompt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rondo-engine/rondo/internal/injection"
)

// Skill is a directory with a file SKILL.md, in the form of agentskills.io: the
// file begins with its name and description, and tells how to do something.
type Skill struct {
	Name, Description string
	// Path is that of its SKILL.md.
	Path string
}

// maxDescription is how many bytes of a description the index has.
const maxDescription = 1024

// Skills returns the skills below the given directories, by name. Of two with
// one name that of the directory named first counts. What is wrong with others
// is in the error, which does not keep the good ones from being returned.
func Skills(dirs ...string) ([]Skill, error) {
	var all []Skill
	var wrong []error
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				return err
			case d.IsDir() && path != dir && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case d.IsDir() || d.Name() != "SKILL.md":
				return nil
			}
			s, err := readSkill(path)
			if err != nil {
				wrong = append(wrong, err)
				return nil
			}
			if !slices.ContainsFunc(all, func(have Skill) bool { return have.Name == s.Name }) {
				all = append(all, s)
			}
			return nil
		})
		if err != nil {
			wrong = append(wrong, fmt.Errorf("look for skills: %w", err))
		}
	}
	slices.SortFunc(all, func(a, b Skill) int { return strings.Compare(a.Name, b.Name) })
	return all, errors.Join(wrong...)
}

func readSkill(path string) (Skill, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return Skill{}, fmt.Errorf("read a skill: %w", err)
	}
	head, ok := frontMatter(string(data))
	s := Skill{Name: head["name"], Description: head["description"], Path: path}
	switch {
	case !ok || s.Name == "" || s.Description == "":
		return s, fmt.Errorf("%s does not begin with --- and a name and description: it is no skill", path)
	case strings.ContainsAny(s.Name, " \t/\\"):
		return s, fmt.Errorf("%s: the name %q must be one word", path, s.Name)
	}
	if what := injection.Find(s.Description); what != "" {
		return s, fmt.Errorf("%s is left out: its description holds %s", path, what)
	}
	return s, nil
}

// frontMatter reads the keys at the start of a Markdown file that have text for
// a value: on the line, in quotes, or indented on those that follow.
func frontMatter(text string) (map[string]string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\uFEFF"), "---\n")
	if !ok {
		return nil, false
	}
	head, _, ok := strings.Cut("\n"+rest, "\n---")
	if !ok {
		return nil, false
	}
	values := map[string]string{}
	key := ""
	for _, line := range strings.Split(head, "\n") {
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case line[0] == ' ' || line[0] == '\t':
			if key != "" {
				values[key] = strings.TrimSpace(values[key] + " " + trimmed)
			}
		default:
			k, v, _ := strings.Cut(line, ":")
			key = strings.TrimSpace(k)
			if v = strings.TrimSpace(v); strings.Trim(v, "|>-+") == "" {
				v = ""
			}
			values[key] = unquote(v)
		}
	}
	return values, true
}

func unquote(v string) string {
	if len(v) >= 2 && (v[0] == '"' || v[0] == '\'') && v[len(v)-1] == v[0] {
		return v[1 : len(v)-1]
	}
	return v
}

// skillsText is the index of skills.
func skillsText(skills []Skill) string {
	if len(skills) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("# Skills\nWhen a task fits one of these, first read its file with read_file and follow it. Read none that does not fit.\n")
	for _, s := range skills {
		description := s.Description
		if len(description) > maxDescription {
			description = strings.ToValidUTF8(description[:maxDescription], "") + "…"
		}
		fmt.Fprintf(&b, "- %s: %s (%s)\n", s.Name, description, s.Path)
	}
	return b.String()
}
