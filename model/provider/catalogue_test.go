package provider

import (
	"slices"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
)

func TestLookupFindsEveryModelOfTheCatalogue(t *testing.T) {
	n := 0
	for c := range Cards() {
		n++
		got, ok := exact(strings.ToLower(c.Provider + "/" + c.Model))
		if !ok || got.Provider != c.Provider || got.Model != c.Model {
			t.Fatalf("lookup of %s/%s: got %+v, %v", c.Provider, c.Model, got, ok)
		}
	}
	if n < 500 {
		t.Errorf("the catalogue has %d models: where are they?", n)
	}
}

func TestCatalogueIsSorted(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(models()), "\n")
	key := func(l string) string { k, _, _ := strings.Cut(l, "\t"); return strings.ToLower(k) }
	if !slices.IsSortedFunc(lines, func(a, b string) int { return strings.Compare(key(a), key(b)) }) {
		t.Error("the lines are not sorted: run go generate ./model/provider")
	}
	if !strings.Contains(CatalogueOrigin(), "catwalk v") {
		t.Errorf("origin %q lacks the version", CatalogueOrigin())
	}
}

func TestLookup(t *testing.T) {
	tests := []struct {
		provider, name string
		want           string // provider/model, empty for none
	}{
		{"openai", "gpt-4.1", "openai/gpt-4.1"},
		{"openai", "GPT-4.1", "openai/gpt-4.1"},
		{"openai", "gpt-4.1-2025-04-14", "openai/gpt-4.1"},
		{"openai", "gpt-4.1-latest", "openai/gpt-4.1"},
		{"anthropic", "claude-opus-4-5", "anthropic/claude-opus-4-5-20251101"},
		{"claude", "claude-opus-4-5-20251101", "anthropic/claude-opus-4-5-20251101"},
		{"google", "gemini-2.5-pro", "gemini/gemini-2.5-pro"},
		{"mistral", "nothing-like-it", ""},
		{"openrouter", "anthropic/claude-sonnet-4.5", "openrouter/anthropic/claude-sonnet-4.5"},
		{"openai", "gpt-4", ""},
		{"openai", "", ""},
		{"", "", ""},
		{"zzz", "zzz", ""},
	}
	for _, tt := range tests {
		c, ok := Lookup(tt.provider, tt.name)
		if got := strings.Trim(c.Provider+"/"+c.Model, "/"); got != tt.want || ok != (tt.want != "") {
			t.Errorf("Lookup(%q, %q) = %q, %v, want %q", tt.provider, tt.name, got, ok, tt.want)
		}
	}
}

func TestParseCardReadsAllFields(t *testing.T) {
	c := parseCard("p/V/M\t1000\t20\trv\t2.5\t0.25\t3.125\t10")
	want := Card{Provider: "p", Model: "V/M", ContextWindow: 1000, MaxOutput: 20, Reasoning: true, Vision: true}
	price := *c.Price
	c.Price = nil
	if c != want || price != (model.Price{Input: 2.5, CacheRead: 0.25, CacheWrite: 3.125, Output: 10}) {
		t.Errorf("got %+v at %+v", c, price)
	}
	if c := parseCard("p/m\t1\t0\t"); c.Price != nil || c.Vision {
		t.Errorf("got %+v for a model without a price", c)
	}
}

func TestEveryKnownProviderHasADefaultOrSaysNone(t *testing.T) {
	withoutOne := []string{"together", "azure", "ollama", "lmstudio", "llamacpp", "vllm"}
	for _, k := range known {
		if got := k.Default() == ""; got != slices.Contains(withoutOne, k.Name) {
			t.Errorf("%s: default model %q", k.Name, k.Default())
		}
	}
}

func BenchmarkLookup(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Lookup("openrouter", "anthropic/claude-sonnet-4.5"); !ok {
			b.Fatal("not found")
		}
	}
}
