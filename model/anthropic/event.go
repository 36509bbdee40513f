package anthropic

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// event is one event of a stream. Members that only some events have are zero
// in the others.
type event struct {
	Type    string         `json:"type"`
	Index   wire.Count     `json:"index"`
	Message *reply         `json:"message"`
	Block   jsontext.Value `json:"content_block"`
	Delta   jsontext.Value `json:"delta"`
	Usage   *usage         `json:"usage"`
	Error   jsontext.Value `json:"error"`
}

// reply is a whole message, or what message_start knows of it.
type reply struct {
	Type    string           `json:"type"`
	ID      string           `json:"id"`
	Model   string           `json:"model"`
	Content []jsontext.Value `json:"content"`
	Usage   *usage           `json:"usage"`
	Error   jsontext.Value   `json:"error"`
	ending
}

// ending says why a message ended.
type ending struct {
	StopReason  string         `json:"stop_reason"`
	StopDetails jsontext.Value `json:"stop_details"`
}

// refusal returns the words of the details on why the model refused, if any.
func (e *ending) refusal() string {
	var details struct {
		Category    string `json:"category"`
		Explanation string `json:"explanation"`
	}
	switch err := json.Unmarshal(e.StopDetails, &details, lenient); {
	case err != nil: // none, or of a form that is yet unknown
		return ""
	case details.Explanation != "":
		return details.Explanation
	case details.Category != "":
		return "refused: " + details.Category
	}
	return ""
}

// usage counts tokens as the API does: the three counts of the input exclude
// each other. In message_delta the counts are cumulative.
type usage struct {
	Input      wire.Count `json:"input_tokens"`
	CacheWrite wire.Count `json:"cache_creation_input_tokens"`
	CacheRead  wire.Count `json:"cache_read_input_tokens"`
	Output     wire.Count `json:"output_tokens"`
	Details    struct {
		Thinking wire.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// update takes over what v counts; what v leaves out or has as 0 stays.
func (u *usage) update(v *usage) {
	if v == nil {
		return
	}
	take := func(to *wire.Count, from wire.Count) {
		if from > 0 {
			*to = from
		}
	}
	take(&u.Input, v.Input)
	take(&u.CacheWrite, v.CacheWrite)
	take(&u.CacheRead, v.CacheRead)
	take(&u.Output, v.Output)
	take(&u.Details.Thinking, v.Details.Thinking)
}

func (u *usage) neutral() model.Usage {
	return model.Usage{
		Input:     int64(u.Input + u.CacheWrite + u.CacheRead),
		CacheRead: int64(u.CacheRead), CacheWrite: int64(u.CacheWrite),
		Output: int64(u.Output), Reasoning: int64(u.Details.Thinking),
	}
}

// contentBlock is a content block of a reply or of a request.
type contentBlock struct {
	Type      string         `json:"type"`
	Text      string         `json:"text"`
	Thinking  string         `json:"thinking"`
	Signature string         `json:"signature"`
	ID        string         `json:"id"`
	Name      string         `json:"name"`
	Input     jsontext.Value `json:"input"`
	Caller    jsontext.Value `json:"caller"`
	Citations jsontext.Value `json:"citations"`

	ToolUseID string         `json:"tool_use_id"`
	IsError   bool           `json:"is_error"`
	Content   jsontext.Value `json:"content"`
	Source    *source        `json:"source"`
	Title     string         `json:"title"`
}

// source is where an image or a document comes from.
type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      string `json:"data"`
	URL       string `json:"url"`
}
