// Package arch holds what must stay true of the whole tree: which package may
// import which, and that everything exported says what it is. It has tests only.
package arch
