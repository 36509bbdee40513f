package tool

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Limits bound what results bring into the history.
type Limits struct {
	// ResultBytes bounds one result, 50,000 by default; a tool's MaxResult
	// goes before it.
	ResultBytes int
	// RoundBytes bounds the results of one round together, 200,000 by default.
	RoundBytes int
	// SpillDir is where the whole of a result that is cut is saved. It is made
	// when it is needed. Empty saves nothing.
	SpillDir string
}

// Round limits the results of one round. It is not safe for concurrent use.
type Round struct {
	limits Limits
	left   int // bytes that the round still has
	calls  int // results that are still to come
}

// NewRound returns the limits of a round of so many calls.
func (l Limits) NewRound(calls int) *Round {
	if l.ResultBytes <= 0 {
		l.ResultBytes = 50_000
	}
	if l.RoundBytes <= 0 {
		l.RoundBytes = 200_000
	}
	return &Round{limits: l, left: l.RoundBytes, calls: calls}
}

// Limit makes the result of a call fit to enter the history: its text is
// cleaned, cut to the limit with its head and tail kept, and fenced if the tool
// is untrusted. What is cut is saved to a file that the text names. A call may
// take its limit or its even share of what is left of the round, whichever is
// less; what it does not use is left to the later ones. t may be nil.
func (r *Round) Limit(t *Tool, call Call, res Result) Result {
	limit := r.limits.ResultBytes
	if t != nil && t.MaxResult > 0 {
		limit = t.MaxResult
	}
	limit = max(min(limit, r.left/max(r.calls, 1)), minResult)
	res.Text = Clean(res.Text)
	if len(res.Text) > limit {
		res = r.cut(t, call, res, limit)
	}
	r.left, r.calls = max(r.left-len(res.Text), 0), r.calls-1
	if t != nil && t.Untrusted && res.Text != "" {
		res.Text = Fence(t.Name, res.Text)
	}
	return res
}

// minResult is what any result may take, so that the cut itself can be told.
const minResult = 400

// cut shortens res.Text to limit bytes and says where the whole is.
func (r *Round) cut(t *Tool, call Call, res Result, limit int) Result {
	where := ""
	switch {
	case res.Source != "":
		where = "; read the rest in " + res.Source
	case r.limits.SpillDir != "":
		whole := res.Text
		if t != nil && t.Untrusted {
			whole = Fence(t.Name, whole)
		}
		path, err := Spill(r.limits.SpillDir, call, whole)
		if err != nil {
			where = "; saving the whole failed: " + err.Error()
			break
		}
		res.Source = path
		where = "; the whole is in " + path
	}
	res.Text = headTail(res.Text, limit, where)
	res.Truncated = true
	return res
}

// headTail keeps 70 % of limit bytes from the head of text and the rest from
// its tail, at line ends where there are some near.
func headTail(text string, limit int, where string) string {
	room := max(limit-len(where)-40, limit/4)
	head, tail := room*7/10, len(text)-room*3/10
	for head > 0 && !utf8.RuneStart(text[head]) {
		head--
	}
	if i := strings.LastIndexByte(text[:head], '\n'); i >= head*3/4 {
		head = i + 1
	}
	for tail < len(text) && !utf8.RuneStart(text[tail]) {
		tail++
	}
	if i := strings.IndexByte(text[tail:], '\n'); i >= 0 && i < (len(text)-tail)/4 {
		tail += i + 1
	}
	return fmt.Sprintf("%s\n[%d bytes cut%s]\n%s", strings.TrimSuffix(text[:head], "\n"), tail-head, where, text[tail:])
}

// Spill saves text to a new file in dir, which is made if need be, and returns
// its path. The file is named after the call.
func Spill(dir string, call Call, text string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := fileName(call.Name + "-" + call.ID)
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+".txt")
		if n > 1 {
			path = filepath.Join(dir, fmt.Sprintf("%s-%d.txt", name, n))
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if os.IsExist(err) && n < 10_000 {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.WriteString(text)
		if closeErr := f.Close(); err == nil {
			err = closeErr
		}
		return path, err
	}
}

// fileName makes a safe file name of s.
func fileName(s string) string {
	safe := strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, s)
	return safe[:min(len(safe), 80)]
}
