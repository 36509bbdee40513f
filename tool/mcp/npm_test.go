package mcp_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
	"github.com/rondo-engine/rondo/tool/mcp"
)

// npmPackages are real servers.
var npmPackages = []string{
	"@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31", "@modelcontextprotocol/server-memory@2026.8.31",
}

// npmServers installs the servers once, into the user's cache or the directory
// RONDO_TEST_NPM, and returns the directory of their programs.
func npmServers(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("installs servers from npm: not with -short")
	}
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is missing: install Node.js to test with real servers")
	}
	dir := os.Getenv("RONDO_TEST_NPM")
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Skipf("no place to install servers to: %v", err)
		}
		dir = filepath.Join(cache, "rondo-test-npm")
	}
	bin := filepath.Join(dir, "node_modules", ".bin")
	if _, err := os.Stat(filepath.Join(bin, "mcp-server-memory")); err == nil {
		return bin
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, npm, append([]string{"install", "--no-audit", "--no-fund", "--prefix", dir}, npmPackages...)...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install the servers: %v\n%s", err, out)
	}
	return bin
}

// started gives real programs more time than tests need with their own.
var started = mcp.Options{Wait: time.Minute, Environ: os.Environ()}

func TestServersFromNPM(t *testing.T) {
	bin, files := npmServers(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(files, "a.txt"), []byte("forty-two"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := open(t, map[string]mcp.Server{
		"everything": {Command: filepath.Join(bin, "mcp-server-everything")},
		"files":      {Command: filepath.Join(bin, "mcp-server-filesystem"), Args: []string{files}},
		"memory": {
			Command: filepath.Join(bin, "mcp-server-memory"), Env: []string{"MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), "m.json")},
		},
	}, started)
	if w := s.Warnings(); len(w) > 0 {
		t.Errorf("warnings: %q", w)
	}
	for _, tt := range []struct{ tool, args, want string }{
		{"mcp__everything__echo", `{"message":"hello"}`, "hello"},
		{"mcp__everything__get-sum", `{"a":2,"b":40}`, "42"},
		{"mcp__files__read_text_file", fmt.Sprintf(`{"path":%q}`, filepath.Join(files, "a.txt")), "forty-two"},
		{"mcp__memory__create_entities", `{"entities":[{"name":"rondo","entityType":"engine","observations":["loops"]}]}`, "rondo"},
		{"mcp__memory__search_nodes", `{"query":"loops"}`, "rondo"},
		{"mcp_read", `{"server":"everything"}`, "prompt "},
	} {
		res, err := call(t, s, tt.tool, tt.args)
		if err != nil || !strings.Contains(res.Text, tt.want) {
			t.Errorf("%s %s: %.300q, %v; want %q", tt.tool, tt.args, res.Text, err, tt.want)
		}
	}
	res, err := call(t, s, "mcp__everything__get-tiny-image", `{}`)
	if err != nil || len(res.Media) != 1 {
		t.Errorf("the image: %d parts, %v", len(res.Media), err)
	}
}

func TestServerFromNPMOverHTTP(t *testing.T) {
	bin := npmServers(t)
	port := freePort(t)
	cmd := exec.Command(filepath.Join(bin, "mcp-server-everything"), "streamableHttp")
	cmd.Env = append(os.Environ(), fmt.Sprintf("PORT=%d", port))
	proc.Isolate(cmd)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		proc.EndGroup(cmd)
		_ = cmd.Wait() // it was killed
	})
	listening := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(stderr)
		for lines.Scan() {
			if strings.Contains(lines.Text(), fmt.Sprint(port)) {
				listening <- true
			}
		}
	}()
	select {
	case <-listening:
	case <-time.After(30 * time.Second):
		t.Fatal("the server does not listen")
	}
	s := open(t, map[string]mcp.Server{"web": {URL: fmt.Sprintf("http://127.0.0.1:%d/mcp", port), Headers: map[string]string{"X-Test": "1"}}}, started)
	res, err := call(t, s, "mcp__web__echo", `{"message":"over HTTP"}`)
	if err != nil || !strings.Contains(res.Text, "over HTTP") {
		t.Errorf("%q, %v, warnings %q", res.Text, err, s.Warnings())
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}
