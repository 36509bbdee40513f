package main

import (
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/internal/config"
	"github.com/rondo-engine/rondo/tool/builtin"
	"github.com/rondo-engine/rondo/tool/web"
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
	all := builtin.All(builtin.Options{Workspace: ws, Processes: builtin.NewProcesses(builtin.ProcessesOptions{})})
	all = append(append(all, agentTools(&settings, nil)...), web.Tools(web.Options{Look: rondo.Aside{}.Ask})...)
	total := 0
	for _, tool := range all {
		total += toolTokens(tool)
	}
	t.Logf("%d tokens", total)
	if total >= maxSetTokens {
		t.Errorf("the tools take about %d tokens of each request, %d are allowed", total, maxSetTokens)
	}
}
