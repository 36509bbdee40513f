//go:build !unix

package builtin

import "os"

// load reads the file at abs into s.buf and returns its length, 0 if it cannot
// be read or its beginning is binary.
func (s *searcher) load(abs string) (n int, tooLarge bool) {
	info, err := os.Stat(abs)
	if err != nil {
		return 0, false
	}
	if info.Size() > searchBytes {
		return 0, true
	}
	data, err := os.ReadFile(abs)
	if err != nil || sniffBinary(data[:min(len(data), 8000)]) != "" {
		return 0, false
	}
	s.buf = data
	return len(data), false
}
