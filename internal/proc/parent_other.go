//go:build unix && !linux

package proc

import "syscall"

// diesWithParent does nothing: only Linux can.
func diesWithParent(*syscall.SysProcAttr) {}
