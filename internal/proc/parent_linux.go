package proc

import "syscall"

// diesWithParent has a command killed when this program is, however that ends.
func diesWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
