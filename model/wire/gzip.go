package wire

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
)

func gunzip(src io.Reader, size int) (*bufio.Reader, error) {
	zr, err := gzip.NewReader(src)
	if err != nil {
		return nil, fmt.Errorf("expand the reply: %w", err)
	}
	return bufio.NewReaderSize(zr, size), nil
}
