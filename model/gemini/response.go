package gemini

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/wire"
)

// response is a GenerateContentResponse: a reply or a piece of one.
type response struct {
	Candidates []candidate `json:"candidates"`
	Feedback   struct {
		Reason  string `json:"blockReason"`
		Message string `json:"blockReasonMessage"`
	} `json:"promptFeedback"`
	Usage jsontext.Value `json:"usageMetadata"`
	Model string         `json:"modelVersion"`
	ID    string         `json:"responseId"`
	Error jsontext.Value `json:"error"`
}

type candidate struct {
	Index   wire.Count `json:"index"`
	Content struct {
		Parts []jsontext.Value `json:"parts"`
	} `json:"content"`
	Finish  string `json:"finishReason"`
	Message string `json:"finishMessage"`
}

// wirePart is a part of a content, as far as it has a neutral form.
type wirePart struct {
	Text      *string       `json:"text"`
	Thought   bool          `json:"thought"`
	Signature string        `json:"thoughtSignature"`
	Call      *functionCall `json:"functionCall"`
}

type functionCall struct {
	ID   string         `json:"id"`
	Name string         `json:"name"`
	Args jsontext.Value `json:"args"`
}

// arguments returns the text of the arguments, which some gateways send as a
// string.
func (f *functionCall) arguments() string {
	switch f.Args.Kind() {
	case '"':
		var s string
		if json.Unmarshal(f.Args, &s, lenient) == nil && isObject(s) {
			return s
		}
	case '{':
		return string(bytes.TrimSpace(f.Args))
	}
	return "{}"
}

// readUsage reads usageMetadata: what was read from a cache is part of the
// prompt, and what was thought is not part of the candidates.
func readUsage(data []byte) model.Usage {
	var u struct {
		Prompt     wire.Count `json:"promptTokenCount"`
		ToolPrompt wire.Count `json:"toolUsePromptTokenCount"`
		Cached     wire.Count `json:"cachedContentTokenCount"`
		Candidates wire.Count `json:"candidatesTokenCount"`
		Thoughts   wire.Count `json:"thoughtsTokenCount"`
	}
	if len(data) == 0 || json.Unmarshal(data, &u, lenient) != nil {
		return model.Usage{}
	}
	return model.Usage{
		Input: int64(u.Prompt + u.ToolPrompt), CacheRead: int64(u.Cached),
		Output: int64(u.Candidates + u.Thoughts), Reasoning: int64(u.Thoughts),
	}
}
