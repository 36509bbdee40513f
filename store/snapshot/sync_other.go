//go:build !unix

package snapshot

// syncDir does nothing: these systems have no way to sync a directory.
func syncDir(string) error { return nil }
