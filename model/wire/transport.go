package wire

import "net/http"

// NewHTTPClient makes a client for many conversations at once.
func NewHTTPClient() *http.Client { return &http.Client{} }
