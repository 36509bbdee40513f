package main

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// TestIndependentServerFindsNoFault runs tasks against the model server of the
// benchmark, which was not written with this program and checks each history.
func TestIndependentServerFindsNoFault(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a server; left out by -short")
	}
	url := startMock(t)
	for _, mode := range apiModes {
		for _, task := range []string{"rounds-30", "parallel-8-rounds-10", "think-5-say-5-rounds-10"} {
			s := &station{t: t, mode: mode, home: t.TempDir(), work: t.TempDir()}
			get(t, url+"/reset", nil)
			base := url + "/v1"
			if mode == model.AnthropicMessages {
				base = url
			}
			e := s.run("run", "--json", "--base-url", base, "--api-mode", string(mode), "--model", task, "please work")
			done := e.done(t)
			var stats struct {
				Requests int            `json:"requests"`
				Faults   map[string]int `json:"faults"`
			}
			get(t, url+"/stats", &stats)
			if e.status != 0 || done.Reason != "end_turn" || done.FinalResponse == "" {
				t.Errorf("%s, %s: status %d, %+v, stderr %s", mode, task, e.status, done, e.stderr)
			}
			if len(stats.Faults) > 0 || stats.Requests != done.Rounds || done.Rounds < 10 {
				t.Errorf("%s, %s: the server had %d requests in %d rounds and reports %v", mode, task, stats.Requests, done.Rounds, stats.Faults)
			}
		}
	}
}

// startMock builds and starts the server of shared/bench and returns its address.
func startMock(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(sharedDir(t), "bench")
	if _, err := os.Stat(filepath.Join(dir, "mockllm")); err != nil {
		t.Skip("no shared/bench/mockllm beside the repository or at RONDO_SHARED")
	}
	own := filepath.Join(t.TempDir(), "bench")
	if err := os.CopyFS(own, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	bin, addr := filepath.Join(own, "mock.bin"), filepath.Join(own, "addr")
	build := exec.Command("go", "build", "-o", bin, "./mockllm")
	build.Dir = own
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build mockllm: %v\n%s", err, out)
	}
	mock := exec.Command(bin, "-check", "-addr", "127.0.0.1:0", "-addr-file", addr)
	if err := mock.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = mock.Process.Kill() // that it has ended already is told by Wait
		_ = mock.Wait()         // it was killed
	})
	for range 500 {
		if b, err := os.ReadFile(addr); err == nil && len(b) > 0 {
			return "http://" + string(b)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("mockllm did not say where it listens")
	return ""
}

func get(t *testing.T, url string, into any) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if into == nil {
		return
	}
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
}
