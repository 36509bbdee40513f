package web

import (
	"context"
	_ "embed" // for the texts of the tool and for the model that it asks
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

var (
	//go:embed extract.md
	extractText string
	//go:embed extract_prompt.md
	extractPrompt string
)

type extractArgs struct {
	URL      string `json:"url"`
	Question string `json:"question,omitzero" jsonschema:"what you want to know; empty for a summary"`
}

// The bounds of what a model is asked about a page.
const (
	// partBytes is how much of the text goes into one request, maxParts how many
	// requests there are at most, partsAtOnce how many at the same time.
	partBytes   = 48_000
	maxParts    = 8
	partsAtOnce = 3
	// shortText is what is handed over as it is when nothing is asked.
	shortText = 3000
	// answerTokens bounds each answer.
	answerTokens = 2000
	extractTime  = 15 * time.Minute
)

func extractTool(f *fetcher) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "web_extract", Description: strings.TrimSpace(extractText), Toolset: Toolset, ReadOnly: true, Untrusted: true,
		Hidden: f.Closed != "", Timeout: extractTime,
	}, func(ctx context.Context, call tool.Call, a extractArgs) (tool.Result, error) {
		got, err := f.get(ctx, http.MethodGet, a.URL)
		if err != nil {
			return tool.Result{}, err
		}
		if got.media() != nil {
			return tool.Result{}, fmt.Errorf("%s is %s: use web_fetch or vision", got.url.Redacted(), got.kind)
		}
		d, err := got.document(false, true)
		if err != nil {
			return tool.Result{}, err
		}
		return f.extract(ctx, call, a, got, d)
	}))
}

// extract answers the question from the document, or hands it over as it is
// where there is nothing to be asked or nobody who can be.
func (f *fetcher) extract(ctx context.Context, call tool.Call, a extractArgs, got *found, d document) (tool.Result, error) {
	question := strings.TrimSpace(a.Question)
	if f.Extract == nil || got.code >= 400 || d.text == "" || question == "" && len(d.text) <= shortText {
		return got.piece(d, fetchArgs{}), nil
	}
	if question == "" {
		question = "Summarise the page: what it is, what it says, and the facts that matter."
	}
	said, err := f.ask(ctx, call, question, got, d)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{}, err
		}
		res := got.piece(d, fetchArgs{})
		res.Text = fmt.Sprintf("[no model could be asked about the page, so here is its text: %v]\n", err) + res.Text
		return res, nil
	}
	text := got.heading(d.title) + "\n\n" + said
	if !d.whole {
		text += "\n\n[not all of the page was read: " + got.incomplete() + "]"
	}
	return tool.Result{Text: text, Status: got.outcome()}, nil
}

// ask has the model answer from each part of the document, and make one answer
// of those.
func (f *fetcher) ask(ctx context.Context, call tool.Call, question string, got *found, d document) (string, error) {
	pieces, left := parts(d.text)
	if len(pieces) == 1 {
		return f.answer(ctx, fmt.Sprintf("Page: %s\n\nWanted: %s\n\n%s", got.heading(d.title), question, tool.Fence("web_extract", pieces[0])))
	}
	answers, err := f.each(ctx, call, len(pieces), func(i int) string {
		return fmt.Sprintf("Page: %s\n\nWanted: %s\n\nThis is part %d of %d: note down what in it bears on that.\n\n%s",
			got.heading(d.title), question, i+1, len(pieces), tool.Fence("web_extract", pieces[i]))
	})
	if err != nil {
		return "", err
	}
	var notes strings.Builder
	for i, a := range answers {
		fmt.Fprintf(&notes, "Part %d:\n%s\n\n", i+1, a)
	}
	said, err := f.answer(ctx, fmt.Sprintf("Page: %s\n\nWanted: %s\n\nThese are notes on the parts of the page, in order: answer from them.\n\n%s",
		got.heading(d.title), question, tool.Fence("web_extract", notes.String())))
	if err == nil && left > 0 {
		said += fmt.Sprintf("\n\n[the last %d bytes of the text were not read: use web_fetch with start %d]", left, len(d.text)-left)
	}
	return said, err
}

// each asks about all parts, some at a time, and returns the answers in order.
// The first error ends it.
func (f *fetcher) each(ctx context.Context, call tool.Call, n int, prompt func(i int) string) ([]string, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answers := make([]string, n)
	turn := make(chan struct{}, partsAtOnce)
	var wg sync.WaitGroup
	for i := range n {
		turn <- struct{}{}
		call.Progress(fmt.Sprintf("reading part %d of %d", i+1, n))
		wg.Go(func() {
			defer func() { <-turn }()
			if ctx.Err() != nil {
				return
			}
			var err error
			if answers[i], err = f.answer(ctx, prompt(i)); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return answers, context.Cause(ctx)
}

// answer asks the model once.
func (f *fetcher) answer(ctx context.Context, prompt string) (string, error) {
	return say(ctx, f.Extract, extractPrompt, message.Text(prompt))
}

// say asks a model and returns what it says.
func say(ctx context.Context, ask Ask, system string, parts ...message.Part) (string, error) {
	history, err := (message.History{}).Append(&message.Message{Role: message.User, Parts: parts})
	if err != nil {
		return "", err
	}
	reply, err := ask(ctx, &model.Request{System: strings.TrimSpace(system), History: history, MaxOutputTokens: answerTokens})
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(reply.Message.Text())
	switch {
	case reply.Refusal != "":
		return "", errors.New("the model refused: " + reply.Refusal)
	case text == "":
		return "", errors.New("the model's reply was empty")
	}
	return text, nil
}

// parts cuts a text into pieces for single requests, at line ends where there
// are some near, and returns how many bytes are in none of them.
func parts(text string) (pieces []string, left int) {
	for len(text) > 0 && len(pieces) < maxParts {
		end := len(text)
		if end > partBytes {
			end = runeStart(text, partBytes)
			if i := strings.LastIndexByte(text[:end], '\n'); i > partBytes/2 {
				end = i + 1
			}
		}
		pieces = append(pieces, text[:end])
		text = text[end:]
	}
	return pieces, len(text)
}
