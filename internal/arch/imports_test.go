package arch

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const modulePath = "github.com/rondo-engine/rondo"

// layers are the packages from the bottom to the top: a package imports only
// what stands on lines above its own. Tests of a package may look sideways.
var layers = [][]string{
	{"message", "internal/sse", "internal/proc", "internal/approval", "internal/injection", "internal/netguard", "internal/page", "internal/atomicfile", "internal/sqlitefile", "internal/pgtest", "internal/mask", "internal/stack"},
	{"internal/start"},
	{"model", "internal/config", "internal/sandbox"},
	{"tool", "hook", "internal/picture"},
	{"guard", "sandbox"},
	{"model/wire"},
	{"model/chat", "model/responses", "model/anthropic", "model/gemini", "model/resilient", "model/modeltest", "store", "window", "memory", "internal/hookcmd"},
	{"model/provider", "model/modeltest/conformance", "tool/builtin", "tool/mcp", "prompt", "store/sqlite", "store/postgres", "store/snapshot", "store/storetest"},
	{"loop", "tool/web"},
	{"."},
	{"cmd/rondo"},
}

// apart are packages that stand outside of the layers: commands for the
// repository itself, and tests of the tree.
var apart = []string{"internal/arch", "internal/chaos", "internal/crash", "internal/cmd/catalogue-refresh", "internal/replay"}

// only names packages outside of this module (or parts of the standard library)
// and who alone may import them.
var only = map[string][]string{
	"golang.org/x/image":                     {"internal/picture"},
	"golang.org/x/text":                      {"tool/web"},
	"modernc.org/sqlite":                     {"store/sqlite"},
	"github.com/spf13/cobra":                 {"cmd/rondo"},
	"github.com/spf13/pflag":                 {"cmd/rondo"},
	"github.com/goccy/go-yaml":               {"internal/config", "cmd/rondo"},
	"github.com/google/jsonschema-go":        {"tool"},
	"golang.org/x/sys":                       {"internal/sandbox"},
	"flag":                                   {"internal/cmd"},
	"os/exec":                                {"internal/proc", "internal/sandbox", "internal/cmd", "tool/builtin", "tool/mcp", "cmd/rondo", "internal/pgtest"},
	"github.com/creack/pty":                  {"internal/proc"},
	"github.com/jackc/pgx":                   {"store/postgres", "internal/pgtest"},
	"github.com/modelcontextprotocol/go-sdk": {"tool/mcp"},
	"net/http": {
		"model/wire", "model/chat", "model/responses", "model/anthropic", "model/gemini", "model/modeltest", "model/provider", "tool/mcp", "internal/netguard", "tool/web", "cmd/rondo",
	},
}

type listed struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []listed {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", modulePath+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var all []listed
	dec := json.NewDecoder(bytes.NewReader(out))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// short is the package's path within the module, "." for the root, "" for
// packages of other modules.
func short(path string) string {
	if path == modulePath {
		return "."
	}
	s, ok := strings.CutPrefix(path, modulePath+"/")
	if !ok {
		return ""
	}
	return s
}

func layerOf(pkg string) int {
	return slices.IndexFunc(layers, func(l []string) bool { return slices.Contains(l, pkg) })
}

func TestImportsGoDownwardOnly(t *testing.T) {
	for _, p := range packages(t) {
		pkg := short(p.ImportPath)
		if slices.Contains(apart, pkg) {
			continue
		}
		layer := layerOf(pkg)
		if layer < 0 {
			t.Errorf("%s stands in no layer: name it in this test and in ARCHITECTURE.md", pkg)
			continue
		}
		for _, imported := range p.Imports {
			if dep := short(imported); dep != "" && layerOf(dep) >= layer {
				t.Errorf("%s imports %s, which does not stand below it", pkg, dep)
			}
		}
	}
}

func TestForeignPackagesStayWhereTheyBelong(t *testing.T) {
	for _, p := range packages(t) {
		pkg := short(p.ImportPath)
		for _, imported := range p.Imports {
			for foreign, allowed := range only {
				if imported != foreign && !strings.HasPrefix(imported, foreign+"/") {
					continue
				}
				if !slices.ContainsFunc(allowed, func(a string) bool { return pkg == a || strings.HasPrefix(pkg, a+"/") }) {
					t.Errorf("%s imports %s, which only %v may", pkg, imported, allowed)
				}
			}
		}
	}
}

// The loop is pure: it knows messages and the plain types of model, and nothing
// that does something.
func TestTheLoopIsPure(t *testing.T) {
	allowed := []string{"message", "model"}
	std := []string{"context", "crypto/sha256", "encoding/hex", "errors", "fmt", "strings", "time"}
	for _, p := range packages(t) {
		if short(p.ImportPath) != "loop" {
			continue
		}
		for _, imported := range p.Imports {
			if !slices.Contains(allowed, short(imported)) && !slices.Contains(std, imported) {
				t.Errorf("loop imports %s", imported)
			}
		}
	}
}
