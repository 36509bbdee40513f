package approval

import (
	"encoding/base64"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
	"pgregory.net/rapid"
)

// wrapped puts a command into a form that runs it. %s is the command as it is,
// %q quoted as one word, %b in base64.
var wrapped = []string{
	"sh -c %q", "bash -c %q", "bash -xec %q", "eval %q", "(\n%s\n)", "{\n%s\n}", "true && {\n%s\n}", "false || {\n%s\n}", "echo $(\n%s\n)",
	"sudo sh -c %q", "sudo -u root -- bash -c %q", "env A=1 sh -c %q", "env -i bash -c %q", "nohup sh -c %q &", "timeout -k 1 5 sh -c %q",
	"nice -n 5 bash -c %q", "time bash -c %q", "setsid -f sh -c %q", "stdbuf -oL sh -c %q", "command sh -c %q", "exec bash -c %q",
	"echo x | xargs -I{} sh -c %q", "find . -name x -exec sh -c %q \\;", "printf %%s %q | sh", "sh <<< %q", "echo %b | base64 -d | bash",
	"bash <(printf %%s %q)", "if true; then\n%s\nfi", "for i in 1 2; do\n%s\ndone", "while :; do\n%s\ndone", "f() {\n%s\n}; f",
	"x=%q; eval \"$x\"", "x=%q; bash -c \"$x\"", "some-wrapper --flag sh -c %q", "xargs -0 bash -c %q < names", "trap %q EXIT", "su -c %q",
	"watch -n1 %q", "echo a | while read -r l; do\n%s\ndone", "case x in *)\n%s\n;; esac", "! {\n%s\n}", "coproc {\n%s\n}", "cat <(\n%s\n)",
	"printf %%s %q > s.sh; bash ./s.sh", "busybox sh -c %q", "git -c alias.x=!%q x && sh -c %q", "flock lock sh -c %q",
}

func putInto(form, command string) (string, error) {
	q, err := syntax.Quote(command, syntax.LangBash)
	b := base64.StdEncoding.EncodeToString([]byte(command))
	return strings.NewReplacer("%%", "%", "%s", command, "%q", q, "%b", b).Replace(form), err
}

// replaces reports whether a form changes the command: find and xargs put names
// in the place of {}.
func replaces(form, command string) bool {
	return strings.Contains(command, "{}") && (strings.Contains(form, "{}") || strings.HasPrefix(form, "find "))
}

// A command that is denied stays so in whatever it is wrapped.
func TestWrappedCommandsStayDenied(t *testing.T) {
	c := newChecker(Rules{Allow: []string{"*"}})
	var denied []string
	for _, l := range commands(t) {
		if l.level == Deny {
			denied = append(denied, l.command)
		}
	}
	for i := 0; i < len(denied); i += 4 {
		for _, form := range wrapped {
			command := denied[i]
			if replaces(form, command) {
				continue
			}
			text, err := putInto(form, command)
			if err != nil {
				t.Fatal(err)
			}
			if v := c.Check(text, ""); v.Level != Deny {
				t.Errorf("%v (%s): %s", v.Level, v.Reason, text)
			}
		}
	}
	if t.Failed() {
		return
	}
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SampledFrom(denied).Draw(t, "command")
		for _, form := range rapid.SliceOfN(rapid.SampledFrom(wrapped), 1, 4).Draw(t, "wrappers") {
			if replaces(form, text) {
				continue
			}
			var err error
			if text, err = putInto(form, text); err != nil {
				t.Fatal(err)
			}
		}
		if v := c.Check(text, ""); v.Level != Deny {
			t.Fatalf("%v (%s): %s", v.Level, v.Reason, text)
		}
	})
}

// FuzzCheck looks for texts that break the judge, and for rules that open the
// floor.
func FuzzCheck(f *testing.F) {
	for _, l := range commands(f) {
		f.Add(l.command)
	}
	plain, open := newChecker(Rules{}), newChecker(Rules{Allow: []string{"*"}})
	f.Fuzz(func(t *testing.T, command string) {
		v := plain.Check(command, "")
		if w := open.Check(command, ""); (v.Level == Deny) != (w.Level == Deny) {
			t.Errorf("a rule turned %v into %v: %q", v, w, command)
		}
		if (v.Level == Ask) != (len(v.Asks) > 0 && v.Level != Deny) || v.Level != Allow && v.Reason == "" {
			t.Errorf("%+v", v)
		}
	})
}
