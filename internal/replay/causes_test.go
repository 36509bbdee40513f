package replay

import "strings"

// cause is why a request differs from the recorded one.
type cause struct {
	name, why string
	// holds looks at one difference of request i.
	holds func(p *player, i int, d said) bool
}

// marked is a cause that shows in the difference itself.
func marked(mark string) func(*player, int, said) bool {
	return func(_ *player, _ int, d said) bool { return strings.Contains(d.kind+" "+d.text, mark) }
}

// causes are tried in order for what is no reasoning; the first that holds for
// one difference explains all of a request.
var causes = []cause{
	{
		"words-with-results", "What the user says while tools run goes to the model inside the last result: not all providers take a user message behind results.",
		marked("[Theusersaidwhile"),
	},
	{
		"reply-not-kept", "A reply that failed or was empty never enters the history, and the loop asks again; this client kept what there was of it.",
		func(p *player, i int, _ said) bool {
			return i > 0 && (p.strays[i-1] || failed(p.ends[i-1].Reason))
		},
	},
	{
		"thoughts-in-text", "Think tags are taken out of replies; this client sends its model's thoughts back inside of the text.",
		marked("<think>"),
	},
	{
		"twin-calls", "Calls of one reply that are the same in name and arguments run once; the twins are told so.",
		marked("Thisisthesamecall"),
	},
	{
		"image-moved", "An image that a tool returned goes into a user message where the protocol's tool messages hold text only; this server takes both.",
		marked("[image:seebelow]"),
	},
	{
		"beginning-missing", "The recorded history begins with the assistant or with results; a user message was put before it.",
		marked("[thebeginningofthe"),
	},
	{
		"closed-by-another-word", "Results that the user speaks after are closed by an assistant message; this client says OK, rondo says interrupted.",
		marked("[interrupted]"),
	},
	{
		"server-keeps-it", "The client lets the server keep the conversation and sends what is new; rondo sends all.",
		func(p *player, i int, _ said) bool { return p.steps[i].linked },
	},
	{
		"round-of-the-client", "The client added a call and a result of its own between two requests, or offered other tools than before.",
		marked("missing call"),
	},
	{
		"prompt-or-tools-changed", "The client changed the system prompt or the tools in the middle of a turn (a hand-off); in rondo they stay for the turn.",
		func(_ *player, _ int, d said) bool {
			return strings.HasSuffix(d.kind, " system") || strings.HasSuffix(d.kind, " tool")
		},
	},
	{
		"quotes-rewritten", "The recorder wrote plain quotes for the typographic ones of the reply.",
		marked("added assistant I’ll"),
	},
	{
		"text-beside-call", "The client left out what the model said beside its call.",
		marked("added assistant"),
	},
	{
		"items-of-the-server", "Items of server tools go back as they came; this client left some of them out.",
		marked("added item"),
	},
}

// What differs in reasoning alone has causes of its own.
var (
	reasoningMore  = cause{name: "reasoning-more", why: "Reasoning goes back to the model that it came from, with all that it was given; this client left it or a part of it out."}
	reasoningLess  = cause{name: "reasoning-less", why: "The server is none that is known to take reasoning back in chat_completions, so none is sent to it."}
	reasoningOther = cause{name: "reasoning-cut-otherwise", why: "The same reasoning is sent with the state that the server gave; this client sent it without, or in another field."}
	notAsked       = cause{name: "not-asked", why: "The recorded request ends with the model's own words or with an item of the client's protocol: a loop has nothing to ask there."}
)

// explain names the causes of the differences of request i, and returns the
// differences that have none.
func explain(p *player, i int, differences []said) (found []cause, open []said) {
	more, less := false, false
	for _, d := range differences {
		switch op, kind, _ := strings.Cut(d.kind, " "); {
		case !strings.HasPrefix(kind, "reasoning"):
			open = append(open, d)
		case op == "added":
			more = true
		default:
			less = true
		}
	}
	switch {
	case more && less:
		found = append(found, reasoningOther)
	case more:
		found = append(found, reasoningMore)
	case less:
		found = append(found, reasoningLess)
	}
	if len(open) == 0 {
		return found, nil
	}
	for _, c := range causes {
		for _, d := range open {
			if c.holds(p, i, d) {
				return append(found, c), nil
			}
		}
	}
	return found, open
}
