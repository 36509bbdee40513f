//go:build !linux

package sandbox

const (
	supported = false
	self      = ""
)

// Init does nothing: commands are confined on Linux only.
func Init() { initialised.Store(true) }

// Version returns 0: Landlock is Linux's.
func Version() int { return 0 }
