package builtin

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// region is a part of a text that an edit replaces.
type region struct{ start, end int }

// apply returns content with the edit applied, and a line on what was done. The
// text is looked for as it stands first, whatever the line ends; then without
// regard to typographic variants and trailing white space; then without regard
// to the indentation of whole lines. What matches at one of these levels must
// match once, unless ReplaceAll is set.
func (e replacement) apply(content string) (changed, note string, err error) {
	e = e.withoutLineNumbers(content)
	for _, level := range []struct {
		find func(content, old string) []region
		how  string
	}{
		{findExact, ""},
		{findFolded, " (matched but for trailing white space or typographic characters)"},
		{findLines, " (matched but for indentation)"},
	} {
		found := level.find(content, e.OldString)
		if len(found) == 0 {
			continue
		}
		if len(found) > 1 && !e.ReplaceAll {
			return "", "", fmt.Errorf("old_string occurs %d times, in %s: add lines around it, or set replace_all",
				len(found), lineNumbers(content, found))
		}
		indent := level.how == " (matched but for indentation)"
		return e.replace(content, found, indent), e.report(content, found) + level.how, nil
	}
	return "", "", e.notFound(content)
}

func (e replacement) report(content string, found []region) string {
	if len(found) == 1 {
		return fmt.Sprintf("replaced 1 occurrence in line %d", lineAt(content, found[0].start))
	}
	return fmt.Sprintf("replaced %d occurrences", len(found))
}

// replace puts the new text in the place of each region, with the line ends of
// the lines that it replaces.
func (e replacement) replace(content string, found []region, indent bool) string {
	var b strings.Builder
	end := 0
	for _, r := range found {
		b.WriteString(content[end:r.start])
		text := strings.ReplaceAll(e.NewString, "\r\n", "\n")
		if indent {
			text = reindent(text, e.OldString, content[r.start:r.end])
		}
		if usesCRLF(content, r) {
			text = strings.ReplaceAll(text, "\n", "\r\n")
		}
		b.WriteString(text)
		end = r.end
	}
	b.WriteString(content[end:])
	return b.String()
}

// usesCRLF reports whether the lines of a region end in CR LF: those inside of
// it or, if it has none, the line that it stands in, or the one before it.
func usesCRLF(content string, r region) bool {
	if inside := content[r.start:r.end]; strings.Contains(inside, "\n") {
		return 2*strings.Count(inside, "\r\n") >= strings.Count(inside, "\n")
	}
	if i := strings.IndexByte(content[r.end:], '\n'); i >= 0 {
		i += r.end
		return i > 0 && content[i-1] == '\r'
	}
	i := strings.LastIndexByte(content[:r.start], '\n')
	return i > 0 && content[i-1] == '\r'
}

// reindent moves text, which was written with the indentation of old, to that
// of the lines that old matched.
func reindent(text, old, matched string) string {
	from, to := indentation(old), indentation(matched)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if rest, ok := strings.CutPrefix(line, from); ok && strings.TrimSpace(line) != "" {
			lines[i] = to + rest
		}
	}
	return strings.Join(lines, "\n")
}

// indentation returns the white space at the start of the first line of text
// that is not blank.
func indentation(text string) string {
	for line := range strings.Lines(text) {
		if rest := strings.TrimLeft(line, " \t"); strings.TrimSpace(rest) != "" {
			return line[:len(line)-len(rest)]
		}
	}
	return ""
}

// withoutLineNumbers takes off the numbers that read_file puts before lines,
// if all lines of the old text have them and the file does not.
func (e replacement) withoutLineNumbers(content string) replacement {
	old, ok := cutNumbers(e.OldString)
	if !ok || strings.Contains(content, e.OldString) {
		return e
	}
	e.OldString = old
	if text, ok := cutNumbers(e.NewString); ok {
		e.NewString = text
	}
	return e
}

func cutNumbers(text string) (string, bool) {
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if line == "" && i > 0 {
			continue
		}
		number, rest, ok := strings.Cut(line, "\t")
		if _, err := strconv.Atoi(strings.TrimSpace(number)); !ok || err != nil {
			return "", false
		}
		lines[i] = rest
	}
	return strings.Join(lines, ""), true
}

// notFound says where the file has something like the old text.
func (e replacement) notFound(content string) error {
	if text := strings.TrimSpace(e.NewString); text != "" && strings.Contains(content, e.NewString) {
		return errors.New("old_string was not found, but new_string is there: the change seems to be made already")
	}
	want := firstLine(e.OldString)
	type near struct{ number, score int }
	var best []near
	lines := strings.Split(content, "\n")
	for i, line := range lines[:min(len(lines), 50_000)] {
		if s := likeness(want, strings.TrimSpace(line)); s >= 60 {
			best = append(best, near{i + 1, s})
		}
	}
	if len(best) == 0 {
		return errors.New("old_string was not found: read the file again and copy the text from it")
	}
	slices.SortStableFunc(best, func(a, b near) int { return b.score - a.score })
	var b strings.Builder
	for _, n := range best[:min(len(best), 3)] {
		fmt.Fprintf(&b, "\n%d\t%.200s", n.number, strings.TrimRight(lines[n.number-1], "\r"))
	}
	return fmt.Errorf("old_string was not found. The lines most like its first one are:%s", b.String())
}

func firstLine(text string) string {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
	return ""
}

// lineNumbers lists the lines that regions begin in.
func lineNumbers(content string, found []region) string {
	var numbers []string
	for _, r := range found[:min(len(found), 10)] {
		numbers = append(numbers, strconv.Itoa(lineAt(content, r.start)))
	}
	if len(found) > 10 {
		numbers = append(numbers, "…")
	}
	return "lines " + strings.Join(numbers, ", ")
}

func lineAt(content string, offset int) int { return 1 + strings.Count(content[:offset], "\n") }
