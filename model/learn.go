package model

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Bounds of what is believed of numbers in messages, in tokens.
const (
	minWindow = 512
	maxWindow = 100_000_000
	// minOutput is the least room for a reply that is worth lowering it to.
	minOutput = 1024
)

// number stands for a number in the patterns below.
const number = `([0-9][0-9,_]*[0-9]|[0-9])`

// The patterns of what a message gives away, tried in order.
var (
	windowPatterns = compile(
		`maximum (?:context|prompt|input) length (?:is|of) N`,
		`with N maximum context length`,
		`context (?:window|size|length|limit)(?: of| is|:|=)? \(?N tokens`,
		`context (?:window|limit) of N`,
		`tokens? > N maximum`,
		`exceed context limit: [0-9,]+ \+ [0-9,]+ > N`,
		`maximum number of (?:input )?tokens(?: allowed)?:? \(?N`,
		`model token limit:? N`,
		`max_model_len(?: of| is|:|=)? ?\(?N`,
		`range of input length should be \[[0-9]+, ?N\]`,
		"max_new_tokens`? must be <= N",
		`context length of only N`,
		`must have less than N tokens`,
		`(?:exceeds?|exceeded)(?: the)? (?:maximum|limit|max_prompt_tokens)(?: of)? N`,
		`maximum (?:is |of )?N tokens`,
		`max seq len exceeded: N`,
		`max_seq_len[: ]+N`,
		`exceeds? (?:the )?model limit of N`,
	)
	outputPatterns = compile(
		`at most N (?:completion|output) tokens`,
		`max_(?:completion_|output_)?tokens:? [0-9,]+ > N`,
		"max_(?:completion_|output_)?tokens[`' ]+must be (?:less than or equal to|<=|at most) [`']?N",
		`range of max_(?:completion_|output_)?tokens (?:should be|is) \[[0-9]+, ?N\]`,
		`max_(?:completion_|output_)?tokens.{0,80}expected a value <= N`,
		`max_(?:completion_|output_)?tokens.{0,80}maximum (?:value |allowed value )?(?:is|of) N`,
		`can only afford N`,
	)
	// Gemini's range is open at its end.
	openOutputPattern = compile(`maxoutputtokens.{0,120}to N \(exclusive\)`)
	// inputPatterns find how long the prompt itself is.
	inputPatterns = compile(
		`exceed context limit: N \+`,
		`N (?:tokens )?(?:in the messages|in your prompt|from (?:the )?input|of text input)`,
		`N (?:input|inputs|prompt) tokens`,
	)
	overLimit = compile(`request too large.*limit N, (?:used [0-9,]+, )?requested N`)
)

// compile compiles patterns when they are first needed: most programs never
// meet an error, and compiling costs more than the rest of a start.
func compile(patterns ...string) func() []*regexp.Regexp {
	return sync.OnceValue(func() []*regexp.Regexp {
		out := make([]*regexp.Regexp, len(patterns))
		for i, p := range patterns {
			out[i] = regexp.MustCompile(strings.ReplaceAll(p, "N", number))
		}
		return out
	})
}

// find returns the number that the first of the patterns finds in text, or 0.
func find(patterns func() []*regexp.Regexp, text string) int {
	for _, re := range patterns() {
		if m := re.FindStringSubmatch(text); m != nil {
			return toInt(m[1])
		}
	}
	return 0
}

func toInt(digits string) int {
	n, err := strconv.Atoi(strings.NewReplacer(",", "", "_", "").Replace(digits))
	if err != nil {
		return 0
	}
	return n
}

// largerThanLimit reports whether text says that the one request is larger than
// what a rate limit lets through at all, which no waiting changes.
func largerThanLimit(text string) bool {
	m := overLimit()[0].FindStringSubmatch(text)
	return m != nil && toInt(m[2]) > toInt(m[1])
}

// learn takes window and cap from what was said.
func (e *Error) learn(s *said, text string) {
	switch e.Class {
	case ContextOverflow:
		window := s.window
		if window == 0 {
			window = find(windowPatterns, text)
		}
		if window < minWindow || window > maxWindow {
			return
		}
		e.LearnedWindow = window
		if input := find(inputPatterns, text); input > 0 && window-input >= minOutput {
			e.LearnedMaxOutput = window - input
		}
	case InvalidRequest, Billing:
		n := find(outputPatterns, text)
		if m := openOutputPattern()[0].FindStringSubmatch(text); m != nil {
			n = toInt(m[1]) - 1
		}
		if n > 0 && n <= maxWindow {
			e.LearnedMaxOutput = n
		}
	}
}

// Action names what is best done about e, in one word of these: "compress" the
// history, "lower_max_output" to LearnedMaxOutput, "wait" and try again,
// "retry" at once, "refresh_key", go to a "fallback" model, "fail".
func (e *Error) Action() string {
	if e.LearnedMaxOutput > 0 {
		return "lower_max_output"
	}
	switch e.Class {
	case ContextOverflow:
		return "compress"
	case RateLimit, Overloaded, ServerError, Timeout, StreamTruncated, EmptyResponse:
		if e.RetryAfter > LongestWait {
			return "fallback"
		}
		if e.Class == RateLimit || e.RetryAfter > 0 {
			return "wait"
		}
		return "retry"
	case Auth:
		return "refresh_key"
	case Billing, ModelNotFound, ContentFilter:
		return "fallback"
	}
	return "fail"
}
