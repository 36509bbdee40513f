package builtin

import (
	stdjson "encoding/json"

	"github.com/go-json-experiment/json"

	"github.com/rondo-engine/rondo/internal/approval"
)

// onlyLooks reports whether a call of the shell changes nothing, so that it may
// run while a plan is made.
func onlyLooks(raw stdjson.RawMessage) bool {
	var args struct {
		Command    string `json:"command"`
		Background bool   `json:"background"`
	}
	return json.Unmarshal(raw, &args) == nil && !args.Background && approval.OnlyLooks(args.Command)
}
