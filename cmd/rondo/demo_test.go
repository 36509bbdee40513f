package main

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"
	"time"
)

func TestDemoMendsTheProgram(t *testing.T) {
	t.Parallel()
	c := exec.Command("rondo", "demo")
	c.Dir = t.TempDir()
	c.Env = []string{"PATH=/usr/local/bin:/usr/bin:/bin:" + pathOf(t, "rondo"), "HOME=" + c.Dir, "TMPDIR=" + c.Dir}
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"The model is scripted", "shell", "The test passes.", "export ANTHROPIC_API_KEY"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%q is not in:\n%s", want, out)
		}
	}
}

// pathOf is the directory of a program.
func pathOf(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(path, "/"+name)
}

func TestDemoThatDoesNotMendTheProgramFails(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{
		"the model gives up":    "reply\n  text I cannot find it.\n",
		"the model only claims": "reply\n  call read_file {\"path\":\"leap.sh\"}\nreply\n  text Mended.\n",
	} {
		var out bytes.Buffer
		env := &environment{Getenv: func(string) string { return "" }, Dir: t.TempDir(), Now: time.Now, Stdout: &out, Stderr: &out}
		err := runDemo(t.Context(), env, script)
		if se, ok := errors.AsType[*statusError](err); !ok || se.status == 0 || !strings.Contains(out.String(), "The test still fails") {
			t.Errorf("%s: %v, output:\n%s", name, err, out.String())
		}
	}
}
