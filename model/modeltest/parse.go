package modeltest

import (
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
)

// Parse reads scripts in the form that the package comment describes. Name
// stands in front of errors, which tell the line and what was expected there.
func Parse(name, text string) ([]Script, error) {
	p := parser{}
	for i, line := range strings.Split(text, "\n") {
		p.line = i + 1
		if err := p.read(strings.TrimSuffix(line, "\r")); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, p.line, err)
		}
	}
	if err := p.endStep(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, p.stepLine, err)
	}
	if len(p.scripts) == 0 {
		return nil, fmt.Errorf("%s: a script needs at least one reply", name)
	}
	for _, s := range p.scripts {
		if len(s.Replies) == 0 {
			return nil, fmt.Errorf("%s: model %q has no reply", name, s.Model)
		}
	}
	return p.scripts, nil
}

// parser holds the step that is being read: its text may go on in the next line.
type parser struct {
	line     int
	scripts  []Script
	word     string
	text     string
	stepLine int
}

func (p *parser) read(line string) error {
	line = strings.TrimLeft(line, " \t")
	if rest, ok := strings.CutPrefix(line, "|"); ok {
		if p.word == "" {
			return errors.New("nothing stands above that | could carry on")
		}
		p.text += "\n" + strings.TrimPrefix(rest, " ")
		return nil
	}
	if err := p.endStep(); err != nil {
		p.line = p.stepLine
		return err
	}
	if line == "" || line[0] == '#' {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "model":
		return p.beginScript(strings.TrimSpace(rest))
	case "position":
		return p.position(strings.TrimSpace(rest))
	case "reply":
		return p.beginReply(strings.TrimSpace(rest))
	}
	if p.reply() == nil {
		return fmt.Errorf("%q stands before the first reply", word)
	}
	p.word, p.text, p.stepLine = word, rest, p.line
	if strings.HasPrefix(strings.TrimSpace(rest), `"`) {
		s, err := strconv.Unquote(strings.TrimSpace(rest))
		if err != nil {
			return fmt.Errorf("%s: %s is not a quoted string", word, rest)
		}
		p.text = s
	}
	return nil
}

func (p *parser) script() *Script {
	if len(p.scripts) == 0 {
		p.scripts = append(p.scripts, Script{})
	}
	return &p.scripts[len(p.scripts)-1]
}

func (p *parser) reply() *Reply {
	if s := p.script(); len(s.Replies) > 0 {
		return &s.Replies[len(s.Replies)-1]
	}
	return nil
}

func (p *parser) beginScript(name string) error {
	if name == "" || strings.ContainsAny(name, " \t") {
		return fmt.Errorf("model: want one name, have %q", name)
	}
	for _, s := range p.scripts {
		if s.Model == name {
			return fmt.Errorf("model %q has a script already", name)
		}
	}
	p.scripts = append(p.scripts, Script{Model: name})
	return nil
}

func (p *parser) position(how string) error {
	switch how {
	case "order", "history":
		p.script().ByHistory = how == "history"
		return nil
	}
	return fmt.Errorf("position: want order or history, have %q", how)
}

func (p *parser) beginReply(rest string) error {
	var r Reply
	if cond, ok := strings.CutPrefix(rest, "when "); ok {
		var err error
		if r.When, rest, err = condition(strings.TrimSpace(cond)); err != nil {
			return err
		}
	}
	if times, ok := strings.CutPrefix(rest, "times "); ok {
		if rest = ""; times == "forever" {
			r.Times = -1
		} else {
			n, err := strconv.Atoi(strings.TrimSpace(times))
			if err != nil || n < 1 {
				return fmt.Errorf("times: want a number from 1 or forever, have %q", times)
			}
			r.Times = n
		}
	}
	if rest != "" {
		return fmt.Errorf("reply: want when or times, have %q", rest)
	}
	s := p.script()
	s.Replies = append(s.Replies, r)
	return nil
}

func condition(text string) (when func(*Request) bool, rest string, err error) {
	what, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if what == "tools" {
		if rest, ok := strings.CutPrefix(rest, "none"); ok {
			return NoTools, strings.TrimSpace(rest), nil
		}
		return nil, "", errors.New("when tools: only none can follow")
	}
	contains := map[string]func(string) func(*Request) bool{
		"user": UserContains, "result": ResultContains, "system": SystemContains,
	}[what]
	if contains == nil {
		return nil, "", fmt.Errorf("when: want user, result, system or tools, have %q", what)
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return nil, "", fmt.Errorf("when %s: want a quoted string, have %q", what, rest)
	}
	s, err := strconv.Unquote(quoted)
	if err != nil {
		return nil, "", fmt.Errorf("when %s: %s: %w", what, quoted, err)
	}
	return contains(s), strings.TrimSpace(rest[len(quoted):]), nil
}

