package tool

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestStartingIsToldOfWhatBeginsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tr trace
		writes := func(key string) Access { return Access{Writes: []string{key}} }
		Execute(t.Context(), []Job{
			tr.sleeper("0", 2*time.Second, writes("/A")), tr.sleeper("1", time.Second, writes("/B")),
			tr.sleeper("2", time.Second, Access{Exclusive: true}),
		}, Options{
			Starting: func(jobs []int) error { tr.add("start%v", jobs); return nil },
			Ended:    func(i int, _ Outcome) { tr.add("end %d", i) },
		})
		got := strings.Join(tr.lines, ", ")
		if want := "start[0 1], +0, +1, -1, end 1, start[], -0, end 0, start[2], +2, -2, end 2"; got != want && got != strings.Replace(want, "+0, +1", "+1, +0", 1) {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestWhatStartingRefusesIsNotRun(t *testing.T) {
	var tr trace
	out := Execute(t.Context(), []Job{
		tr.sleeper("0", 0, Access{Exclusive: true}), tr.sleeper("1", 0, Access{Exclusive: true}),
	}, Options{Starting: func(jobs []int) error { return fmt.Errorf("%d: %w", jobs[0], errors.ErrUnsupported) }})
	if len(tr.lines) > 0 || statuses(out) != "error error" {
		t.Errorf("%v ran; %s", tr.lines, statuses(out))
	}
	if text := out[1].Result.Text; text != "Not run: 1: unsupported operation" || !errors.Is(out[1].Err, errors.ErrUnsupported) || out[1].Ran {
		t.Errorf("outcome %+v", out[1])
	}
}
