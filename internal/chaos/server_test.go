package chaos

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// key is what all runs show their servers, which repeat it wherever they can.
// It must not be seen anywhere else.
const key = "correct-horse-battery-staple"

// dice make the choices of one part of a run.
type dice struct{ *rand.Rand }

func newDice(seed, part uint64) dice { return dice{rand.New(rand.NewPCG(seed, part))} }

// chance reports whether something happens that happens percent of the time.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

// span returns a time up to most, small ones as often as large ones. Times are
// odd, so that no two things happen at the same instant: their order would not
// be certain.
func (d dice) span(most time.Duration) time.Duration {
	return time.Duration(float64(most)*d.Float64()*d.Float64()*d.Float64()) + time.Duration(d.IntN(999999)+1)
}

func pick[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// server returns what makes up the replies of a server, which is more or less
// reliable.
func (d dice) server() func(*modeltest.Request) modeltest.Reply {
	bad := pick(d, 5, 30, 30, 60, 97)
	return func(r *modeltest.Request) modeltest.Reply {
		if d.chance(bad) {
			return d.fault(r)
		}
		return d.reply(r)
	}
}

// reply is a reply that is whole, though it may be odd.
func (d dice) reply(r *modeltest.Request) modeltest.Reply {
	var steps []modeltest.Step
	if d.chance(25) {
		steps = append(steps, modeltest.Think("Let me think about it."), d.delay())
	}
	if len(r.Tools) > 0 && d.chance(60) {
		return modeltest.Say(append(steps, d.calls()...)...)
	}
	steps = append(steps, d.words()...)
	if d.chance(15) {
		steps = append(steps, modeltest.Finish(pick(d, model.FinishLength, model.FinishContentFilter, model.FinishToolCalls, model.FinishPause)))
	}
	return modeltest.Say(steps...)
}

func (d dice) delay() modeltest.Step { return modeltest.Delay(d.span(20 * time.Second)) }

func (d dice) words() []modeltest.Step {
	steps := []modeltest.Step{modeltest.Words("Here is what I found so far: "), d.delay()}
	if d.chance(30) {
		steps = append(steps, modeltest.Comment("still here"), d.delay())
	}
	return append(steps, modeltest.Words("nothing that matters 漢字."))
}

// calls are up to four tool calls, some of them odd.
func (d dice) calls() []modeltest.Step {
	var steps []modeltest.Step
	if d.chance(50) {
		steps = append(steps, modeltest.Text("I will look."), d.delay())
	}
	for range 1 + d.IntN(4) {
		name := pick(d, "read", "read", "read", "write", "write", "slow", "hang", "fail", "panic", "big", "leak", "Read_tool", "fly")
		args := pick(d, `{"n":1}`, `{"n":2}`, `{"n":3,"s":"x"}`, `{}`, `{"n":"4"}`)
		if d.chance(8) {
			args = pick(d, `{"n":1,}`, `{"n":`, `null`, `[1]`, `{"n":{}}`)
		}
		steps = append(steps, modeltest.Call(name, args))
		if d.chance(30) {
			steps = append(steps, d.delay())
		}
	}
	switch d.IntN(20) {
	case 0:
		steps = append(steps, neverRun, modeltest.Finish(model.FinishLength))
	case 1:
		steps = append(steps, modeltest.Finish(model.FinishStop))
	}
	return steps
}

// neverRun is a call in a reply that is not whole.
var neverRun = modeltest.Call("write", `{"n":99}`)

// fault is a reply that fails: before it begins, or in the middle.
func (d dice) fault(r *modeltest.Request) modeltest.Reply {
	if d.chance(40) {
		return d.refusal(r)
	}
	half := []modeltest.Step{modeltest.Words("Half of an "), d.delay()}
	if d.chance(10) { // whether that spoils the reply is for the adapter to say
		return modeltest.Say(append(half, modeltest.Garbage("{not JSON "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")))...)
	}
	if d.chance(30) {
		half = append(half, neverRun)
	}
	switch d.IntN(9) {
	case 0:
		return modeltest.Say(modeltest.Reset())
	case 1:
		return modeltest.Say(modeltest.Stall())
	case 2:
		return modeltest.Say(append(half, modeltest.Reset())...)
	case 3:
		return modeltest.Say(append(half, modeltest.Stall())...)
	case 4:
		return modeltest.Say(append(half, modeltest.Cut())...)
	case 5:
		return modeltest.Say(append(half, modeltest.Error(pick(d, "overloaded_error", "server_error", "rate_limit_error"), "Trouble with "+key+"."))...)
	case 6:
		return modeltest.Say() // empty
	case 7:
		return modeltest.Say(modeltest.Think("Only thinking."), d.delay())
	}
	body := pick(d, "null", "{}", `{"choices":null}`, `{"error":{"message":"out of order"}}`, "<html><body>Bad gateway</body></html>", "")
	return modeltest.Reply{Status: http.StatusAccepted, Body: body}
}

// refusal is an error status, with what providers put beside it.
func (d dice) refusal(r *modeltest.Request) modeltest.Reply {
	echo := "Incorrect API key provided: " + strings.TrimPrefix(r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"), "Bearer ")
	f := pick(d,
		modeltest.Fail(429, "Slow down."), modeltest.Fail(429, "Slow down."), modeltest.Fail(429, "Slow down."),
		modeltest.Fail(500, "Oops."), modeltest.Fail(502, "Oops."), modeltest.Fail(503, "Oops."), modeltest.Fail(529, "Overloaded."),
		modeltest.Fail(408, "Too slow."), modeltest.Fail(401, echo), modeltest.Fail(403, echo),
		modeltest.Fail(402, "Insufficient credits."), modeltest.Fail(404, "The model does not exist."),
		modeltest.Fail(400, "This model's maximum context length is 128000 tokens."), modeltest.Fail(400, "Your messages are not to our taste."),
		modeltest.Reply{Status: 503, Body: "<html><head><title>503 " + echo + "</title></head></html>", Header: http.Header{"Content-Type": {"text/html"}}},
	)
	if f.Status == 429 || f.Status == 503 {
		if f.Header == nil {
			f.Header = http.Header{}
		}
		name, value := d.retryAfter()
		f.Header.Set(name, value)
	}
	return f
}

// retryAfter is the wait that a provider asks for, in one of the forms in use.
func (d dice) retryAfter() (name, value string) {
	wait := pick(d, 0, time.Second, 7*time.Second, 90*time.Second, time.Hour, 24*time.Hour)
	at := time.Now().Add(wait).UTC()
	switch d.IntN(8) {
	case 0:
		return "Retry-After", at.Format(http.TimeFormat)
	case 1:
		return "Retry-After-Ms", fmt.Sprint(wait.Milliseconds())
	case 2:
		return "X-Ratelimit-Reset-Requests", wait.String()
	case 3:
		return "Anthropic-Ratelimit-Requests-Reset", at.Format(time.RFC3339)
	case 4:
		return "Retry-After", pick(d, "soon", "-5", "1.5", "", "99999999999999999999")
	case 5:
		return "X-Unrelated", "1"
	}
	return "Retry-After", fmt.Sprint(int(wait.Seconds()))
}
