// Package mask hides secrets in what is shown to people.
package mask

import (
	"net/url"
	"strings"
)

// hidden stands in the place of a secret.
const hidden = "****"

// URL returns a URL without the passwords in it: that of the user, and values of
// parameters whose names say that they are one. What is no URL with a host is
// hidden as a whole, since its password cannot be told from the rest.
func URL(text string) string {
	if text == "" {
		return ""
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme == "" {
		return hidden
	}
	if _, has := u.User.Password(); has {
		u.User = url.UserPassword(u.User.Username(), hidden)
	}
	if u.RawQuery != "" {
		params, err := url.ParseQuery(u.RawQuery)
		if err != nil {
			return hidden
		}
		for name := range params {
			if strings.Contains(strings.ToLower(name), "password") {
				params.Set(name, hidden)
			}
		}
		u.RawQuery = params.Encode()
	}
	return strings.ReplaceAll(u.String(), url.QueryEscape(hidden), hidden)
}
