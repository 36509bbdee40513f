package anthropic

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// caseFile is what of the shared cases concerns this package.
type caseFile struct {
	API   string `json:"api"`
	Given struct {
		History  json.RawMessage `json:"history"`
		Request  json.RawMessage `json:"request"`
		Stream   string          `json:"stream"`
		Variants []struct {
			Name   string `json:"name"`
			Stream string `json:"stream"`
		} `json:"variants"`
		Usages []struct {
			API   string          `json:"api"`
			Usage json.RawMessage `json:"usage"`
		} `json:"usages"`
		Target json.RawMessage `json:"target"`
	} `json:"given"`
	Want struct {
		Variants []struct {
			Name        string  `json:"name"`
			ErrorClass  string  `json:"error_class"`
			Retryable   bool    `json:"retryable"`
			VisibleText *string `json:"visible_text"`
		} `json:"variants"`
		Normalised     []map[string]int64 `json:"normalised"`
		ResultsInOrder []string           `json:"results_in_order"`
		Answers        map[string]string  `json:"answers"`
		IDPattern      string             `json:"id_pattern"`
		MaxMarks       int                `json:"max_marks"`
		Request        struct {
			Thinking *bool `json:"thinking_enabled"`
		} `json:"request"`
	} `json:"want"`
}

func eachCase(t *testing.T, test func(t *testing.T, c *caseFile)) {
	files, err := filepath.Glob(filepath.Join(shared(t, "cases/dev"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var c caseFile
		if json.Unmarshal(data, &c) != nil || c.API != "any" && c.API != string(model.AnthropicMessages) {
			continue // other forms are of other packages' cases
		}
		t.Run(filepath.Base(file), func(t *testing.T) { test(t, &c) })
	}
}

func TestCasesOfHistories(t *testing.T) {
	eachCase(t, func(t *testing.T, c *caseFile) {
		if c.Given.History == nil {
			t.Skip("no history")
		}
		msgs, err := message.ParseHistory(c.Given.History)
		if err != nil {
			t.Skip("not a plain history:", err)
		}
		h, _ := message.Normalise(msgs)
		p := testProfile()
		p.Thinking = true
		b := encodeBody(t, p, &model.Request{History: h, Tools: toolSet("ls")})
		checkOrder(t, b)
		ids, results, blocks := idsAndResults(b)
		if slices.Sort(ids); len(slices.Compact(ids)) != len(ids) {
			t.Errorf("ids are not unique: %v", ids)
		}
		if want := c.Want.ResultsInOrder; want != nil && !slices.Equal(results, want) {
			t.Errorf("results %v, want %v", results, want)
		}
		if on := c.Want.Request.Thinking; on != nil && (*on != (b.Thinking != nil) || slices.Contains(blocks, "thinking")) {
			t.Errorf("thinking %v, blocks %v", b.Thinking, blocks)
		}
		if c.Want.IDPattern != "" {
			pattern := regexp.MustCompile(c.Want.IDPattern)
			for _, id := range ids {
				if !pattern.MatchString(id) {
					t.Errorf("id %q is sent", id)
				}
			}
		}
	})
}

func idsAndResults(b *body) (ids, results, blocks []string) {
	for _, m := range b.Messages {
		for _, c := range m.Content {
			blocks = append(blocks, c.str("type"))
			switch c.str("type") {
			case "tool_use":
				ids = append(ids, c.str("id"))
			case "tool_result":
				text, _ := asObject(c["content"].([]any)[0])["text"].(string)
				results = append(results, text)
			}
		}
	}
	return ids, results, blocks
}

func TestCasesOfStreams(t *testing.T) {
	eachCase(t, func(t *testing.T, c *caseFile) {
		if c.API != string(model.AnthropicMessages) || len(c.Given.Variants) == 0 {
			t.Skip("no streams of this protocol")
		}
		for i, v := range c.Given.Variants {
			want := c.Want.Variants[i]
			o := decode(testProfile(), v.Stream)
			class := model.ClassOf(o.err)
			if string(class) != want.ErrorClass || class.Retryable() != want.Retryable {
				t.Errorf("%s: class %s, want %s", v.Name, class, want.ErrorClass)
			}
			if want.VisibleText != nil && deltaText(o.deltas) != *want.VisibleText {
				t.Errorf("%s: text %q, want %q", v.Name, deltaText(o.deltas), *want.VisibleText)
			}
		}
	})
}

func TestCasesOfRequests(t *testing.T) {
	eachCase(t, func(t *testing.T, c *caseFile) {
		if c.Given.Request == nil || c.API != string(model.AnthropicMessages) {
			t.Skip("no request of this protocol")
		}
		system, msgs, err := ParseMessages(c.Given.Request)
		if err != nil {
			t.Fatal(err)
		}
		h, _ := message.Normalise(msgs)
		sent := mustEncode(t, testProfile(), &model.Request{System: system, History: h, Tools: toolSet("ls")})
		if n := marks(sent); n > c.Want.MaxMarks {
			t.Errorf("%d marks, want at most %d", n, c.Want.MaxMarks)
		}
		for _, m := range parseBody(t, sent).Messages {
			for _, b := range m.Content {
				if kind := b.str("type"); b["cache_control"] != nil && (kind == blockThinking || kind == blockRedacted || kind == "text" && b.str("text") == "") {
					t.Errorf("a mark on a %s block", kind)
				}
			}
		}
	})
}

func TestCasesOfUsage(t *testing.T) {
	eachCase(t, func(t *testing.T, c *caseFile) {
		for i, u := range c.Given.Usages {
			if u.API != string(model.AnthropicMessages) {
				continue
			}
			o := decode(testProfile(), `{"type":"message","content":[],"stop_reason":"end_turn","usage":`+string(u.Usage)+`}`)
			if o.err != nil {
				t.Fatal(o.err)
			}
			w := c.Want.Normalised[i]
			want := model.Usage{Input: w["input_total"], CacheRead: w["cache_read"], CacheWrite: w["cache_write"], Output: w["output"]}
			if o.reply.Usage != want {
				t.Errorf("usage %+v, want %+v", o.reply.Usage, want)
			}
		}
	})
}
