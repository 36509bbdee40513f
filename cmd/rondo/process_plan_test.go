//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// planScript looks, says the beginning of a plan and falls silent; then it tries
// to begin with the work, and plans.
const planScript = `
reply
  call list_dir {"path":"."}
reply
  words I think that we
  stall
reply
  call write_file {"path":"done.txt","content":"too early\n"}
  call delegate_task {"goal":"write done.txt"}
reply
  call write_file {"path":"done.txt","content":"a child was too early\n"}
reply
  text I only looked.
reply
  text 1. Write it.
reply
  call write_file {"path":"done.txt","content":"ok\n"}
reply
  text Done.
`

// A process that is killed while it plans is taken up in plan mode by another,
// which is told nothing of it.
func TestAKilledPlanIsStillAPlan(t *testing.T) {
	t.Parallel()
	for _, mode := range apiModes {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			s := newStation(t, mode, planScript)
			if e, _ := s.interrupt(`"text":"think`, []syscall.Signal{syscall.SIGKILL}, "run", "--plan", "--json", "write it"); e.status != -1 {
				t.Fatalf("ended with %d: %s", e.status, e.stderr)
			}
			done := filepath.Join(s.work, "done.txt")
			e := s.run("run", "--resume", "last", "--json")
			if e.status != 0 || !strings.Contains(e.stdout, `"state":"presented","text":"1. Write it."`) || !strings.Contains(e.stdout, `"planning":true`) {
				t.Fatalf("ended with %d: %s%s", e.status, e.stdout, e.stderr)
			}
			if n := strings.Count(e.stdout, `"status":"denied"`); n != 2 {
				t.Errorf("%d calls were held, want that of the run and that of its child: %s", n, e.stdout)
			}
			if _, err := os.Stat(done); err == nil {
				t.Fatal("the plan was carried out before it was approved")
			}
			if e := s.run("run", "--resume", "last", "--execute"); e.status != 0 || e.stdout != "Done.\n" {
				t.Fatalf("ended with %d: %s%s", e.status, e.stdout, e.stderr)
			}
			if text, err := os.ReadFile(done); err != nil || string(text) != "ok\n" {
				t.Errorf("the file holds %q, %v", text, err)
			}
		})
	}
}
