//go:build !linux

package start

// mapCode does nothing: other systems have no such call, or none that pays.
func mapCode() {}
