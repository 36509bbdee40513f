package tool

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Scenario 45.
func TestParseArgumentsRepairsWhatIsClear(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{"object", `{"path":"a"}`, `{"path":"a"}`},
		{"space around", " {\"a\":1}\n", `{"a":1}`},
		{"nothing", "", `{}`},
		{"space", " \n", `{}`},
		{"null", "null", `{}`},
		{"string of an object", `"{\"a\":1}"`, `{"a":1}`},
		{"empty string", `""`, `{}`},
		{"array of one object", `[{"a":1}]`, `{"a":1}`},
		{"trailing comma", `{"a":1,}`, `{"a":1}`},
		{"missing brace", `{"a":"x"`, `{"a":"x"}`},
		{"two missing brackets", `{"a":["x"`, `{"a":["x"]}`},
		{"surplus brace", `{"a":1}}`, `{"a":1}`},
		{"control character", "{\"a\":\"x\ny\"}", `{"a":"x\ny"}`},
		{"single quotes", `{'a':'x'}`, `{"a":"x"}`},
		{"Python's constants", `{"a":True,"b":None}`, `{"a":true,"b":null}`},
		{"code fence", "```json\n{\"a\":1}\n```", `{"a":1}`},
		{"code fence and trailing comma", "```json\n{\"a\":1,}\n```", `{"a":1}`},
		{"sent twice", `{"a":1}{"a": 1}`, `{"a":1}`},
		{"sent after an empty one", `{}{"a":1}`, `{"a":1}`},
		{"missing comma", `{"a":1 "b":2}`, `{"a":1, "b":2}`},
		{"missing commas", "{\"a\":[1 \"x\"\n{}]  'b':True \"c\":-1.5e3}", "{\"a\":[1, \"x\",\n{}],  \"b\":true, \"c\":-1.5e3}"},
		{"invalid UTF-8", "{\"a\":\"\xff\"}", "{\"a\":\"\ufffd\"}"},
		{"duplicate name", `{"a":1,"a":2}`, `{"a":1,"a":2}`},
	} {
		got, err := ParseArguments(tc.raw, false)
		if err != nil || string(got) != tc.want {
			t.Errorf("%s: got %s, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}

// Scenario 46, case 92.
func TestParseArgumentsNamesWhatIsWrong(t *testing.T) {
	for _, tc := range []struct{ name, raw, want string }{
		{"bare word", `{"path": /tmp}`, `at byte 9`},
		{"unknown escape", `{"old":"a\x00b","new":"c"}`, `\x`},
		{"unknown escape, place", `{"old":"a\x00b","new":"c"}`, "before `\\x00b"},
		{"open string", `{"path":"/tm`, `end in the middle`},
		{"ends after a comma", `{"a":1,`, `end in the middle`},
		{"ends after a name", `{"a":`, `end in the middle`},
		{"a member without a value", `{"path": }`, `not valid JSON`},
		{"a bracket of the other kind", `{"n": ]]`, `not valid JSON`},
		{"brackets that cross", `{"a":[1}]`, `not valid JSON`},
		{"stray brace inside", `{"a":{"b":1}},"c":2}`, `,"c":2} follows it`},
		{"two objects", `{"a":1}{"a":2}`, `follows it`},
		{"text behind", `{"a":1} and so on`, `follows it`},
		{"quotes in quotes", `{"c":"echo "hi""}`, `not valid JSON`},
		{"missing colon", `{"a" 1}`, `not valid JSON`},
		{"two commas", `{"a":1,,"b":2}`, `not valid JSON`},
		{"prose", `hello`, `not valid JSON`},
		{"number", `12`, `want a JSON object`},
		{"string", `"hello"`, `want a JSON object`},
		{"array", `[1,2]`, `array of 2 elements`},
		{"deep and cut", `{"a":{"b":[{"c":1`, `end in the middle`},
	} {
		got, err := ParseArguments(tc.raw, false)
		if err == nil {
			t.Errorf("%s: no error, got %s", tc.name, got)
		} else if !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: error %q lacks %q", tc.name, err, tc.want)
		}
	}
}

func TestParseArgumentsRepairsNothingOfACutReply(t *testing.T) {
	for _, raw := range []string{`{"path":"a"`, `{"a":1,}`, `{"path":"a`} {
		if _, err := ParseArguments(raw, true); !errors.Is(err, ErrCut) {
			t.Errorf("%s: got %v, want ErrCut", raw, err)
		}
	}
	if got, err := ParseArguments(`{"a":1}`, true); err != nil || string(got) != `{"a":1}` {
		t.Errorf("whole arguments of a cut reply: got %s, %v", got, err)
	}
}

// longInputs are arguments that need to be repaired, of about n elements.
func longInputs(n int) map[string]struct{ raw, want string } {
	return map[string]struct{ raw, want string }{
		"trailing comma":  {`{"a":[` + strings.Repeat(`{"x":1},`, n) + `]}`, `{"a":[` + strings.Repeat(`{"x":1},`, n-1) + `{"x":1}]}`},
		"control":         {"{\"a\":\"" + strings.Repeat("line\n", n) + "\"}", `{"a":"` + strings.Repeat(`line\n`, n) + `"}`},
		"quotes":          {`{'a':'it\'s "` + strings.Repeat("x", 2*n) + `"'}`, `{"a":"it's \"` + strings.Repeat("x", 2*n) + `\""}`},
		"missing bracket": {`{"a":[` + strings.Repeat(`"x",`, n) + `"x"`, `{"a":[` + strings.Repeat(`"x",`, n) + `"x"]}`},
	}
}

// The time of a repair grows with the length of the input and not with its square:
// eight times the input takes less than thirty times as long, the best of several
// attempts, since the machine may be busy.
func TestParseArgumentsRepairsLongInputQuickly(t *testing.T) {
	const short, long = 6_250, 50_000
	repair := func(raw, want string) time.Duration {
		start := time.Now()
		got, err := ParseArguments(raw, false)
		took := time.Since(start)
		if err != nil || string(got) != want {
			t.Errorf("%.60s… became %.60s…, %v", raw, got, err)
		}
		return took
	}
	few, many := longInputs(short), longInputs(long)
	for name, tc := range many {
		best := time.Duration(1<<63 - 1)
		for range 10 {
			once := repair(few[name].raw, few[name].want)
			if best = min(best, repair(tc.raw, tc.want)); best < 30*max(once, 100*time.Microsecond) {
				best = 0
				break
			}
		}
		if best > 0 {
			t.Errorf("%s: %d bytes took %v", name, len(tc.raw), best)
		}
	}
}

func TestParseArgumentsOfValidInputAllocatesOnce(t *testing.T) {
	raw := `{"path":"` + strings.Repeat("x", 1000) + `"}`
	n := testing.AllocsPerRun(100, func() { _, _ = ParseArguments(raw, false) })
	if n > 1 {
		t.Errorf("%v allocations, want 1", n)
	}
}

func FuzzParseArguments(f *testing.F) {
	for _, seed := range []string{`{"a":1,}`, `{"a":"x`, "```json\n{}", `{'a':True}`, `{}{}`, `"{}"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := ParseArguments(raw, false)
		if err == nil && (syntaxError(string(got)) != nil || got[0] != '{') {
			t.Errorf("%q became %q, which is no JSON object", raw, got)
		}
	})
}
