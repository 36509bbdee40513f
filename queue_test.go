package rondo

import (
	"strings"
	"testing"
)

func TestSlowListenerGetsAllTextInFewerEvents(t *testing.T) {
	q := newQueue()
	var want strings.Builder
	for i := range 10 * mergeFrom {
		text := string(rune('a' + i%26))
		want.WriteString(text)
		q.put(Event{Type: EventText, Text: text, Seq: int64(i + 1)})
	}
	q.put(Event{Type: EventStep, Seq: int64(10*mergeFrom + 1)})
	q.close()
	var got strings.Builder
	n, last := 0, int64(0)
	for ev := range q.all(t.Context()) {
		if ev.Seq <= last {
			t.Errorf("event %d after %d", ev.Seq, last)
		}
		last = ev.Seq
		got.WriteString(ev.Text)
		n++
	}
	if got.String() != want.String() || n != mergeFrom+1 {
		t.Errorf("%d events with %d bytes of text, want %d with %d", n, got.Len(), mergeFrom+1, want.Len())
	}
}
