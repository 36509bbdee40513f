//go:build !unix

package pgtest

import "os/exec"

type account struct{}

func serverUser() (account, error) { return account{}, errMissing }

func (account) own(string) error { return nil }

func (account) command(name string, args ...string) *exec.Cmd { return exec.Command(name, args...) }
