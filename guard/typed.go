package guard

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// decideTyped decides on a call of a tool that types into programs that run
// already.
func (g *Guard) decideTyped(ctx context.Context, r Request) Outcome {
	typed := r.Tool.Types(r.Call)
	if typed == nil {
		return Outcome{Allow: true}
	}
	v := g.checker.CheckInput(typed.Command, typed.Dir, typed.Before, typed.Text, typed.Terminal)
	if v.Reason != "" {
		v.Reason = fmt.Sprintf("typed into %s: %s", strings.Join(strings.Fields(typed.Command), " "), v.Reason)
	}
	out := g.decide(ctx, subject{Request: r, Command: typed.Text, Dir: typed.Dir, verdict: v})
	if out.Allow {
		out.Check = func() error {
			if now := r.Tool.Types(r.Call); now == nil || *now != *typed {
				return errors.New("something else was typed before it since it was looked at, so nothing was typed; type it again, or all at once")
			}
			return nil
		}
	}
	return out
}
