package main

import (
	"testing"

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
	settings := config.Default()
	total := 0
	for _, tool := range append(builtin.All(builtin.Options{Workspace: ws, Processes: builtin.NewProcesses(builtin.ProcessesOptions{})}), agentTools(&settings, nil)...) {
		total += toolTokens(tool)
	}
	t.Logf("%d tokens", total)
	if total >= maxSetTokens {
		t.Errorf("the tools take about %d tokens of each request, %d are allowed", total, maxSetTokens)
	}
}
