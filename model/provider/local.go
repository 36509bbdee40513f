package provider

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
)

// local is a server on this machine that answers, and its models.
type local struct {
	Known
	models []string
}

// locals asks the usual places for local servers.
func (s *Settings) locals(ctx context.Context) []local {
	var found []local
	for _, k := range known {
		if !k.Local {
			continue
		}
		url, _, err := s.baseURL(k)
		if err != nil {
			continue
		}
		if models, err := s.list(ctx, url); err == nil && len(models) > 0 {
			found = append(found, local{k, models})
		}
	}
	return found
}

func (s *Settings) list(ctx context.Context, rawURL string) ([]string, error) {
	url := normalURL(rawURL, "")
	if s.List != nil {
		return s.List(ctx, url)
	}
	ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
	defer cancel()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	return List(ctx, client, &model.Profile{BaseURL: url}, nil)
}

// List asks the provider of p for the names of the models that it serves; keys
// may be nil. It shows whether endpoint and key are right without cost.
func List(ctx context.Context, client *http.Client, p *model.Profile, keys model.KeySource) ([]string, error) {
	url := p.BaseURL + "/models"
	if p.Mode == model.AnthropicMessages {
		url = p.BaseURL + "/v1/models"
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	if keys != nil {
		key, err := keys.Key(ctx)
		if err != nil {
			return nil, err
		}
		authorise(req.Header, p.Mode, key)
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answers %s", url, resp.Status)
	}
	var got struct {
		Data []struct {
			ID string `json:"id"`
		} `json:"data"`
		Models []struct {
			Name string `json:"name"`
		} `json:"models"` // Gemini
	}
	body := io.LimitReader(resp.Body, maxList)
	if err := json.UnmarshalRead(body, &got, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return nil, fmt.Errorf("%s: %w", url, err)
	}
	models := make([]string, 0, len(got.Data))
	for _, m := range got.Data {
		models = append(models, m.ID)
	}
	for _, m := range got.Models {
		if p.Mode != model.GeminiGenerate {
			break // a second list of the same
		}
		models = append(models, strings.TrimPrefix(m.Name, "models/"))
	}
	return models, nil
}

// maxList bounds what is read of a list of models, in bytes.
const maxList = 8 << 20

func authorise(h http.Header, mode model.Mode, key string) {
	switch mode {
	case model.AnthropicMessages:
		h.Set("X-Api-Key", key)
		h.Set("Anthropic-Version", "2023-06-01")
	case model.GeminiGenerate:
		h.Set("X-Goog-Api-Key", key)
	default:
		h.Set("Authorization", "Bearer "+key)
	}
}
