package anthropic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

func marks(body []byte) int { return bytes.Count(body, []byte(`"cache_control"`)) }

func unmarked(body []byte) string { return strings.ReplaceAll(string(body), cacheMark, "") }

func rounds(t testing.TB, n int) message.History {
	msgs := []*message.Message{message.NewUser("go")}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		msgs = append(msgs, message.NewAssistant(thought("hm", "s", ownOrigin()), message.Call(id, "ls", "{}"), message.Call(id+"b", "ls", "{}")), result(id, "ok"), result(id+"b", "ok"))
	}
	return history(t, msgs...)
}

func TestMarks(t *testing.T) {
	ends := message.NewAssistant(message.Text("x"), thought("hm", "s", ownOrigin()))
	tests := []struct {
		name string
		req  model.Request
		set  func(*model.Profile)
		want string // marked system blocks, tools, and the messages
	}{
		{"system and the last three", model.Request{System: "s", Tools: toolSet("a", "b"), History: rounds(t, 2)}, nil, "1 0\nuser: text\nassistant: thinking tool_use tool_use\nuser: tool_result tool_result*\nassistant: thinking tool_use tool_use*\nuser: tool_result tool_result*"},
		{"the last tool without system", model.Request{Tools: toolSet("a", "b"), History: rounds(t, 0)}, nil, "0 1\nuser: text*"},
		{"never on thinking", model.Request{History: history(t, message.NewUser("a"), ends, message.NewUser("b"))}, nil, "0 0\nuser: text*\nassistant: text thinking\nuser: text*"},
		{"never on blocks of the server", model.Request{History: history(t, message.NewUser("a"), message.NewAssistant(opaque(stateBlock, `{"type":"x"}`, ownOrigin())), message.NewUser("b"))}, nil, "0 0\nuser: text*\nassistant: x\nuser: text*"},
		{"none", model.Request{System: "s", History: rounds(t, 1)}, func(p *model.Profile) { p.NoCacheMarks = true }, "0 0\nuser: text\nassistant: thinking tool_use tool_use\nuser: tool_result tool_result"},
		{"the caller's first", model.Request{System: "s", History: rounds(t, 1)}, func(p *model.Profile) {
			p.Extra = map[string]string{"cache_control": `{"type":"ephemeral"}`, "tools": `[{"name":"w","cache_control":{"type":"ephemeral"}}]`}
		}, "1 1\nuser: text\nassistant: thinking tool_use tool_use\nuser: tool_result tool_result*"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := testProfile()
			if tt.set != nil {
				tt.set(p)
			}
			data := mustEncode(t, p, &tt.req)
			b := parseBody(t, data)
			got := fmt.Sprintf("%d %d\n%s", markedBlocks(b.System), markedBlocks(b.Tools), b.outline())
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if n := marks(data); n > 4 {
				t.Errorf("%d marks", n)
			}
		})
	}
}

func markedBlocks(blocks []wireBlock) (n int) {
	for _, b := range blocks {
		if b["cache_control"] != nil {
			n++
		}
	}
	return n
}

// The provider finds a cached prefix only if its bytes come again.
func TestRequestsOfAConversationShareTheirPrefix(t *testing.T) {
	p, cache, tools := testProfile(), new(model.Cache), toolSet("ls")
	full := rounds(t, 20).Messages()
	var last string
	for n := 1; n <= len(full); n++ {
		h := history(t, full[:n]...)
		if len(h.OpenCalls()) > 0 {
			continue
		}
		req := &model.Request{System: "s", Tools: tools, History: h, Cache: cache, Ephemeral: fmt.Sprintf("note %d", n), Effort: "low"}
		cached := mustEncode(t, p, req)
		alone := *req
		alone.Cache = nil
		if anew := mustEncode(t, p, &alone); !bytes.Equal(cached, anew) {
			t.Fatalf("with %d messages, cached and anew differ:\n%s\n%s", n, cached, anew)
		}
		if got := marks(cached); got > 4 {
			t.Fatalf("%d marks with %d messages", got, n)
		}
		now := unmarked(cached)
		note := strings.Index(now, fmt.Sprintf(`,{"type":"text","text":"note %d"`, n))
		if !strings.HasPrefix(now, last) || note < 0 {
			t.Fatalf("with %d messages the prefix has changed:\n%s\n%s", n, last, now)
		}
		last = now[:note]
	}
}

func TestEarlierRequestsKeepTheirBytes(t *testing.T) {
	p, cache := testProfile(), new(model.Cache)
	h := rounds(t, 3)
	first, err := Encode(p, &model.Request{History: h, Cache: cache})
	if err != nil {
		t.Fatal(err)
	}
	before := string(bytes.Join(first, nil))
	for _, m := range []string{"x", "y"} { // two branches out of the same history
		longer := history(t, append(h.Messages()[:len(h.Messages()):len(h.Messages())], message.NewAssistant(message.Text(m)))...)
		mustEncode(t, p, &model.Request{History: longer, Cache: cache})
	}
	if after := string(bytes.Join(first, nil)); after != before {
		t.Errorf("the bytes of an earlier request changed:\n%s\n%s", before, after)
	}
}

func TestACachedRequestCopiesNothingOfTheHistory(t *testing.T) {
	p, cache, tools := testProfile(), new(model.Cache), toolSet("ls")
	big := message.NewUser(strings.Repeat("long ", 100_000))
	req := &model.Request{System: "s", Tools: tools, Cache: cache, History: history(t, big, message.NewAssistant(message.Text("ok")), message.NewUser("b"))}
	mustEncode(t, p, req)
	bytesPerRun := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if _, err := Encode(p, req); err != nil {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if bytesPerRun > 8<<10 {
		t.Errorf("%d bytes allocated for a request with nothing new", bytesPerRun)
	}
}
