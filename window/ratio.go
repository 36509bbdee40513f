package window

// L13 of the contract: how the number of weighted characters per token is
// learned.
const (
	// averaged is how many observations are averaged before the moving average.
	averaged = 3
	// alpha is the weight of the newest observation in the moving average.
	alpha = 0.15
	// minRatio and maxRatio bound what is believed, both excluded.
	minRatio = 0.5
	maxRatio = 8.0
)

// Ratio is what is known of how a model counts. The zero value knows nothing.
type Ratio struct {
	// CharsPerToken is how many weighted characters make a token; 0 when
	// nothing was observed.
	CharsPerToken float64 `json:"chars_per_token,omitzero"`
	// Seen counts the observations that it is made of.
	Seen int `json:"seen,omitzero"`
	// Window is the size of the context window in tokens, if an error of the
	// provider told one that is smaller than what was known; else 0.
	Window int `json:"window,omitzero"`
}

// Value returns the weighted characters per token to reckon with.
func (r Ratio) Value() float64 {
	if r.Seen == 0 || r.CharsPerToken <= minRatio || r.CharsPerToken >= maxRatio {
		return DefaultCharsPerToken
	}
	return r.CharsPerToken
}

// Observe returns what is known after a prompt of the given weight was counted
// by its provider. An observation that cannot be true changes nothing.
func (r Ratio) Observe(w Weight, tokens int) Ratio {
	text := tokens - w.Media*mediaTokens
	if w.Chars <= 0 || text <= 0 {
		return r
	}
	x := float64(w.Chars) / float64(text)
	if x <= minRatio || x >= maxRatio {
		return r
	}
	if r.Seen < averaged {
		r.CharsPerToken = (r.CharsPerToken*float64(r.Seen) + x) / float64(r.Seen+1)
	} else {
		r.CharsPerToken += alpha * (x - r.CharsPerToken)
	}
	r.Seen++
	return r
}

// Ratios keeps what is known of each model, under the name "provider/model",
// beyond the end of a session. Implementations are safe for concurrent use.
type Ratios interface {
	// Ratio returns what is known of a model; the zero Ratio if nothing.
	Ratio(name string) Ratio
	// SetRatio takes over what is now known.
	SetRatio(name string, r Ratio)
}
