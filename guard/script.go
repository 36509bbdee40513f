package guard

import (
	"fmt"
	"io"
	"os"
)

// maxScript bounds the scripts that are looked into, in bytes.
const maxScript = 256 << 10

// readScript reads the beginning of a file, one byte more than is looked into.
func readScript(name string) ([]byte, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxScript+1))
}
