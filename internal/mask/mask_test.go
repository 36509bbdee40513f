package mask

import (
	"strings"
	"testing"
)

func TestURLsAreShownWithoutTheirPasswords(t *testing.T) {
	for text, want := range map[string]string{
		"":                                    "",
		"postgres://u@host/db":                "postgres://u@host/db",
		"postgres://u:se%2Fcret@host:5432/db": "postgres://u:****@host:5432/db",
		"postgres://host/db?user=u&password=secret&sslpassword=secret&search_path=team": "postgres://host/db?password=****&search_path=team&sslpassword=****&user=u",
		"postgres://u:se/cret@host/db":          "****",
		"postgres://u:se cret@host/db":          "****",
		"postgres://host/db?password=secret%zz": "****",
		"host=h password=secret":                "****",
		"/secret":                               "****",
	} {
		if got := URL(text); got != want || strings.Contains(got, "cret") {
			t.Errorf("URL(%q) = %q, want %q", text, got, want)
		}
	}
}
