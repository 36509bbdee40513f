package modeltest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// chat is a request of a conversation that began with the words first and has
// so many assistant messages since.
func chat(first string, assistants int, last string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":"m","messages":[{"role":"user","content":%q}`, first)
	for i := range assistants {
		fmt.Fprintf(&b, `,{"role":"assistant","content":"a%d"},{"role":"user","content":%q}`, i, last)
	}
	return b.String() + "]}"
}

// said asks for a reply in one piece and returns its text, or its status.
func said(t *testing.T, srv *modeltest.Server, body string) string {
	t.Helper()
	status, reply, err := post(t, srv, model.ChatCompletions, body)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(reply, `"content":"`)
	if status != 200 || !ok {
		return fmt.Sprint(status)
	}
	text, _, _ := strings.Cut(rest, `"`)
	return text
}

func TestRepliesByOrder(t *testing.T) {
	srv := start(t, "reply times 2\ntext A\nreply\nstatus 503\nreply\ntext B", modeltest.Options{})
	for i, want := range []string{"A", "A", "503", "B", "500"} {
		if got := said(t, srv, chat("go", 0, "")); got != want {
			t.Errorf("request %d: %q, want %q", i+1, got, want)
		}
	}
	if f := srv.Faults(); len(f) != 1 || !strings.Contains(f[0].Message, "has no reply to request 5") {
		t.Errorf("faults %v, want that the script is over", f)
	}
}

func TestRepliesByHistory(t *testing.T) {
	srv := start(t, "position history\nreply\ntext A\nreply\nstatus 429\nreply\nstatus 503\nreply\ntext B\nreply times forever\ntext C", modeltest.Options{})
	steps := []struct {
		first      string
		assistants int
		want       string
	}{
		{"one", 0, "A"},
		{"one", 0, "A"},
		{"one", 1, "429"},
		{"two", 1, "429"},
		{"one", 1, "503"},
		{"one", 1, "B"},
		{"one", 1, "B"},
		{"two", 1, "503"},
		{"one", 2, "C"},
		{"one", 7, "C"},
		{"one", 0, "A"},
	}
	for i, s := range steps {
		if got := said(t, srv, chat(s.first, s.assistants, "on")); got != s.want {
			t.Errorf("step %d, conversation %s after %d: %q, want %q", i, s.first, s.assistants, got, s.want)
		}
	}
}

func TestRepliesByRule(t *testing.T) {
	srv := start(t, `
		reply when user "bye" times 1
		  text Bye.
		reply when user "bye"
		  text Again?
		reply when system "short"
		  text Short.
		reply
		  text A
		`, modeltest.Options{})
	for i, tt := range []struct{ body, want string }{
		{chat("good bye", 0, ""), "Bye."},
		{chat("go", 0, ""), "A"},
		{chat("go", 1, "bye now"), "Again?"},
		{chat("bye", 1, "on"), "500"}, // the words of an earlier turn
		{`{"model":"m","messages":[{"role":"system","content":"be short"},{"role":"user","content":"x"}]}`, "Short."},
	} {
		if got := said(t, srv, tt.body); got != tt.want {
			t.Errorf("request %d: %q, want %q", i+1, got, tt.want)
		}
	}
}

func TestScriptsByModelAndFunc(t *testing.T) {
	srv := start(t, "", modeltest.Options{Scripts: []modeltest.Script{
		{Model: "m", Func: func(r *modeltest.Request) modeltest.Reply {
			return modeltest.Say(modeltest.Text(fmt.Sprintf("%s after %d", r.LastUser(), r.Assistants())))
		}},
	}})
	if got := said(t, srv, chat("go", 1, "on")); got != "on after 1" {
		t.Errorf("the function said %q", got)
	}
	if got := said(t, srv, `{"model":"x","messages":[{"role":"user","content":"a"}]}`); got != "404" {
		t.Errorf("an unknown model: %q, want 404", got)
	}
}
