package approval

import (
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
)

const workspace = "/home/ada/src/app"

func newChecker(rules Rules) *Checker {
	return New(Options{
		Workspace: workspace, Home: "/home/ada", Secrets: []string{"/home/ada/.ssh", "/home/ada/.aws", "/home/ada/.netrc"}, Rules: rules,
		Getenv: func(name string) (string, bool) {
			v, ok := map[string]string{"HOME": "/home/ada", "PATH": "/usr/bin:/bin"}[name]
			return v, ok
		},
	})
}

// listed is a line of a list in testdata.
type listed struct {
	level   Level
	command string
	place   string
}

// commands are those of both lists.
func commands(t testing.TB) []listed {
	t.Helper()
	return append(readList(t, "commands.txt"), readList(t, "ideas.txt")...)
}

func readList(t testing.TB, name string) []listed {
	t.Helper()
	b, err := os.ReadFile(path.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	levels := map[string]Level{"allow": Allow, "ask": Ask, "deny": Deny}
	var all []listed
	for i, line := range strings.Split(string(b), "\n") {
		word, command, ok := strings.Cut(line, " ")
		level, known := levels[word]
		switch {
		case line == "" || word == "#" || strings.HasPrefix(line, "#"):
		case !ok || !known:
			t.Fatalf("%s:%d: %q", name, i+1, line)
		default:
			all = append(all, listed{level, strings.ReplaceAll(command, `\n`, "\n"), fmt.Sprintf("%s:%d", name, i+1)})
		}
	}
	return all
}

func TestListedCommandsGetTheirVerdicts(t *testing.T) {
	c := newChecker(Rules{})
	count := map[Level]int{}
	for _, l := range commands(t) {
		count[l.level]++
		if v := c.Check(l.command, ""); v.Level != l.level || v.Level != Allow && v.Reason == "" {
			t.Errorf("%s: want %v, got %v (%s): %s", l.place, l.level, v.Level, v.Reason, l.command)
		}
	}
	if count[Allow] < 200 || count[Ask] < 150 || count[Deny] < 180 {
		t.Errorf("the list has %v commands", count)
	}
	t.Logf("%d allowed, %d asked for, %d denied", count[Allow], count[Ask], count[Deny])
}
