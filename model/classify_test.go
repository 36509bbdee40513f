package model

import (
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestClassify(t *testing.T) {
	data, err := os.ReadFile("testdata/classify.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n# ")
	decided := map[string]bool{}
	for line := range strings.Lines(text) {
		class, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		number, body, _ := strings.Cut(rest, " ")
		status, err := strconv.Atoi(number)
		if err != nil {
			continue // a heading
		}
		f := Failure{Status: status, Body: bodyOf(body)}
		if e := Classify(f); string(e.Class) != class {
			t.Errorf("%s\ngot %s: %v", strings.TrimSpace(line), e.Class, e)
		}
		said := readBody(f.Body)
		_, by := judge(&f, said, strings.ToLower(said.text()))
		decided[by] = true
	}
	for _, table := range [][]codeRow{codeTable, weakCodeTable} {
		for _, row := range table {
			for name := range strings.FieldsSeq(row.codes) {
				if !decided[name] {
					t.Errorf("no line is decided by the code %s (%s)", name, row.class)
				}
			}
		}
	}
	for _, table := range [][]wordRow{overflowWords, wordTable} {
		for _, row := range table {
			for _, pattern := range row.patterns {
				if !decided[pattern] {
					t.Errorf("no line is decided by the pattern %q (%s)", pattern, row.class)
				}
			}
		}
	}
}

// bodyOf makes the body that a line of classify.txt stands for.
func bodyOf(text string) []byte {
	code, isCode := strings.CutPrefix(text, "code:")
	switch {
	case isCode:
		return fmt.Appendf(nil, `{"error":{"code":%q,"message":"what?"}}`, code)
	case text == "" || strings.HasPrefix(text, "{"):
		return []byte(text)
	}
	quoted, _ := json.Marshal(text)
	return fmt.Appendf(nil, `{"error":{"message":%s}}`, quoted)
}
