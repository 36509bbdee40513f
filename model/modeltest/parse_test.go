package modeltest_test

import (
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model/modeltest"
)

func TestParseTellsWhatIsWrongAndWhere(t *testing.T) {
	tests := []struct{ script, want string }{
		{"", "s: a script needs at least one reply"},
		{"model a", `s: model "a" has no reply`},
		{"model a b\nreply", `s:1: model: want one name, have "a b"`},
		{"model a\nreply\nmodel a\nreply", `s:3: model "a" has a script already`},
		{"# hello\n\ntext Hi.", `s:3: "text" stands before the first reply`},
		{"| on", "s:1: nothing stands above that | could carry on"},
		{"position random\nreply", `s:1: position: want order or history, have "random"`},
		{"reply often", `s:1: reply: want when or times, have "often"`},
		{"reply times 0", `s:1: times: want a number from 1 or forever, have "0"`},
		{`reply when user hello`, `s:1: when user: want a quoted string, have "hello"`},
		{`reply when mood "good"`, `s:1: when: want user, result, system or tools, have "mood"`},
		{"reply when tools many", "s:1: when tools: only none can follow"},
		{"reply\n\nspeak Hi.", `s:3: unknown word "speak": want text,`},
		{"reply\ntext \"open", `s:2: text: "open is not a quoted string`},
		{"reply\ncall", "s:2: call: want NAME ARGUMENTS"},
		{"reply\ncall f [1]", `s:2: call f: the arguments are not a JSON object: "[1]"`},
		{"reply\ncall f {\"a\":\n| 1", `s:2: call f: the arguments are not a JSON object`},
		{"reply\nusage", "s:2: usage: want KEY=TOKENS"},
		{"reply\nusage in=1", `s:2: usage: unknown key "in"`},
		{"reply\nusage input=many", `s:2: usage: input: want a number of tokens, have "many"`},
		{"reply\ndelay 20", `s:2: delay: want a duration such as 20ms, have "20"`},
		{"reply\ncut -1", `s:2: cut: want a number of events from 1, have "-1"`},
		{"reply\nredacted much", `s:2: redacted: nothing can follow, have "much"`},
		{"reply\nstatus 99", `s:2: status: want a number from 200 to 599, have "99"`},
		{"reply\ntext Hi.\nstatus 500", "s:3: status 500: the reply has steps already"},
		{"reply\nstatus 500\ntext Hi.", "s:3: text: a reply with status 500 has no steps"},
		{"reply\nheader Retry-After 3", `s:2: header: want NAME: VALUE, have "Retry-After 3"`},
		{"reply\ncut now\n\nreply\ntext Hi.", `s:2: cut: want a number of events from 1, have "now"`},
		{"reply\nfinish", "s:2: finish: want a reason, such as stop"},
		{"reply\nerror", "s:2: error: want a kind, such as overloaded_error"},
	}
	for _, tt := range tests {
		_, err := modeltest.Parse("s", tt.script)
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%q:\n%v, want\n%s", tt.script, err, tt.want)
		}
	}
}

func TestParseReadsTextsOverLines(t *testing.T) {
	scripts, err := modeltest.Parse("s", "position history\nreply\r\n  text one\r\n  | two\n  |\n  |  three\n  text \"a\\tb\"\nmodel other\nreply times 3\n")
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) != 2 || !scripts[0].ByHistory || scripts[1].Model != "other" || scripts[1].Replies[0].Times != 3 {
		t.Fatalf("scripts %+v", scripts)
	}
	want := []modeltest.Step{modeltest.Text("one\ntwo\n\n three"), modeltest.Text("a\tb")}
	got := scripts[0].Replies[0].Steps
	if len(got) != 2 || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("steps %+v, want %+v", got, want)
	}
}
