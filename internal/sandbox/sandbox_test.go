package sandbox

import (
	"slices"
	"strings"
	"testing"
)

func TestConfinedTellsWhatTheKernelLacks(t *testing.T) {
	if !supported {
		if ok, text := Confined(7); ok || !strings.Contains(text, "Linux only") {
			t.Errorf("got %v, %q", ok, text)
		}
		return
	}
	for version, want := range map[int]string{
		0: "the kernel does not offer Landlock, so the shell is not confined",
		2: "the kernel offers Landlock (version 2); files that may not be changed can still be emptied before version 3",
		7: "the kernel offers Landlock (version 7)",
	} {
		if ok, text := Confined(version); text != want || ok != (version > 0) {
			t.Errorf("version %d: %v, %q", version, ok, text)
		}
	}
}

func TestSecretsAndCachesAreBelowTheHome(t *testing.T) {
	if got := Secrets("/home/ada"); !slices.Contains(got, "/home/ada/.ssh") || !slices.Contains(got, "/home/ada/.config/gcloud") {
		t.Errorf("secrets %q", got)
	}
	getenv := func(name string) string { return map[string]string{"GOCACHE": "/c/go", "CCACHE_DIR": "relative"}[name] }
	if got := Caches("/home/ada", getenv); !slices.Contains(got, "/home/ada/.cache") || !slices.Contains(got, "/c/go") || slices.Contains(got, "relative") {
		t.Errorf("caches %q", got)
	}
	if len(Secrets("")) > 0 {
		t.Error("no home has secrets")
	}
}
