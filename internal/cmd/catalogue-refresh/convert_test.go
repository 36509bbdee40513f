package main

import (
	"strings"
	"testing"
	"testing/fstest"
)

func TestConvertSortsAndKeepsDefaults(t *testing.T) {
	dir := fstest.MapFS{
		"b.json":       {Data: []byte(`{"id":"b","default_large_model_id":"M","models":[{"id":"M","context_window":10,"default_max_tokens":2,"cost_per_1m_in":1,"cost_per_1m_out":2}]}`)},
		"a.json":       {Data: []byte(`{"id":"a","models":[{"id":"z","context_window":5},{"id":"Y","can_reason":true,"supports_attachments":true}]}`)},
		"bedrock.json": {Data: []byte(`{"id":"bedrock","models":[{"id":"x"}]}`)},
	}
	providers, err := read(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, got, _ := strings.Cut(string(convert(providers, "origin")), "output\n")
	want := "!b\tM\na/Y\t0\t0\trv\na/z\t5\t0\t\nb/M\t10\t2\t\t1\t1\t1\t2\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestReadRefusesWhatItDoesNotKnow(t *testing.T) {
	for name, dir := range map[string]fstest.MapFS{
		"no files":   {},
		"broken":     {"a.json": {Data: []byte(`{`)}},
		"no models":  {"a.json": {Data: []byte(`{"id":"a"}`)}},
		"other form": {"a.json": {Data: []byte(`{"models":[{"id":"x"}]}`)}},
	} {
		if _, err := read(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestPricesUnderstandBothMeaningsOfCached(t *testing.T) {
	tests := []struct {
		name string
		in   sourceModel
		want [4]float64
		ok   bool
	}{
		{"write and read", sourceModel{In: 4, Out: 20, InCached: 5, OutCached: 0.4}, [4]float64{4, 0.4, 5, 20}, true},
		{"read twice", sourceModel{In: 2, Out: 8, InCached: 0.5, OutCached: 0.5}, [4]float64{2, 0.5, 2, 8}, true},
		{"read first", sourceModel{In: 2, Out: 8, InCached: 0.5}, [4]float64{2, 0.5, 2, 8}, true},
		{"read, and output repeated", sourceModel{In: 0.3, Out: 2.5, InCached: 0.03, OutCached: 2.5}, [4]float64{0.3, 0.03, 0.3, 2.5}, true},
		{"read second", sourceModel{In: 2, Out: 8, OutCached: 0.2}, [4]float64{2, 0.2, 2, 8}, true},
		{"none", sourceModel{In: 2, Out: 8}, [4]float64{2, 2, 2, 8}, true},
		{"unknown", sourceModel{ID: "m"}, [4]float64{}, false},
		{"free", sourceModel{ID: "m:free"}, [4]float64{}, true},
	}
	for _, tt := range tests {
		in, read, write, out, ok := prices(tt.in)
		if got := [4]float64{in, read, write, out}; got != tt.want || ok != tt.ok {
			t.Errorf("%s: got %v %v, want %v %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
