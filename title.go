package rondo

import (
	"context"
	_ "embed" // for the instruction
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/store"
)

//go:embed title.md
var titleInstruction string

const (
	// titleInput bounds what of the first message is shown for a title, and
	// titleLimit the title that is taken, in characters.
	titleInput, titleLimit = 2000, 100
	// titleOutput bounds the reply, thinking included, in tokens.
	titleOutput = 1000
	// titleWait is how long Agent.Close waits for titles.
	titleWait = 300 * time.Millisecond
)

// background is what an agent does apart from its runs.
type background struct {
	mu     sync.Mutex
	ctx    context.Context
	cancel context.CancelFunc
	closed bool
	going  sync.WaitGroup
}

// begin runs f on a goroutine of its own, unless the agent is closed.
func (b *background) begin(f func(ctx context.Context)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if b.ctx == nil {
		b.ctx, b.cancel = context.WithCancel(context.Background())
	}
	ctx := b.ctx
	b.going.Go(func() { f(ctx) })
}

// close waits a moment for what goes on, stops it, and waits for its end.
func (b *background) close(moment time.Duration) {
	b.mu.Lock()
	b.closed = true
	cancel := b.cancel
	b.mu.Unlock()
	if cancel == nil {
		return
	}
	late := time.AfterFunc(moment, cancel)
	b.going.Wait()
	late.Stop()
	cancel()
}

// Close waits a moment for what the agent does apart from its runs, such as
// finding titles, and stops it. Whoever closes the store closes the agent first.
// Runs are not concerned; they find no titles any more.
func (a *Agent) Close() { a.background.close(titleWait) }

// entitle has a title found for a new session of a user, while its first turn
// goes on. What it has until then, and if that fails, are the first words.
func (s *Session) entitle(msgs []*message.Message) {
	a := s.agent
	st, ok := a.opts.Store.(store.Retitler)
	if !ok || a.opts.Title.Model == nil || s.parent != "" || s.meta.Title == "" {
		return
	}
	id, first := s.id, s.meta.Title
	var said string
	for _, m := range msgs {
		if m.Role == message.User && said == "" {
			said = m.Text()
		}
	}
	a.background.begin(func(ctx context.Context) {
		title := a.findTitle(ctx, st, id, said)
		if title == "" {
			return
		}
		if now, err := st.Retitle(ctx, id, first, title); err == nil {
			s.title.Store(&now)
		} // else it has the first words
	})
}

// findTitle asks for a title; empty if there is none to be had.
func (a *Agent) findTitle(ctx context.Context, st store.Store, id, said string) string {
	said = a.opts.Secrets.Hide(cutText(said, titleInput))
	history, err := message.History{}.Append(message.NewUser(said))
	if err != nil {
		return ""
	}
	req := &model.Request{System: strings.TrimSpace(titleInstruction), History: history, MaxOutputTokens: titleOutput}
	reply, err := a.opts.Title.ask(ctx, nil, req, func(one aside) { a.bookTitle(ctx, st, id, one) })
	if err != nil || reply.Message == nil {
		return ""
	}
	return cleanTitle(reply.Message.Text())
}

// bookTitle counts what a title took into the session.
func (a *Agent) bookTitle(ctx context.Context, st store.Store, id string, one aside) {
	u := store.Update{Usage: one.usage, Calls: one.calls}
	if one.profile != nil && one.profile.Price != nil {
		u.CostUSD = one.profile.Price.Cost(one.usage)
	}
	_ = st.Append(context.WithoutCancel(ctx), id, nil, u) // a deleted session needs no books
}

// cleanTitle takes the title out of a reply: its first line, without what models
// put around one. What is too long for a title is none.
func cleanTitle(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.Join(strings.Fields(line), " ")
	if rest, ok := strings.CutPrefix(line, "Title:"); ok {
		line = rest
	}
	line = strings.Trim(line, " #*_`\"'“”„«»‘’「」.。")
	if utf8.RuneCountInString(line) > titleLimit {
		return ""
	}
	return strings.ToValidUTF8(line, "")
}

// cutText is the beginning of text, of at most n characters.
func cutText(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
