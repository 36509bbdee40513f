package responses_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/responses"
)

const deltas = 20_000

// textEvents are the text deltas of a long reply, with what the service puts
// around them.
func textEvents() [][]byte {
	events := make([][]byte, deltas)
	for i := range events {
		events[i] = fmt.Appendf(nil, `{"type":"response.output_text.delta","sequence_number":%d,"item_id":"msg_0429c1fcf5cbfa350169fabfe62a9c8197914677ea9a2424a0","output_index":1,"content_index":0,"delta":" word\n","logprobs":[],"obfuscation":"Ab3dE5gH"}`, i)
	}
	return events
}

func feed(tb testing.TB, events [][]byte) {
	d := responses.NewDecoder(profile)
	listen := func(model.Delta) bool { return true }
	for _, data := range events {
		if _, err := d.Event("response.output_text.delta", data, listen); err != nil {
			tb.Fatal(err)
		}
	}
}

// BenchmarkTextDeltas reports what one delta of a reply of 20,000 costs.
func BenchmarkTextDeltas(b *testing.B) {
	events := textEvents()
	b.ReportAllocs()
	for b.Loop() {
		feed(b, events)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/deltas, "ns/delta")
}

func TestADeltaTakesFewAllocations(t *testing.T) {
	events := textEvents()
	if per := testing.AllocsPerRun(3, func() { feed(t, events) }) / deltas; per > 3 {
		t.Errorf("%.2f allocations a delta, want at most 3", per)
	}
}

// BenchmarkRound reports what the request of one more round costs behind a long
// history.
func BenchmarkRound(b *testing.B) {
	const more = 100
	for _, rounds := range []int{10, 1000} {
		b.Run(fmt.Sprint(rounds), func(b *testing.B) {
			msgs := turns(b, rounds+more)
			histories := make([]message.History, more+1)
			for i := range histories {
				histories[i], _ = message.Normalise(msgs[:1+2*(rounds+i)])
			}
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				cache := new(model.Cache)
				body(b, profile, &model.Request{History: histories[0], Cache: cache})
				b.StartTimer()
				for _, h := range histories[1:] {
					if _, err := responses.Encode(profile, &model.Request{History: h, Cache: cache}); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/more, "ns/round")
		})
	}
}

// FuzzChunks holds that how a body is cut into pieces makes no difference, and
// that no body makes the decoder panic or end otherwise than once.
func FuzzChunks(f *testing.F) {
	files, err := filepath.Glob("testdata/decode/*.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		given, _, _ := strings.Cut(string(data), "\n----\n")
		_, body, _ := strings.Cut(given, "\n")
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body string) {
		whole := describe(body, len(body))
		if bytewise := describe(body, 1); bytewise != whole {
			t.Errorf("whole:\n%s\none byte at a time:\n%s", whole, bytewise)
		}
		if n := strings.Count("\n"+whole, "\ndone ") + strings.Count("\n"+whole, "\nerror "); n != 1 {
			t.Errorf("%d ends:\n%s", n, whole)
		}
	})
}

// FuzzItems holds that whatever items come in, the request made of them is JSON,
// and that one read back and made again is the same. The first reading may
// still leave out what cannot be sent, and the second join what that parted.
func FuzzItems(f *testing.F) {
	f.Add(encrypted)
	f.Add(`[{"type":"function_call","call_id":"a","arguments":{"x":1}},{"type":"custom_tool_call_output","call_id":"a","output":[{"type":"input_file","file_id":"f"}]}]`)
	f.Fuzz(func(t *testing.T, items string) {
		msgs, err := responses.ParseItems([]byte(items))
		if err != nil {
			t.Skip()
		}
		again := func(msgs []*message.Message) (sent string, read []*message.Message) {
			h, _ := message.Normalise(msgs)
			b := body(t, profile, &model.Request{History: h})
			var v struct {
				Input json.RawMessage `json:"input"`
			}
			if err := json.Unmarshal(b, &v); err != nil {
				t.Fatal(err)
			}
			read, err := responses.ParseItems(v.Input)
			if err != nil {
				t.Fatalf("what was sent cannot be read: %v\n%s", err, b)
			}
			return string(b), read
		}
		_, msgs = again(msgs)
		second, msgs := again(msgs)
		if third, _ := again(msgs); third != second {
			t.Errorf("second %s\nthird  %s", second, third)
		}
	})
}

