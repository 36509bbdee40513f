package chat

import (
	"errors"
	"strings"

	"github.com/rondo-engine/rondo/model"
)

// adaptation is a set of ways in which an endpoint turned out to differ from
// its profile.
type adaptation uint32

const (
	withoutStream adaptation = 1 << iota
	withoutStreamOptions
	withoutEffort
	withoutTemperature
	otherMaxTokens
)

// refusals are the words by which servers refuse a parameter. It goes along
// with a parameter's name.
var refusals = []string{
	"unsupported", "not supported", "not support", "n't support", "unrecognized", "unrecognised", "unknown",
	"not permitted", "not allowed", "not available", "unexpected", "deprecated", "cannot be used", "must be verified",
}

// parameters are what can be left out or said otherwise, by the words that name
// them in errors. A longer name stands before one that it holds.
var parameters = []struct {
	names   []string
	adapted adaptation
}{
	{[]string{"stream_options", "include_usage"}, withoutStreamOptions},
	{[]string{"max_tokens", "max_completion_tokens"}, otherMaxTokens},
	{[]string{"reasoning_effort", "reasoning effort", "reasoning.effort"}, withoutEffort},
	{[]string{"temperature"}, withoutTemperature},
	{[]string{"stream"}, withoutStream},
}

// learn returns what to do otherwise after err, 0 when nothing is known.
func learn(err error) adaptation {
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Class != model.InvalidRequest || e.Status < 400 || e.Status > 499 || e.Err == nil {
		return 0
	}
	text := strings.ToLower(e.Code + " " + e.Err.Error())
	if !containsAny(text, refusals) {
		return 0
	}
	for _, p := range parameters {
		if containsAny(text, p.names) {
			return p.adapted
		}
	}
	return 0
}

func containsAny(text string, words []string) bool {
	for _, w := range words {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}

// streams reports whether a streamed reply is asked for.
func streams(p *model.Profile, req *model.Request, a adaptation) bool {
	return !p.NoStream && !req.NoStream && a&withoutStream == 0
}
