//go:build race

package sqlite_test

// The race detector makes the transpiled SQLite many times slower.
const raceDetector = true
