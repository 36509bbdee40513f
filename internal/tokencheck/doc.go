// Package tokencheck holds the estimates of package window against a real
// tokenizer. It is a module of its own, so that the tokenizer is no dependency of
// rondo; run its test with go test in this directory.
package tokencheck
