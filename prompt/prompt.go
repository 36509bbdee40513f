// Package prompt builds the system prompt of a session: who the agent is, what
// it remembers, which skills it has, what the project says of itself, where it
// works, and on which day.
//
// A prompt is built once for a session and stored with it, so that every
// request begins with the same bytes and the provider's cache holds. Its parts
// stand in the order of how rarely they change, and it names the day but not
// the hour.
//
// Files of a project come from whoever wrote the project. They are cut to a
// bound and left out if they try to give orders that no project should give; see
// package injection.
package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

//go:embed identity.md
var identity string

//go:embed work.md
var work string

// Facts are what the prompt says about the session.
type Facts struct {
	// Soul is who the agent is, in place of rondo's own words, and
	// Personality how it speaks; both may be empty.
	Soul, Personality string
	// Memory is what is remembered, as memory.Store.Snapshot returns it.
	Memory string
	// Skills are what the agent can read up on.
	Skills []Skill
	// Files are what the project says of itself.
	Files []File
	// Workspace is the directory that the tools work in.
	Workspace string
	// Platform is the operating system and architecture, such as linux/amd64.
	Platform string
	// Model is the model's name, as the user chose it.
	Model string
	// Day is the day on which the session began.
	Day time.Time
	// Tools says that there are tools at all.
	Tools bool
}

// Part is a piece of the prompt.
type Part struct {
	// Name says what it is, for people.
	Name string
	Text string
}

// Parts returns the parts of the prompt, those that change most rarely first.
func Parts(f Facts) []Part {
	who := f.Soul
	if strings.TrimSpace(who) == "" {
		who = identity
	}
	all := []Part{{"identity", who}, {"way of working", work}}
	add := func(name, title, text string) {
		if text = strings.TrimSpace(text); text != "" {
			all = append(all, Part{name, title + text})
		}
	}
	add("personality", "# How you speak\n", f.Personality)
	add("skills", "", skillsText(f.Skills))
	for _, file := range f.Files {
		add(file.Path, "# What the project says of itself, in "+file.Path+"\n", file.Text)
	}
	add("memory", "# Memory\n", f.Memory)
	add("environment", environmentTitle, environment(f))
	for i := range all {
		all[i].Text = strings.TrimSpace(all[i].Text)
	}
	return all
}

// Build returns the system prompt. The same facts give the same bytes.
func Build(f Facts) string {
	var b strings.Builder
	for i, p := range Parts(f) {
		if i > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(p.Text)
	}
	b.WriteByte('\n')
	return b.String()
}

// ForModel returns a system prompt that Build made with another model's name in
// it; as it is, if it names none.
func ForModel(system, model string) string {
	head, rest, found := cutLast(system, environmentTitle)
	if !found {
		return system
	}
	lines := strings.Split(rest, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, modelLine) {
			lines[i] = modelLine + model
		}
	}
	return head + environmentTitle + strings.Join(lines, "\n")
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// environmentTitle stands over the last part, modelLine begins the line in it
// that names the model.
const (
	environmentTitle = "# Environment\n"
	modelLine        = "Model: "
)

func environment(f Facts) string {
	var b strings.Builder
	if f.Tools && f.Workspace != "" {
		fmt.Fprintf(&b, "Workspace: %s (relative paths start here)\n", f.Workspace)
	}
	if f.Platform != "" {
		fmt.Fprintf(&b, "Platform: %s\n", f.Platform)
	}
	if f.Model != "" {
		fmt.Fprintf(&b, "%s%s\n", modelLine, f.Model)
	}
	if !f.Day.IsZero() {
		fmt.Fprintf(&b, "Conversation began on: %s\n", f.Day.Format(time.DateOnly))
	}
	return b.String()
}
