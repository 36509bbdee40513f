package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func newVersionCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Show the version",
		Long:    "Show the version of rondo, what it was built from and for.",
		Example: "  rondo version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(env.Stdout, versionLine())
			return err
		},
	}
}

// versionLine describes the build: version (with the commit where it is none
// that was released), Go and platform.
func versionLine() string {
	return fmt.Sprintf("rondo %s %s %s/%s", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version is that of the build.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
