package rondo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// blindModel is a fakeModel that sees no images.
type blindModel struct{ *fakeModel }

func (b blindModel) Profile() *model.Profile {
	p := *b.fakeModel.Profile()
	p.Model, p.NoImages = "blind", true
	return &p
}

func question(parts ...message.Part) *model.Request {
	h, _ := message.Normalise([]*message.Message{{Role: message.User, Parts: parts}})
	return &model.Request{History: h}
}

// Contract L9: an auxiliary task has a chain of its own before the run's model.
func TestAsideAsksItsOwnModelFirstThenTheRuns(t *testing.T) {
	for _, c := range []struct {
		name       string
		own        *fakeModel
		want       string
		calls      int
		inputsMain int64
	}{
		{"its own answers", &fakeModel{steps: []step{says("own words")}}, "own words", 3, 30},
		{"its own fails", &fakeModel{steps: []step{fails(model.InvalidRequest)}}, "main words", 4, 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			main := &fakeModel{steps: []step{asks("c1 ask"), says("main words"), says("done")}}
			if c.own.steps[0] != nil && c.want == "own words" {
				main.steps = []step{asks("c1 ask"), says("done")}
			}
			aside := rondo.Aside{Model: c.own, Effort: "low"}
			ask := newTool("ask", true, func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				reply, err := aside.Ask(ctx, question(message.Text("what is it?")))
				if err != nil {
					return tool.Result{}, err
				}
				return tool.Result{Text: reply.Message.Text()}, nil
			})
			res, err := newAgent(t, rondo.Options{Model: main, Tools: []*tool.Tool{ask}}).Run(t.Context(), rondo.Request{Text: "go"})
			if err != nil {
				t.Fatal(err)
			}
			if got := shape(res.Messages); !strings.Contains(got, "tool:"+c.want) || res.FinalResponse != "done" {
				t.Errorf("got %s", got)
			}
			if res.APICalls != c.calls || res.Usage.Input != c.inputsMain {
				t.Errorf("the books have %d calls and %d input tokens, want %d and %d", res.APICalls, res.Usage.Input, c.calls, c.inputsMain)
			}
			if got := c.own.requests[0].Effort; got != "low" {
				t.Errorf("asked with effort %q", got)
			}
		})
	}
}

func TestAsideKeepsToItsTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		a := rondo.Aside{Model: &fakeModel{steps: []step{stalls("x")}}, Timeout: 7 * time.Second}
		_, err := a.Ask(t.Context(), question(message.Text("hm?")))
		if err == nil || err.Error() != "fake/m did not answer within 7s" || time.Since(began) != 7*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		_, err = rondo.Aside{Model: &fakeModel{steps: []step{stalls("x")}}}.Ask(t.Context(), question(message.Text("hm?")))
		if err == nil || !strings.Contains(err.Error(), rondo.DefaultAsideTimeout.String()) {
			t.Errorf("without a timeout of its own: %v", err)
		}
	})
}

func TestAsidePassesOverModelsThatSeeNoImages(t *testing.T) {
	seeing := &fakeModel{steps: []step{says("a cat")}}
	blind := blindModel{&fakeModel{steps: []step{says("never asked")}}}
	req := question(message.Text("what is it?"), message.Image("image/png", "iVBORw0KGgo="))
	if _, err := (rondo.Aside{Model: blind}).Ask(t.Context(), req); !errors.Is(err, rondo.ErrBlind) {
		t.Errorf("with a blind model alone: %v", err)
	}
	if blind.calls != 0 {
		t.Error("the blind model was asked")
	}
	reply, err := rondo.Aside{Model: seeing}.Ask(t.Context(), req)
	if err != nil || reply.Message.Text() != "a cat" {
		t.Errorf("got %v, %v", reply, err)
	}
	if _, err := (rondo.Aside{}).Ask(t.Context(), req); err == nil {
		t.Error("nobody was asked, and that is no error")
	}
}
