package sandbox_test

import (
	"context"
	"fmt"
	"log"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/guard"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/sandbox"
	"github.com/rondo-engine/rondo/tool/builtin"
)

// A program whose agent has a shell that is confined to one directory, and asks
// before it does what cannot be undone.
func Example() {
	// The first line of main: without it no command is run.
	sandbox.Init()

	if ok, text := sandbox.Support(); !ok {
		log.Print(text)
	}
	const dir = "project"
	workspace, err := builtin.OpenWorkspace(dir, builtin.WorkspaceOptions{})
	if err != nil {
		log.Fatal(err)
	}
	defer workspace.Close()
	policy := sandbox.Workspace(workspace.Dir())
	policy.Network = false

	var m model.Model // from package provider
	agent, err := rondo.New(rondo.Options{
		Model: m,
		Tools: builtin.All(builtin.Options{Workspace: workspace, Run: policy.Run}),
		Approve: rondo.GuardedBy(guard.New(guard.Options{
			Workspace: workspace.Dir(),
			Ask: func(_ context.Context, p guard.Prompt) (guard.Answer, error) {
				fmt.Printf("%s\nRun %s? [y/N] ", p.Reason, p.Command)
				var answer string
				fmt.Scanln(&answer)
				if answer == "y" {
					return p.Answer(guard.Once), nil
				}
				return p.Answer(guard.No), nil
			},
		})),
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(agent.Chat(context.Background(), "Why does the build fail?"))
}
