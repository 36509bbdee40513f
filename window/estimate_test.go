package window_test

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/window"
)

func TestTextCountsWideCharactersTwice(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "abc": 3, "größer": 6, "привет": 6, "漢字": 4, "かな": 4, "한국": 4, "ｆ": 2, "a漢b": 4, "🙂": 2, "\xff": 1,
	} {
		if got := window.Text(text); got != want {
			t.Errorf("%q weighs %d, want %d", text, got, want)
		}
	}
}

func TestTokensOfThreeCharactersEach(t *testing.T) {
	if got := (window.Weight{Chars: window.Text(strings.Repeat("word ", 600))}).Tokens(window.DefaultCharsPerToken); got != 1000 {
		t.Errorf("3000 characters are %d tokens, want 1000", got)
	}
}

func TestMessageWeighsAllThatIsSent(t *testing.T) {
	plain := window.Message(message.NewUser("hello"))
	for name, more := range map[string]struct {
		part message.Part
		want window.Weight
	}{
		"text":      {message.Text("four"), window.Weight{Chars: 4}},
		"reasoning": {message.Reasoning("four"), window.Weight{Chars: 4}},
		"call":      {message.Call("id", "read", `{"a":1}`), window.Weight{Chars: 12 + 4 + 7}},
		"image":     {message.Part{Kind: message.KindImage, Media: &message.Media{MIME: "image/png", Data: strings.Repeat("A", 1<<20)}}, window.Weight{Media: 1}},
		"state":     {message.Part{Kind: message.KindOpaque, State: &message.State{Data: `{"x":"yyyy"}`}}, window.Weight{Chars: 12}},
	} {
		m := message.NewUser("hello")
		m.Parts = append(m.Parts, more.part)
		if got := window.Message(m).Sub(plain); got != more.want {
			t.Errorf("%s adds %+v, want %+v", name, got, more.want)
		}
	}
}

func TestSizesWeighOnlyWhatIsNew(t *testing.T) {
	a, b, c := message.NewUser("aaa"), message.NewAssistant(message.Text("bb")), message.NewUser("c")
	var s window.Sizes
	for _, msgs := range [][]*message.Message{{a}, {a, b}, {a, b, c}, {a, c}, {b, c}, {}, {a, b}} {
		var want window.Weight
		for _, m := range msgs {
			want = want.Add(window.Message(m))
		}
		if got := s.Sum(msgs); got != want {
			t.Errorf("%d messages weigh %+v, want %+v", len(msgs), got, want)
		}
	}
	msgs := []*message.Message{a, b, c}
	s.Sum(msgs)
	if n := testing.AllocsPerRun(10, func() { s.Sum(msgs) }); n != 0 {
		t.Errorf("a sum that is known allocates %v times", n)
	}
}

func TestRoomLeavesPlaceForTheReply(t *testing.T) {
	for _, c := range []struct{ window, output, maxOutput, want int }{
		{128000, 0, 0, 123904},     // unknown: 4096
		{8000, 0, 0, 7000},         // unknown, small: an eighth
		{200000, 64000, 0, 136000}, // the profile's
		{200000, 64000, 8000, 192000},
		{100000, 100000, 0, 50000}, // at most half
		{0, 0, 0, 0},
	} {
		p := &model.Profile{ContextWindow: c.window, MaxOutput: c.output}
		if got := window.Room(p, c.maxOutput); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func BenchmarkText(b *testing.B) {
	s := strings.Repeat("The quick brown fox. ", 500)
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		window.Text(s)
	}
}
