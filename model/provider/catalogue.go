package provider

import (
	_ "embed"
	"iter"
	"sort"
	"strconv"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

//go:generate go run ../../internal/cmd/catalogue-refresh -o catalogue.txt

// catalogueText has a line for each model, sorted by its lower-case name. It
// is searched where it lies: nothing is decoded but the line that is asked
// for. Its form is set by catalogue-refresh.
//
//go:embed catalogue.txt
var catalogueText string

// Card is what the catalogue knows of a model.
type Card struct {
	// Provider and Model are the names in the catalogue.
	Provider, Model string
	// ContextWindow and MaxOutput are in tokens; 0 when unknown. MaxOutput is
	// what the provider's users commonly ask for, at most what it can do.
	ContextWindow, MaxOutput int
	// Reasoning and Vision say what the model can do.
	Reasoning, Vision bool
	// Price is nil when unknown.
	Price *model.Price
}

// Lookup finds a model in the catalogue by the provider's name and the model's,
// without regard to case. A name with a date at its end finds the one without
// it and the reverse.
func Lookup(provider, name string) (Card, bool) {
	for _, in := range sections(provider) {
		if c, ok := lookup(in + name); ok {
			return c, true
		}
	}
	return Card{}, false
}

// sections returns what to put before a model's name to find it.
func sections(provider string) []string {
	if k, ok := Find(provider); ok {
		if k.Catalogue != nil {
			return k.Catalogue
		}
		provider = k.Name
	}
	return []string{provider + "/"}
}

func lookup(key string) (Card, bool) {
	key = strings.ToLower(key)
	if c, ok := exact(key); ok {
		return c, true
	}
	if base, ok := undated(key); ok {
		return exact(base)
	}
	return dated(key)
}

// dated finds the newest model whose name is key and a date.
func dated(key string) (c Card, ok bool) {
	text := models()
	for line := range strings.Lines(text[search(text, key+"-2"):]) {
		name, _, _ := strings.Cut(strings.ToLower(line), "\t")
		if !strings.HasPrefix(name, key+"-2") {
			break
		}
		if base, isDated := undated(name); isDated && base == key {
			c, ok = parseCard(strings.TrimSuffix(line, "\n")), true
		}
	}
	return c, ok
}

func exact(key string) (Card, bool) {
	text := models()
	line, _, _ := strings.Cut(text[search(text, key):], "\n")
	if name, _, _ := strings.Cut(line, "\t"); strings.EqualFold(name, key) {
		return parseCard(line), true
	}
	return Card{}, false
}

// undated cuts a date such as -20250929 or -2025-09-29, or -latest, off name.
func undated(name string) (string, bool) {
	if base, ok := strings.CutSuffix(name, "-latest"); ok {
		return base, true
	}
	for _, form := range []string{"-dddddddd", "-dddd-dd-dd"} {
		if cut := len(name) - len(form); cut > 0 && matches(name[cut:], form) {
			return name[:cut], true
		}
	}
	return "", false
}

// matches compares byte by byte, where d stands for a digit.
func matches(s, form string) bool {
	for i := range len(form) {
		if digit := s[i] >= '0' && s[i] <= '9'; form[i] == 'd' && !digit || form[i] != 'd' && s[i] != form[i] {
			return false
		}
	}
	return true
}

// Cards yields all models of the catalogue, sorted by name.
func Cards() iter.Seq[Card] {
	return func(yield func(Card) bool) {
		for line := range strings.Lines(models()) {
			if line = strings.TrimSuffix(line, "\n"); line[0] != '!' && !yield(parseCard(line)) {
				return
			}
		}
	}
}

// CatalogueOrigin says where the catalogue is from, with version and licence.
func CatalogueOrigin() string {
	_, rest, _ := strings.Cut(catalogueText, "\n# ")
	origin, _, _ := strings.Cut(rest, "\n")
	return origin
}

// defaultModel returns the model that the catalogue recommends for a provider.
func defaultModel(provider string) string {
	section := strings.TrimSuffix(sections(provider)[0], "/")
	text := models()
	line, _, _ := strings.Cut(text[search(text, "!"+section):], "\n")
	if name, found, ok := strings.Cut(line, "\t"); ok && name == "!"+section {
		return found
	}
	return ""
}

// models returns the catalogue without the comments before its first line.
func models() string { return catalogueText[strings.Index(catalogueText, "\n!")+1:] }

// search returns the offset of the first line of text, whose lines are sorted
// by their lower-case first field, that is not less than key.
func search(text, key string) int {
	at := sort.Search(len(text), func(i int) bool {
		start := strings.LastIndexByte(text[:i], '\n') + 1
		return !lessFold(text[start:], key)
	})
	return strings.LastIndexByte(text[:at], '\n') + 1
}

// lessFold reports whether the first field of line, in lower case, is less
// than key.
func lessFold(line, key string) bool {
	for i := range len(line) {
		c := line[i]
		if c == '\t' || c == '\n' {
			return i < len(key)
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if i == len(key) || c != key[i] {
			return i < len(key) && c < key[i]
		}
	}
	return len(line) < len(key)
}

// parseCard reads a line, which catalogue-refresh wrote.
func parseCard(line string) Card {
	f := strings.Split(line, "\t")
	var c Card
	c.Provider, c.Model, _ = strings.Cut(f[0], "/")
	c.ContextWindow, _ = strconv.Atoi(f[1])
	c.MaxOutput, _ = strconv.Atoi(f[2])
	c.Reasoning, c.Vision = strings.Contains(f[3], "r"), strings.Contains(f[3], "v")
	if len(f) == 8 {
		var p [4]float64
		for i := range p {
			p[i], _ = strconv.ParseFloat(f[4+i], 64)
		}
		c.Price = &model.Price{Input: p[0], CacheRead: p[1], CacheWrite: p[2], Output: p[3]}
	}
	return c
}
