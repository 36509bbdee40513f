package model

import (
	"errors"
	"fmt"
	"testing"
)

func TestSecretsAreHidden(t *testing.T) {
	var s Secrets
	s.Add("first-secret", "short", "", "first-secret-and-more")
	key, err := s.Source(StaticKey("from-a-source")).Key(t.Context())
	if key != "from-a-source" || err != nil {
		t.Fatalf("got %q, %v", key, err)
	}
	for text, want := range map[string]string{
		"nothing here":                             "nothing here",
		"KEY=first-secret\nx":                      "KEY=[key]\nx",
		"first-secret-and-more, first-secret":      "[key], [key]",
		"a short word":                             "a short word",
		`{"Authorization":"Bearer from-a-source"}`: `{"Authorization":"Bearer [key]"}`,
	} {
		if got := s.Hide(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
	var none *Secrets
	if got := none.Hide("first-secret"); got != "first-secret" {
		t.Errorf("nil Secrets made %q", got)
	}
}

func TestHideKeyKeepsTheChain(t *testing.T) {
	cause := errors.New("no such key: plain-old-key")
	e := &Error{Class: Auth, Err: fmt.Errorf("refused: %w", cause)}
	e.HideKey("plain-old-key")
	if got := e.Error(); got != "auth: refused: no such key: [key]" || !errors.Is(e, cause) {
		t.Errorf("got %q", got)
	}
}
