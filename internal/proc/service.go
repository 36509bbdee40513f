package proc

import "os/exec"

// Isolate makes cmd, which is not started yet, the leader of a session of its
// own: what a person types at the terminal does not reach it, and EndGroup can
// end it with all that it starts. It is for programs that somebody else runs
// and talks to, such as a protocol's client.
func Isolate(cmd *exec.Cmd) { isolate(cmd) }

// EndGroup kills what is left of the group that a command made by Isolate leads.
func EndGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		(&family{leader: cmd.Process.Pid}).kill()
	}
}
