package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// replyWith are replies that report a usage, by API.
var replyWith = map[string]string{
	"chat_completions":   `{"choices":[{"message":{"role":"assistant","content":"a"},"finish_reason":"stop"}],"usage":USAGE}`,
	"responses":          `{"object":"response","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"a"}]}],"usage":USAGE}`,
	"anthropic_messages": `{"type":"message","role":"assistant","content":[{"type":"text","text":"a"}],"stop_reason":"end_turn","usage":USAGE}`,
}

// rawCase is a case whose members are read by the test itself.
type rawCase struct {
	ID, Kind    string
	Given, Want json.RawMessage
}

func rawCases(t *testing.T, kind string) []rawCase {
	t.Helper()
	var out []rawCase
	for _, file := range sharedFiles(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c rawCase
		if err := json.Unmarshal(data, &c); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if c.Kind == kind {
			out = append(out, c)
		}
	}
	return out
}

// TestSharedBudgets decodes replies that count tokens in each provider's way.
func TestSharedBudgets(t *testing.T) {
	for _, c := range rawCases(t, "budget") {
		t.Run(c.ID, func(t *testing.T) {
			var given struct {
				Usages []struct {
					API   string
					Usage json.RawMessage
				}
			}
			var want struct{ Normalised []map[string]float64 }
			if json.Unmarshal(c.Given, &given) != nil || json.Unmarshal(c.Want, &want) != nil {
				t.Skip("the case has another form")
			}
			for i, u := range given.Usages {
				var got decodedJSON
				body := strings.Replace(replyWith[u.API], "USAGE", string(u.Usage), 1)
				runJSON(t, strings.NewReader(body), &got, "wire", "decode", "--api", u.API)
				for name, n := range want.Normalised[i] {
					ours := map[string]string{"input_total": "input", "cache_read": "cached"}[name]
					if ours == "" {
						ours = name
					}
					if got.Usage[ours] != n {
						t.Errorf("%s: %s is %v, want %v", u.API, name, got.Usage[ours], n)
					}
				}
			}
		})
	}
}

// TestSharedToolSchemas encodes tools as MCP servers describe them.
func TestSharedToolSchemas(t *testing.T) {
	for _, c := range rawCases(t, "mcp") {
		for api := range replyWith {
			t.Run(c.ID+"/"+api, func(t *testing.T) { schemaCase(t, c, api) })
		}
	}
}

func schemaCase(t *testing.T, c rawCase, api string) {
	var given struct{ Tools json.RawMessage }
	var want struct{ Sent, Quarantined []string }
	if json.Unmarshal(c.Given, &given) != nil || json.Unmarshal(c.Want, &want) != nil {
		t.Skip("the case has another form")
	}
	file := filepath.Join(t.TempDir(), "tools.json")
	if err := os.WriteFile(file, given.Tools, 0o600); err != nil {
		t.Fatal(err)
	}
	status, stdout, stderr := run(t, strings.NewReader(`[{"role":"user","content":"hi"}]`), "wire", "encode", "--api", api, "--model", "m", "--tools", file)
	if status != 0 {
		t.Fatalf("status %d: %s", status, stderr)
	}
	type spec struct {
		Name                    string
		Parameters, InputSchema map[string]any
		Schema                  map[string]any `json:"input_schema"`
	}
	var body struct {
		Tools []struct {
			spec
			Function *spec
		}
	}
	if err := json.Unmarshal([]byte(stdout), &body); err != nil {
		t.Fatal(err)
	}
	var sent []string
	for _, tool := range body.Tools {
		s := tool.spec
		if tool.Function != nil {
			s = *tool.Function
		}
		sent = append(sent, s.Name)
		schema := s.Schema
		if schema == nil {
			schema = s.Parameters
		}
		if schema["type"] != "object" {
			t.Errorf("%s: the root's type is %v", s.Name, schema["type"])
		}
		checkObjects(t, s.Name, schema)
	}
	if !slices.Equal(sent, want.Sent) {
		t.Errorf("sent %v, want %v", sent, want.Sent)
	}
	for _, name := range want.Quarantined {
		if !strings.Contains(stderr, name) {
			t.Errorf("nothing is said of %s: %q", name, stderr)
		}
	}
}

// checkObjects wants properties in each object and items in each array.
func checkObjects(t *testing.T, name string, v any) {
	t.Helper()
	switch v := v.(type) {
	case map[string]any:
		if v["type"] == "object" && v["properties"] == nil || v["type"] == "array" && v["items"] == nil {
			t.Errorf("%s: %v has no properties, or no items", name, v)
		}
		for _, e := range v {
			checkObjects(t, name, e)
		}
	case []any:
		for _, e := range v {
			checkObjects(t, name, e)
		}
	}
}
