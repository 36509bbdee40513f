//go:build !linux

package start

// mapText does nothing: other systems have no such call, or none that pays.
func mapText() {}
