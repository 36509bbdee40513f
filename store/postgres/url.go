package postgres

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rondo-engine/rondo/internal/mask"
)

// IsURL reports whether text is the URL of a PostgreSQL database.
func IsURL(text string) bool {
	return strings.HasPrefix(text, "postgres://") || strings.HasPrefix(text, "postgresql://")
}

// Password returns the password in the URL of a database; empty for none.
func Password(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	if p, has := u.User.Password(); has {
		return p
	}
	return u.Query().Get("password")
}

// errURL says what is wrong with a URL without a word of it: where it cannot be
// read, its password cannot be told from the rest.
var errURL = errors.New("the URL of the session store cannot be read: write it as postgres://USER:PASSWORD@HOST:5432/DATABASE, with %2F, %40, %23, %3F and %25 for the characters / @ # ? and % in a password")

// connectTime bounds an attempt to connect, unless the URL has a
// connect_timeout.
const connectTime = 10 * time.Second

// parse reads the URL of a database.
func parse(text string) (*pgconn.Config, error) {
	if _, err := url.Parse(text); err != nil || !IsURL(text) {
		return nil, errURL
	}
	config, err := pgconn.ParseConfig(text)
	if err != nil {
		return nil, unreadable(text, err)
	}
	if config.ConnectTimeout == 0 || config.ConnectTimeout > time.Minute { // the driver's own is two
		config.ConnectTimeout = connectTime
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "rondo"
	}
	return config, nil
}

// unreadable is what a driver says of a URL, unless that holds its password.
func unreadable(text string, err error) error {
	inner := errors.Unwrap(err)
	if inner == nil {
		return errURL
	}
	if p := Password(text); p != "" && strings.Contains(inner.Error(), p) {
		return errURL
	}
	return errors.New(mask.URL(text) + ": the URL of the session store is not right: " + inner.Error())
}
