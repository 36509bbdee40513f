package provider

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/rondo-engine/rondo/model"
)

// Where a base URL is from when it is not from a named setting.
const fromDefault = "default"

// baseURL returns the endpoint of k and which setting it is from: the one for
// this call, the environment, the configuration, what is known.
func (s *Settings) baseURL(k Known) (raw, from string, err error) {
	switch e := s.Endpoints[k.Name]; {
	case s.BaseURL != "":
		raw, from = s.BaseURL, "base_url"
	case s.env(k.URLEnv) != "":
		raw, from = s.env(k.URLEnv), k.URLEnv
		if k.URLEnv == "OLLAMA_HOST" {
			raw = ollamaURL(raw)
		}
	case e.BaseURL != "":
		raw, from = e.BaseURL, "providers."+k.Name+".base_url"
	case k.BaseURL != "":
		raw, from = k.BaseURL, fromDefault
	default:
		return "", "", fmt.Errorf("provider %s needs a base URL of yours: set %s, or base_url under providers.%s in the configuration", k.Name, orFlag(k.URLEnv), k.Name)
	}
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", "", fmt.Errorf("%s: %q is no base URL: it looks like https://host/v1", from, redact(raw))
	}
	return raw, from, nil
}

func orFlag(env string) string {
	if env == "" {
		return "--base-url"
	}
	return env + " or --base-url"
}

// redact hides user and password of a URL that may not even be one.
func redact(raw string) string {
	if at := strings.LastIndexByte(raw, '@'); at >= 0 {
		return "..." + raw[at:]
	}
	return raw
}

// ollamaURL reads OLLAMA_HOST, which is a URL or a host and port to listen on.
func ollamaURL(host string) string {
	if !strings.Contains(host, "://") {
		host = "http://" + host
	}
	u, err := url.Parse(host)
	if err != nil {
		return host
	}
	name, port := u.Hostname(), u.Port()
	if name == "0.0.0.0" || name == "" {
		name = "127.0.0.1"
	}
	if port == "" && u.Scheme == "http" {
		port = "11434"
	}
	u.Host = strings.TrimSuffix(name+":"+port, ":")
	return u.String()
}

// normalURL brings a base URL into the form of model.Profile: without a slash
// or the path of a call at its end; for the Messages API without /v1, for the
// others with their version, /v1 or /v1beta, where there is no path at all.
func normalURL(raw string, mode model.Mode) string {
	raw = strings.TrimRight(raw, "/")
	for _, call := range []string{"/chat/completions", "/responses", "/messages"} {
		raw = strings.TrimRight(strings.TrimSuffix(raw, call), "/")
	}
	if mode == model.AnthropicMessages {
		return strings.TrimRight(strings.TrimSuffix(raw, "/v1"), "/")
	}
	if u, err := url.Parse(raw); err == nil && u.Path == "" {
		if mode == model.GeminiGenerate {
			return raw + "/v1beta"
		}
		return raw + "/v1"
	}
	return raw
}

func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return strings.ToLower(u.Hostname())
}

// keys returns the sources of the keys of k, and which setting they are from,
// "" for none. Keys are taken from where the base URL is from before others:
// from the configuration if that moved the endpoint, else from the environment.
func (s *Settings) keys(k Known) ([]model.KeySource, string) {
	if s.APIKey != "" {
		return []model.KeySource{model.StaticKey(s.APIKey)}, "api_key"
	}
	e := s.Endpoints[k.Name]
	if e.BaseURL != "" && s.BaseURL == "" && s.env(k.URLEnv) == "" {
		if keys, from := s.configKeys(k.Name, e); from != "" {
			return keys, from
		}
	}
	if e.KeyEnv != "" {
		if keys, from := s.envKeys(strings.Split(e.KeyEnv, ",")); from != "" {
			return keys, from
		}
		return s.configKeys(k.Name, e)
	}
	for _, name := range k.KeyEnv { // names for the same key
		if keys, from := s.envKeys([]string{name}); from != "" {
			return keys, from
		}
	}
	return s.configKeys(k.Name, e)
}

// envKeys returns the keys that the variables hold.
func (s *Settings) envKeys(variables []string) ([]model.KeySource, string) {
	var keys []model.KeySource
	var from []string
	for _, name := range variables {
		name = strings.TrimSpace(name)
		if v := strings.TrimSpace(s.env(name)); v != "" {
			keys, from = append(keys, model.StaticKey(v)), append(from, name)
		}
	}
	return keys, strings.Join(from, ", ")
}

func (s *Settings) configKeys(name string, e Endpoint) ([]model.KeySource, string) {
	switch {
	case e.APIKey != "":
		return []model.KeySource{model.StaticKey(e.APIKey)}, "providers." + name + ".api_key"
	case e.KeyCommand != "" && s.Command != nil:
		return []model.KeySource{&commandKey{run: s.Command, command: e.KeyCommand}}, "providers." + name + ".key_command"
	}
	return nil, ""
}

// commandKey gets a key by running a command, once, and again for a key that
// was refused.
type commandKey struct {
	run     func(ctx context.Context, command string) (string, error)
	command string

	mu  sync.Mutex
	key string
}

// Key returns what the command printed.
func (c *commandKey) Key(ctx context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.key != "" {
		return c.key, nil
	}
	out, err := c.run(ctx, c.command)
	if err != nil {
		return "", fmt.Errorf("key_command: %w", err)
	}
	if c.key = strings.TrimSpace(out); c.key == "" {
		return "", fmt.Errorf("key_command printed nothing: it must print the key")
	}
	return c.key, nil
}

// Refresh returns a key in place of one that was refused, unless that was
// replaced already.
func (c *commandKey) Refresh(ctx context.Context, refused string) (string, error) {
	c.mu.Lock()
	if c.key == refused {
		c.key = ""
	}
	c.mu.Unlock()
	return c.Key(ctx)
}

// account tells one key, or one pool of them in whatever order, from another
// without giving it away.
func account(pool ...model.KeySource) string {
	secrets := make([]string, 0, len(pool))
	for _, keys := range pool {
		switch k := keys.(type) {
		case model.StaticKey:
			secrets = append(secrets, string(k))
		case *commandKey:
			secrets = append(secrets, k.command)
		}
	}
	if len(secrets) == 0 {
		return ""
	}
	slices.Sort(secrets)
	sum := sha256.Sum256([]byte("rondo account\x00" + strings.Join(secrets, "\x00")))
	return hex.EncodeToString(sum[:6])
}