// endStep adds the step whose text is complete now.
func (p *parser) endStep() error {
	word, text := p.word, p.text
	p.word, p.text = "", ""
	if word == "" {
		return nil
	}
	r := p.reply()
	if err := refusalWord(r, word, text); !errors.Is(err, errNotMine) {
		return err
	}
	s, err := parseStep(word, text)
	if err != nil {
		return err
	}
	if r.Status != 0 && r.Status != http.StatusOK {
		return fmt.Errorf("%s: a reply with status %d has no steps", word, r.Status)
	}
	r.Steps = append(r.Steps, s)
	return nil
}

var errNotMine = errors.New("not a word of a refusal")

func refusalWord(r *Reply, word, text string) error {
	switch word {
	case "status":
		code, message, _ := strings.Cut(text, " ")
		n, err := strconv.Atoi(code)
		if err != nil || n < 200 || n > 599 {
			return fmt.Errorf("status: want a number from 200 to 599, have %q", code)
		}
		if len(r.Steps) > 0 && n != http.StatusOK {
			return fmt.Errorf("status %d: the reply has steps already", n)
		}
		r.Status, r.Message = n, message
	case "code":
		r.Code = strings.TrimSpace(text)
	case "body":
		r.Body = text
	case "header":
		name, value, ok := strings.Cut(text, ":")
		if !ok {
			return fmt.Errorf("header: want NAME: VALUE, have %q", text)
		}
		if r.Header == nil {
			r.Header = http.Header{}
		}
		r.Header.Add(strings.TrimSpace(name), strings.TrimSpace(value))
	default:
		return errNotMine
	}
	return nil
}

func parseStep(word, text string) (Step, error) {
	switch word {
	case "text":
		return Text(text), nil
	case "words":
		return Words(text), nil
	case "think":
		return Think(text), nil
	case "redacted":
		return Redacted(), none(word, text)
	case "call", "rawcall":
		return parseCall(word, text)
	case "usage":
		return parseUsage(text)
	case "finish":
		if text = strings.TrimSpace(text); text == "" {
			return Step{}, errors.New("finish: want a reason, such as stop")
		}
		return Finish(model.Finish(text)), nil
	case "delay":
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			return Step{}, fmt.Errorf("delay: want a duration such as 20ms, have %q", text)
		}
		return Delay(d), nil
	case "comment":
		return Comment(text), nil
	case "garbage":
		return Garbage(text), nil
	case "error":
		kind, message, _ := strings.Cut(text, " ")
		if kind == "" {
			return Step{}, errors.New("error: want a kind, such as overloaded_error")
		}
		return Error(kind, message), nil
	case "cut":
		return parseAfter(stepCut, word, text)
	case "reset":
		return parseAfter(stepReset, word, text)
	case "stall":
		return parseAfter(stepStall, word, text)
	}
	return Step{}, fmt.Errorf("unknown word %q: want text, words, think, redacted, call, rawcall, usage, finish, delay, comment, garbage, error, cut, reset, stall, status, code, body or header", word)
}

func none(word, text string) error {
	if strings.TrimSpace(text) != "" {
		return fmt.Errorf("%s: nothing can follow, have %q", word, text)
	}
	return nil
}

func parseAfter(kind stepKind, word, text string) (Step, error) {
	s := Step{kind: kind}
	if text = strings.TrimSpace(text); text == "" {
		return s, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return s, fmt.Errorf("%s: want a number of events from 1, have %q", word, text)
	}
	s.after = n
	return s, nil
}

func parseCall(word, text string) (Step, error) {
	name, args, _ := strings.Cut(strings.TrimSpace(text), " ")
	name, id, _ := strings.Cut(name, "#")
	if name == "" {
		return Step{}, fmt.Errorf("%s: want NAME ARGUMENTS, have %q", word, text)
	}
	args = strings.TrimSpace(args)
	if v := jsontext.Value(args); word == "call" && (!v.IsValid() || v.Kind() != '{') {
		return Step{}, fmt.Errorf("call %s: the arguments are not a JSON object: %q", name, args)
	}
	return CallID(id, name, args), nil
}

func parseUsage(text string) (Step, error) {
	var u model.Usage
	fields := map[string]*int64{
		"input": &u.Input, "cache_read": &u.CacheRead, "cache_write": &u.CacheWrite,
		"output": &u.Output, "reasoning": &u.Reasoning,
	}
	pairs := strings.Fields(text)
	if len(pairs) == 0 {
		return Step{}, errors.New("usage: want KEY=TOKENS, such as input=100")
	}
	for _, pair := range pairs {
		key, value, _ := strings.Cut(pair, "=")
		field := fields[key]
		if field == nil {
			return Step{}, fmt.Errorf("usage: unknown key %q: want input, cache_read, cache_write, output or reasoning", key)
		}
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 0 || n > math.MaxInt32 {
			return Step{}, fmt.Errorf("usage: %s: want a number of tokens, have %q", key, value)
		}
		*field = n
	}
	return Usage(u), nil
}
