package store

import "context"

// Stater is a Store that keeps where the run of a session stands, which no
// message says: whoever shares the store can go on with the run.
type Stater interface {
	// SaveState keeps state, in place of what was kept for session id.
	SaveState(ctx context.Context, id string, state []byte) error
	// State returns what was kept last for session id; nil for nothing.
	State(ctx context.Context, id string) ([]byte, error)
}
