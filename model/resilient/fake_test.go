package resilient_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/resilient"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake answers each call with the next of its answers, and with the last one
// from then on. An answer is text in deltas, each of which is passed on, up to
// a failure or a full stop: "a b." brings two deltas and ends well, "a b
// !timeout" fails after them; "!rate_limit 30s" asks for a wait.
type fake struct {
	profile model.Profile
	answers []string
	// each, if set, sees each call and may answer it.
	each func(ctx context.Context) string

	mu    sync.Mutex
	calls []time.Time
}

func newFake(name string, answers ...string) *fake {
	provider, _, _ := strings.Cut(name, "-")
	return &fake{profile: model.Profile{Provider: provider, Model: name, Account: "acc", BaseURL: "https://" + provider}, answers: answers}
}

func (f *fake) Profile() *model.Profile { return &f.profile }

func (f *fake) next(ctx context.Context) string {
	f.mu.Lock()
	n := len(f.calls)
	f.calls = append(f.calls, time.Now())
	f.mu.Unlock()
	if f.each != nil {
		if a := f.each(ctx); a != "" {
			return a
		}
	}
	return f.answers[min(n, len(f.answers)-1)]
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

func (f *fake) Stream(ctx context.Context, _ *model.Request) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		text, failure, failed := strings.Cut(f.next(ctx), "!")
		var said []string
		for _, w := range strings.Fields(strings.TrimSuffix(text, ".")) {
			if !yield(model.Delta{Kind: model.DeltaText, Text: w}, nil) {
				return
			}
			said = append(said, w)
		}
		if err := ctx.Err(); err != nil {
			yield(model.Delta{}, err)
			return
		}
		if failed {
			yield(model.Delta{}, f.failure(failure))
			return
		}
		reply := &model.Reply{Message: message.NewAssistant(message.Text(strings.Join(said, ""))), Finish: model.FinishStop}
		if strings.HasSuffix(text, "filtered.") {
			reply.Finish, reply.Refusal = model.FinishContentFilter, "I cannot."
		}
		yield(model.Delta{Kind: model.DeltaDone, Reply: reply}, nil)
	}
}

func (f *fake) failure(s string) error {
	class, after, _ := strings.Cut(s, " ")
	if class == "plain" {
		return errors.New("not a model's error")
	}
	e := &model.Error{Op: "stream reply", Class: model.Class(class), Provider: f.profile.Provider, Model: f.profile.Model, RetryAfter: -1}
	if after != "" {
		var err error
		if e.RetryAfter, err = time.ParseDuration(after); err != nil {
			panic(err)
		}
	}
	return e
}

// tell streams one call and writes down what a consumer sees.
func tell(ctx context.Context, m model.Model) (string, error) {
	var b strings.Builder
	for d, err := range m.Stream(ctx, &model.Request{}) {
		if d.Kind == model.DeltaWait {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		if err != nil {
			fmt.Fprintf(&b, "error:%s", model.ClassOf(err))
			return b.String(), err
		}
		switch d.Kind {
		case model.DeltaDone:
			b.WriteString("done:" + d.Reply.Message.Text())
		case model.DeltaReset:
			b.WriteString("reset")
		case model.DeltaRetry:
			fmt.Fprintf(&b, "retry%d:%s:%v", d.Notice.Attempt, d.Notice.Err.Class, d.Notice.Wait)
		case model.DeltaSwitch:
			fmt.Fprintf(&b, "switch:%s:%s", d.Notice.Err.Class, d.Notice.To.Model)
		default:
			b.WriteString(d.Text)
		}
	}
	return b.String(), nil
}

// env has no jitter; its clock is that of the synctest bubble.
var env = resilient.Env{Rand: func() float64 { return 0 }}
