package store

// Full is a Store with all that rondo can make use of: what a command line
// keeps its sessions in.
type Full interface {
	Store
	Searcher
	Locker
	Journal
	Mender
	Continuer
	Noter
}

var _ Full = (*Memory)(nil)