// parallelEvents are a reply of n function calls as OpenAI streams it.
func parallelEvents(n int) [][]byte {
	const head = `"response":{"id":"resp_0429c1fcf5cbfa350169fabfe62a9c8197914677ea9a2424a0","object":"response","created_at":1741570283,"status":"%s",` +
		`"error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"model":"gpt-5-2025-08-07","output":[%s],"parallel_tool_calls":true,` +
		`"previous_response_id":null,"reasoning":{"effort":"low","summary":null},"store":false,"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"usage":%s}`
	var events [][]byte
	add := func(kind, format string, args ...any) {
		events = append(events, fmt.Appendf(nil, `{"type":"response.`+kind+`","sequence_number":%d,`+format+`}`, append([]any{len(events)}, args...)...))
	}
	add("created", head, "in_progress", "", "null")
	add("in_progress", head, "in_progress", "", "null")
	var output []string
	for i := range n {
		item := fmt.Sprintf(`{"id":"fc_0429c1fcf5cbfa350169fabfe6%02d","type":"function_call","status":"%%s","arguments":%%q,"call_id":"call_DdmO9pD3xa9XTPNJ32zg2h%02d","name":"read"}`, i, i)
		args := fmt.Sprintf(`{"n":%d}`, i)
		add("output_item.added", `"output_index":%d,"item":%s`, i, fmt.Sprintf(item, "in_progress", ""))
		add("function_call_arguments.delta", `"output_index":%d,"item_id":"fc_0429c1fcf5cbfa350169fabfe6%02d","delta":%q`, i, i, args)
		add("function_call_arguments.done", `"output_index":%d,"item_id":"fc_0429c1fcf5cbfa350169fabfe6%02d","arguments":%q`, i, i, args)
		output = append(output, fmt.Sprintf(item, "completed", args))
		add("output_item.done", `"output_index":%d,"item":%s`, i, output[i])
	}
	add("completed", head, "completed", strings.Join(output, ","), `{"input_tokens":58,"input_tokens_details":{"cached_tokens":0},"output_tokens":96,"output_tokens_details":{"reasoning_tokens":0},"total_tokens":154}`)
	return events
}

// BenchmarkParallelCalls reads a reply of 8 calls.
func BenchmarkParallelCalls(b *testing.B) {
	events := parallelEvents(8)
	listen := func(model.Delta) bool { return true }
	b.ReportAllocs()
	for b.Loop() {
		d := responses.NewDecoder(profile)
		for _, data := range events {
			if _, err := d.Event("", data, listen); err != nil {
				b.Fatal(err)
			}
		}
		if r, err := d.End(); err != nil || len(r.Message.Calls()) != 8 {
			b.Fatal(r, err)
		}
	}
}

func TestItemsAndArgumentsThatCannotBeReadAreCounted(t *testing.T) {
	d := responses.NewDecoder(profile)
	for _, data := range []string{
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","name":"\x"}}`,
		`{"type":"response.output_item.done","output_index":0,"item":null}`,
		`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"\x"}`,
		`{"type":"response.function_call_arguments.done","output_index":0,"arguments":"{}","name":"read"}`,
	} {
		if _, err := d.Event("", []byte(data), func(model.Delta) bool { return true }); err != nil {
			t.Fatal(err)
		}
	}
	_, err := d.End()
	if want := "3 of its events are no JSON"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want one that says %q", err, want)
	}
}
