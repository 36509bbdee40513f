package main

import (
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/tool/builtin"
)

// maxSetTokens is what the default set may take of each request.
const maxSetTokens = 6000

func TestTheDefaultSetIsSmall(t *testing.T) {
	ws, err := builtin.OpenWorkspace(t.TempDir(), builtin.WorkspaceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer ws.Close()
	env := &environment{Getenv: func(name string) string { return map[string]string{"RONDO_HOME": ws.Dir()}[name] }, Now: time.Now}
	all, err := env.allTools(ws, &config.Loaded{Config: config.Default()})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, tool := range all {
		total += toolTokens(tool)
	}
	t.Logf("%d tokens", total)
	if total >= maxSetTokens {
		t.Errorf("the tools take about %d tokens of each request, %d are allowed", total, maxSetTokens)
	}
}
