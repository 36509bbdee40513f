package sandbox

import (
	"errors"
	"sync/atomic"
)

// initialised says that Init was called in this process. Without it, the helper
// would be the whole program once more.
var initialised atomic.Bool

// ErrNotInitialised says that a command cannot be confined because the program
// did not call Init.
var ErrNotInitialised = errors.New("sandbox.Init was not called at the beginning of main")
