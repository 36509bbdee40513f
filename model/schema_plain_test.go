package model

import "testing"

func TestPlainSchema(t *testing.T) {
	tests := []struct{ name, schema, want string }{
		{"nothing", ``, ``},
		{"no properties", `{"type":"object","properties":{},"additionalProperties":false}`, ``},
		{
			"what is common stays", `{"$schema":"x","type":"object","properties":{"a":{"type":"string","description":"d","minLength":1,"examples":["x"]}},"required":["a"],"additionalProperties":false}`,
			`{"type":"object","properties":{"a":{"type":"string","description":"d","minLength":1}},"required":["a"]}`,
		},
		{
			"references are resolved", `{"type":"object","properties":{"a":{"$ref":"#/$defs/A","description":"mine"}},"$defs":{"A":{"type":"integer","description":"theirs","minimum":1}}}`,
			`{"type":"object","properties":{"a":{"type":"integer","description":"mine","minimum":1}}}`,
		},
		{
			"recursion ends", `{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object","properties":{"next":{"$ref":"#/$defs/N"}}}}}`,
			`{"type":"object","properties":{"n":{"type":"object","properties":{"next":{"type":"object"}}}}}`,
		},
		{
			"several types", `{"type":"object","properties":{"a":{"type":["string","null"]},"b":{"type":["string","number"]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"anyOf":[{"type":"string"},{"type":"number"}]}}}`,
		},
		{
			"values", `{"type":"object","properties":{"a":{"enum":["x",null]},"b":{"type":"integer","enum":[1,2]},"c":{"const":"k"},"d":{"enum":[1,"x"]},"e":{"enum":[1.5]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","nullable":true,"enum":["x"]},"b":{"type":"integer","description":"One of 1, 2."},"c":{"type":"string","enum":["k"]},"d":{"type":"string","description":"One of \"x\", 1."},"e":{"type":"number","description":"One of 1.5."}}}`,
		},
		{
			"alternatives", `{"type":"object","properties":{"a":{"oneOf":[{"type":"string"},{"type":"null"}]},"b":{"anyOf":[{"type":"string"},{"type":"array"}]}}}`,
			`{"type":"object","properties":{"a":{"type":"string","nullable":true},"b":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}]}}}`,
		},
		{
			"parts", `{"type":"object","properties":{"a":{"allOf":[{"type":"object","properties":{"x":{"type":"string"}},"required":["x"]},{"properties":{"y":{"type":"number"}},"required":["y","z"]}]}}}`,
			`{"type":"object","properties":{"a":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"number"}},"required":["x","y"]}}}`,
		},
		{
			"formats and bounds", `{"type":"object","properties":{"a":{"type":"string","format":"uri"},"b":{"type":"string","format":"date-time"},"c":{"type":"number","exclusiveMinimum":0}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string","format":"date-time"},"c":{"type":"number","minimum":0}}}`,
		},
		{
			"anything", `{"type":"object","properties":{"a":{},"b":true,"c":{"type":"array","items":{}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"},"c":{"type":"array","items":{"type":"string"}}}}`,
		},
		{"required of nothing", `{"type":"object","properties":{"a":{"type":"string"}},"required":["b"]}`, `{"type":"object","properties":{"a":{"type":"string"}}}`},
	}
	for _, tt := range tests {
		got, err := PlainSchema([]byte(tt.schema))
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %v\ngot  %s\nwant %s", tt.name, err, got, tt.want)
		}
	}
	if _, err := PlainSchema([]byte(`[1]`)); err == nil {
		t.Error("an array is taken for a schema")
	}
}

func TestPlainSchemaBoundsReferencesOfReferences(t *testing.T) {
	defs := `"L0":{"type":"string"}`
	for _, d := range []string{"1", "2", "3", "4", "5", "6", "7", "8", "9"} {
		below := `{"$ref":"#/$defs/L` + string(d[0]-1) + `"}`
		defs += `,"L` + d + `":{"type":"object","properties":{"a":` + below + `,"b":` + below + `,"c":` + below + `}}`
	}
	got, err := PlainSchema([]byte(`{"type":"object","properties":{"x":{"$ref":"#/$defs/L9"}},"$defs":{` + defs + `}}`))
	if err != nil || len(got) > 100_000 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// FuzzPlainSchema wants a plain schema to be an object that is plain already.
func FuzzPlainSchema(f *testing.F) {
	f.Add([]byte(`{"type":"object","properties":{"a":{"oneOf":[{"$ref":"#/$defs/A"},{"type":"null"}]},"b":{"enum":[1,"x",null]}},"$defs":{"A":{"allOf":[{"$ref":"#"}],"type":["array","string"]}}}`))
	f.Add([]byte(`{"properties":{"a":{"const":true,"exclusiveMaximum":3,"items":[{"type":"string"}]}},"anyOf":[{"required":["a"]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		plain, err := PlainSchema(raw)
		if err != nil || plain == nil {
			return
		}
		again, err := PlainSchema(plain)
		if err != nil || len(again) != len(plain) { // the order of members may differ
			t.Errorf("%s becomes\n%s and then\n%s, %v", raw, plain, again, err)
		}
	})
}
