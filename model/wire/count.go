package wire

import (
	"bytes"
	"strconv"
)

// Count is a count in the JSON of a provider, which may be written as 12, 12.0,
// "12" or null. What is no number counts as 0.
type Count int64

// UnmarshalJSON reads any JSON value.
func (n *Count) UnmarshalJSON(data []byte) error {
	*n = 0
	if f, err := strconv.ParseFloat(string(bytes.Trim(data, `"`)), 64); err == nil {
		*n = Count(f)
	}
	return nil
}
