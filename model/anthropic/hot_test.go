package anthropic

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// inFull is a decoder that reads each event the long way round.
type inFull struct{ *decoder }

func (d inFull) Event(name string, data []byte, yield func(model.Delta) bool) (bool, error) {
	return d.full(name, data, yield)
}

// sameInFull wants a body to be read the same without the scanners.
func sameInFull(t testing.TB, body string) {
	t.Helper()
	p := testProfile()
	response := func() wire.Response { return wire.Response{Status: 200, Body: strings.NewReader(body)} }
	got := decodeBy(newDecoder(p, nil), p, response())
	want := decodeBy(inFull{newDecoder(p, nil)}, p, response())
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%.2000s\n got %s (%v)\nwant %s (%v)", body, got, got.err, want, want.err)
	}
}

// edgeEvents are beginnings and ends of blocks, and what is scanned of them.
var edgeEvents = []struct {
	event   string
	scanned bool
}{
	{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"f","input":{}}}`, true},
	{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"b","name":"g","input":{},"caller":{"type":"direct"}}}`, true},
	{`{"type": "content_block_start", "index": 1, "content_block": {"id": "a", "input": {}, "name": "\"f\"", "type": "tool_use"}  }`, true},
	{`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","name":"f"}}`, true},
	{`{"type":"content_block_stop","index":0}`, true},
	{`{"type":"content_block_stop","index":1}`, true},
	{`{"type":"content_block_stop","index":"1"}`, false},
	{`{"index":0,"type":"content_block_stop"}`, false},
	{`{"type":"content_block_stop","index":0,"usage":{}}`, false},
	{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{"a":1}}}`, false},
	{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c","name":"f","input":{},"caller":{"type":"code_execution_20250825","tool_id":"t"}}}`, false},
	{`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":null,"name":"f","input":null}}`, false},
	{`{"type":"content_block_start","index":0,"content_block":{"id":"a","name":"f","input":{}}}`, false},
	{`{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"a","name":"f","input":{}}}`, false},
	{`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`, false},
	{`{"type":"content_block_start","index":0}`, false},
	{`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}`, false},
}

func TestEdgesOfBlocksReadTheSameInFull(t *testing.T) {
	const (
		begin = `{"type":"message_start","message":{"id":"m"}}`
		end   = `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`
	)
	for _, first := range edgeEvents {
		if _, _, ok := scanEdge([]byte(first.event)); ok != first.scanned {
			t.Errorf("%s: scanned %v, want %v", first.event, ok, first.scanned)
		}
		for _, second := range edgeEvents {
			for _, third := range edgeEvents {
				sameInFull(t, events(strings.Join([]string{begin, first.event, second.event, third.event, end}, "\n")))
			}
		}
	}
}

// FuzzEdges wants what is scanned to be read as the full reader reads it.
func FuzzEdges(f *testing.F) {
	for i, e := range edgeEvents {
		f.Add(e.event, edgeEvents[(i+4)%len(edgeEvents)].event)
	}
	f.Fuzz(func(t *testing.T, first, second string) {
		if !jsontext.Value(first).IsValid(lenient) || !jsontext.Value(second).IsValid(lenient) {
			return // the scanner trusts what it skips
		}
		one := strings.NewReplacer("\n", " ", "\r", " ")
		sameInFull(t, events(one.Replace(first)+"\n"+one.Replace(second)+"\n"+`{"type":"message_stop"}`))
	})
}
