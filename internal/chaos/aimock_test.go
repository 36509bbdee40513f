package chaos

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/loop"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/provider"
	"github.com/rondo-engine/rondo/model/resilient"
	"github.com/rondo-engine/rondo/model/wire"
	"github.com/rondo-engine/rondo/tool"
)

// aimock is a mock of model servers that others made, and its version.
const aimock = "@copilotkit/aimock@1.43.0"

// prompts are what its fixtures answer to, with how a run ends that meets no
// fault beside those of the fixture; empty for any end.
var prompts = []struct {
	text string
	want loop.Reason
}{
	{"weather in paris", loop.EndTurn},
	{"parallel", loop.EndTurn},
	{"tool first", loop.EndTurn},
	{"loop forever", ""}, // or not, once the model is told of it
	{"flaky", loop.EndTurn},
	{"context overflow", loop.ContextOverflow},
	{"no credit", loop.FatalError},
	{"cut me", loop.CircuitBreaker},
	{"cut tool", loop.CircuitBreaker},
	{"length stop", loop.EndTurn},
	{"slow", loop.EndTurn},
	{"think", loop.EndTurn},
	{"think tag", loop.EndTurn},
	{"anything else", loop.EndTurn},
}

// TestAgainstAimock runs tasks against a server that was written by others, as
// it is and with its faults switched on: every run is done once, and without
// faults it ends as its fixture has it.
func TestAgainstAimock(t *testing.T) {
	if testing.Short() {
		t.Skip("aimock is left out of short tests")
	}
	fixtures := sharedFile(t, "checks", "aimock", "agent.json")
	cli := installAimock(t)
	for name, flags := range map[string][]string{
		"plain":      nil,
		"drop":       {"--chaos-drop", "0.3"},
		"malformed":  {"--chaos-malformed", "0.3"},
		"disconnect": {"--chaos-disconnect", "0.3"},
		"ratelimit":  {"--chaos-ratelimit", "0.3"},
		"all":        {"--chaos-drop", "0.1", "--chaos-malformed", "0.1", "--chaos-disconnect", "0.1", "--chaos-ratelimit", "0.1", "--chaos-latency", "5"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := startAimock(t, cli, append([]string{"-f", fixtures, "-c", "7", "-l", "30"}, flags...))
			for _, mode := range modes {
				t.Run(string(mode), func(t *testing.T) { againstAimock(t, url, mode, name == "plain") })
			}
		})
	}
}

// againstAimock runs all prompts at the same time.
func againstAimock(t *testing.T, url string, mode model.Mode, plain bool) {
	base := url
	if mode != model.AnthropicMessages {
		base += "/v1"
	}
	// Thinking tags are read where the mock can have them, in its chat.
	profile := &model.Profile{
		Provider: "aimock", Model: "mock-model", Mode: mode, BaseURL: base, ContextWindow: 128000, MaxOutput: 4096,
		Quirks: model.Quirks{ThinkTags: true, Headers: map[string]string{"X-Test-Id": t.Name()}},
	}
	client := wire.NewHTTPClient()
	defer client.CloseIdleConnections()
	m, err := provider.Open(profile, wire.Options{HTTP: client, Keys: model.StaticKey("no-key-needed")})
	if err != nil {
		t.Fatal(err)
	}
	impatient := resilient.Env{Sleep: func(ctx context.Context, d time.Duration) error {
		time.Sleep(min(d, 20*time.Millisecond))
		return ctx.Err()
	}}
	agent, err := rondo.New(rondo.Options{Model: resilient.NewRetry(m, resilient.RetryOptions{Env: impatient}), Tools: aimockTools()})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	ends, failures := map[loop.Reason]int{}, 0
	var runs sync.WaitGroup
	for _, p := range prompts {
		runs.Go(func() {
			dones, failed := 0, 0
			count := func(e rondo.Event) {
				switch e.Type {
				case rondo.EventDone:
					dones++
				case rondo.EventError:
					failed++
				}
			}
			res, err := agent.Run(t.Context(), rondo.Request{Text: p.text, Listeners: []rondo.Listener{count}})
			if dones != 1 || res.Reason == "" {
				t.Errorf("%q was %d times done, %s, %v", p.text, dones, res.Reason, err)
			}
			if plain && p.want != "" && res.Reason != p.want {
				t.Errorf("%q ended with %s, want %s: %v", p.text, res.Reason, p.want, err)
			}
			if _, changes := message.Normalise(res.Messages); len(changes) > 0 {
				t.Errorf("%q left a history that is not valid: %v", p.text, changes)
			}
			mu.Lock()
			defer mu.Unlock()
			ends[res.Reason]++
			failures += failed
		})
	}
	runs.Wait()
	t.Logf("%d runs, %d failures on the way: %v", len(prompts), failures, ends)
}

// aimockTools are the tools that its fixtures call.
func aimockTools() []*tool.Tool {
	var all []*tool.Tool
	for _, name := range []string{"get_weather", "read_file", "write_file", "noargs"} {
		all = append(all, &tool.Tool{
			Name: name, Description: "A tool of the fixtures.", ReadOnly: true, Schema: []byte(`{"type":"object"}`),
			Run: func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "fine"}, nil },
		})
	}
	return all
}

// sharedFile finds a file of the folder shared beside the repository, or where
// RONDO_SHARED says, and skips the test where there is none.
func sharedFile(t *testing.T, path ...string) string {
	t.Helper()
	roots := []string{os.Getenv("RONDO_SHARED")}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for up := filepath.Dir(dir); up != dir; dir, up = up, filepath.Dir(up) {
		roots = append(roots, filepath.Join(up, "shared"))
	}
	for _, root := range roots {
		file := filepath.Join(append([]string{root}, path...)...)
		if _, err := os.Stat(file); err == nil && root != "" {
			return file
		}
	}
	t.Skipf("no shared/%s beside the repository; RONDO_SHARED names another place", filepath.Join(path...))
	return ""
}

// installAimock installs the mock into a temporary folder and returns its
// program. Where npm is missing or finds no registry the test is skipped.
func installAimock(t *testing.T) string {
	t.Helper()
	for _, program := range []string{"npm", "node"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is needed to run %s and is not installed", program, aimock)
		}
	}
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--prefix", dir, aimock)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("npm cannot install %s: %v\n%s", aimock, err, out)
	}
	return filepath.Join(dir, "node_modules", "@copilotkit", "aimock", "dist", "cli.js")
}

// startAimock starts the mock on a free port of the loopback interface and
// returns its address.
func startAimock(t *testing.T, cli string, flags []string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_, port, _ := strings.Cut(address, ":")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	cmd := exec.Command("node", slices.Concat([]string{cli, "-p", port}, flags)...)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("aimock said:\n%s", &out)
		}
	})
	for range 200 {
		if c, err := net.Dial("tcp", address); err == nil {
			_ = c.Close()
			return fmt.Sprintf("http://%s", address)
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("aimock does not answer")
	return ""
}
