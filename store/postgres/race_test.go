//go:build race

package postgres_test

// The race detector makes starting processes many times slower.
const raceDetector = true
