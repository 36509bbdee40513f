package pgtest

import "syscall"

// endWithParent has a process end when the one that started it is killed.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGQUIT }
