// Package replay holds tests only: recorded sessions of other people's clients,
// run again through the agent, its loop and its adapters, with the recorded
// replies for a provider and tools that answer as recorded. What rondo sends is
// held against what was sent then.
package replay
