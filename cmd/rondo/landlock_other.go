//go:build !linux

package main

// landlockABI returns 0: Landlock is Linux's.
func landlockABI() int { return 0 }
