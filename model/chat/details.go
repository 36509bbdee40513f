package chat

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// detail is an element of reasoning_details, in which OpenRouter and others
// send what the model wants back unchanged. See
// https://openrouter.ai/docs/use-cases/reasoning-tokens.
type detail struct {
	Type      string         `json:"type"`
	Text      *string        `json:"text,omitzero"`
	Summary   *string        `json:"summary,omitzero"`
	Data      *string        `json:"data,omitzero"`
	Signature *string        `json:"signature,omitzero"`
	ID        jsontext.Value `json:"id,omitzero"`
	Format    jsontext.Value `json:"format,omitzero"`
	Index     jsontext.Value `json:"index,omitzero"`
	Rest      jsontext.Value `json:",embed"`
}

// details are the elements of a reply so far. The text of each is kept in
// pieces until the end.
type details struct {
	items []detail
	texts [][]byte // of the items: text or summary
}

// add takes in what a chunk brings: the next piece of the last element, or a
// further element. It returns the readable text of that.
func (ds *details) add(v jsontext.Value) (words string) {
	var d detail
	if json.Unmarshal(v, &d, lenient) != nil {
		return "" // of a form that nobody knows, so that nobody can want it back
	}
	n := len(ds.items) - 1
	if n < 0 || !ds.items[n].goesOnWith(&d) {
		ds.items = append(ds.items, d)
		ds.texts = append(ds.texts, nil)
		n++
	} else {
		ds.items[n].fill(&d)
	}
	words = d.words()
	ds.texts[n] = append(ds.texts[n], words...)
	return words
}

func (d *detail) goesOnWith(next *detail) bool {
	return d.Type == next.Type && d.Data == nil && next.Data == nil &&
		string(d.Index) == string(next.Index) && (d.Signature == nil || *d.Signature == "" || next.words() == "")
}

// fill sets what is missing in d.
func (d *detail) fill(next *detail) {
	if next.Signature != nil && *next.Signature != "" {
		d.Signature = next.Signature
	}
	if d.Text == nil {
		d.Text = next.Text
	}
	if d.Summary == nil {
		d.Summary = next.Summary
	}
	if d.ID.Kind() != '"' && next.ID != nil {
		d.ID = next.ID
	}
	if d.Format.Kind() != '"' && next.Format != nil {
		d.Format = next.Format
	}
}

// words returns the readable text of d.
func (d *detail) words() string {
	switch {
	case d.Text != nil:
		return *d.Text
	case d.Summary != nil:
		return *d.Summary
	}
	return ""
}

// json returns the elements as a JSON array.
func (ds *details) json() string {
	items := make([]detail, len(ds.items))
	for i, d := range ds.items {
		text := string(ds.texts[i])
		switch {
		case d.Text != nil:
			d.Text = &text
		case d.Summary != nil:
			d.Summary = &text
		}
		items[i] = d
	}
	b, _ := json.Marshal(items, lenient) // strings and JSON that was read cannot fail
	return string(b)
}
