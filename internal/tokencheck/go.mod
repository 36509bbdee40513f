module github.com/rondo-engine/rondo/internal/tokencheck

go 1.26.0

require (
	github.com/rondo-engine/rondo v0.0.0
	github.com/tiktoken-go/tokenizer v0.10.0
)

require (
	github.com/dlclark/regexp2/v2 v2.5.1 // indirect
	github.com/go-json-experiment/json v1.27.2 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/kaptinlin/jsonrepair v0.2.15 // indirect
)

replace github.com/rondo-engine/rondo => ../..
