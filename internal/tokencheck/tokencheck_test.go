package tokencheck

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/window"
)

// texts are a paragraph of each kind, written for this test; each is varied so
// that no two rounds are the same.
var texts = map[string]string{
	"English": "The night train from the coast was late again, so number %d waited on the platform with a book that nobody had finished. " +
		"It told of a harbour where every boat had a name, of storms that came without warning, and of people who kept their promises anyway. " +
		"When the lights of the engine finally showed behind the hill, most of the passengers had fallen asleep on their luggage.\n",
	"code": "func (q *queue%d) push(item job) error {\n\tq.mu.Lock()\n\tdefer q.mu.Unlock()\n\tif len(q.items) >= q.limit {\n\t\treturn fmt.Errorf(\"queue is full: %%d items\", len(q.items))\n\t}\n" +
		"\tfor i, other := range q.items {\n\t\tif other.priority < item.priority {\n\t\t\tq.items = slices.Insert(q.items, i, item)\n\t\t\treturn nil\n\t\t}\n\t}\n\tq.items = append(q.items, item)\n\treturn nil\n}\n\n",
	"Japanese": "第%d章では、港町で働く三人の船大工の話をします。朝早くから木を削り、昼には潮の香りのする食堂で魚を食べ、夜になると古い歌を歌いました。" +
		"ある日、見たことのない船が沖に現れ、町の人々は何が運ばれてきたのかと話し合いました。けれども船は何も言わずに三日後に去っていきました。\n",
	"Chinese": "第%d次会议讨论了新图书馆的设计方案。建筑师希望保留院子里的老树，并且让每一层都有充足的阳光。市民代表担心预算不够，" +
		"建议先修好屋顶和楼梯，其余部分明年再继续。最后大家同意在下个月公布详细的时间表，并邀请学校的老师和学生参加讨论。\n",
	"JSON": `{"id":%d,"kind":"reading","station":"north-harbour","values":[12.5,13.25,11.75],"ok":true,"note":null,"tags":["tide","wind"],` +
		`"position":{"lat":54.3213,"lon":10.1349},"taken_at":"2026-03-04T05:06:07Z","operator":{"name":"Ines","shift":2}}` + "\n",
}

func TestEstimatesAfterCalibrationAreWithinATenth(t *testing.T) {
	for _, encoding := range []tokenizer.Encoding{tokenizer.O200kBase, tokenizer.Cl100kBase} {
		codec, err := tokenizer.Get(encoding)
		if err != nil {
			t.Fatal(err)
		}
		for kind, text := range texts {
			worst, start := deviations(t, codec, text)
			t.Logf("%s, %s: %.1f %% off before the first count, at most %.1f %% after the third", encoding, kind, 100*start, 100*worst)
			if worst > 0.1 {
				t.Errorf("%s, %s: an estimate is %.1f %% off", encoding, kind, 100*worst)
			}
		}
	}
}

// deviations runs a conversation of one kind of text of which each prompt is
// estimated and then counted, and returns the largest error after the third
// count and the error of the first estimate. Nothing is taken from counts but
// how many characters make a token: each prompt is estimated whole.
func deviations(t *testing.T, codec tokenizer.Codec, text string) (worst, first float64) {
	t.Helper()
	var ratio window.Ratio
	var weight window.Weight
	tokens := 0
	for round := range 40 {
		m := message.NewUser(strings.Repeat(fmt.Sprintf(text, round), 1+round%4))
		weight = weight.Add(window.Message(m))
		n, err := codec.Count(m.Text())
		if err != nil {
			t.Fatal(err)
		}
		tokens += n + 4 // what stands around a message
		off := math.Abs(float64(weight.Tokens(ratio.Value())-tokens)) / float64(tokens)
		switch {
		case round == 0:
			first = off
		case round >= 3:
			worst = max(worst, off)
		}
		ratio = ratio.Observe(weight, tokens)
	}
	return worst, first
}
