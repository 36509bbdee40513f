// Package prompt builds the system prompt of a session: who the agent is, where
// it works, and on which day.
//
// A prompt is built once for a session and stored with it, so that every
// request begins with the same bytes and the provider's cache holds. Its parts
// stand in the order of how rarely they change, and it names the day but not
// the hour.
package prompt

import (
	_ "embed"
	"fmt"
	"strings"
	"time"
)

//go:embed identity.md
var identity string

// Facts are what the prompt says about the session.
type Facts struct {
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

// Build returns the system prompt. The same facts give the same bytes.
func Build(f Facts) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(identity))
	b.WriteString("\n\n# Environment\n")
	if f.Tools && f.Workspace != "" {
		fmt.Fprintf(&b, "Workspace: %s (relative paths start here)\n", f.Workspace)
	}
	if f.Platform != "" {
		fmt.Fprintf(&b, "Platform: %s\n", f.Platform)
	}
	if f.Model != "" {
		fmt.Fprintf(&b, "Model: %s\n", f.Model)
	}
	if !f.Day.IsZero() {
		fmt.Fprintf(&b, "Conversation began on: %s\n", f.Day.Format(time.DateOnly))
	}
	return b.String()
}
