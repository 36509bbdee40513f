package rondo

import (
	"context"
	_ "embed" // for the text of the tool
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/store"
	"github.com/rondo-engine/rondo/tool"
)

//go:embed session_search.md
var sessionSearchText string

const sessionSearchName = "session_search"

// The bounds of what session_search shows.
const (
	searchHits     = 10  // messages, if the call names no number
	mostHits       = 50  // messages at most
	searchSide     = 5   // messages before and behind the one asked for
	searchedLength = 600 // characters of a message that is shown
	searchedLine   = 64  // sessions of one line, at most
)

type sessionSearchArgs struct {
	Query   string `json:"query,omitzero"`
	Session string `json:"session,omitzero" jsonschema:"id or title"`
	Around  string `json:"around,omitzero" jsonschema:"id of a message, as in m12"`
	Limit   int    `json:"limit,omitzero"`
}

// SessionSearchTool returns the agent-level tool session_search: the model looks
// up what was said in other sessions of the agent's store, without another
// model's help. Offer it where the store is a store.Searcher; elsewhere the call
// fails.
func SessionSearchTool() *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: sessionSearchName, Description: strings.TrimSpace(sessionSearchText), Toolset: agentToolset, ReadOnly: true, Untrusted: true,
	}, runSessionSearch))
}

func runSessionSearch(ctx context.Context, call tool.Call, a sessionSearchArgs) (tool.Result, error) {
	turn, ok := TurnOf(ctx)
	if !ok {
		return tool.Result{}, fmt.Errorf("%s works in an agent only", sessionSearchName)
	}
	st := turn.phase.run.a.opts.Store
	searcher, ok := st.(store.Searcher)
	if !ok {
		return tool.Result{}, errors.New("this agent keeps no sessions that can be searched")
	}
	look := &lookup{ctx: ctx, st: st, searcher: searcher, self: call.Session, limit: searchHits}
	if a.Limit > 0 {
		look.limit = min(a.Limit, mostHits)
	}
	var err error
	switch {
	case a.Around != "" && a.Session == "":
		err = errors.New("around names a message of a session: give the session, too")
	case a.Session != "" && a.Query != "":
		err = look.line(a.Session, a.Query)
	case a.Session != "":
		err = look.show(a.Session, a.Around)
	case a.Query != "":
		err = look.all(a.Query)
	default:
		err = look.recent()
	}
	return tool.Result{Text: look.out.String()}, err
}

// lookup is one call of session_search.
type lookup struct {
	ctx      context.Context
	st       store.Store
	searcher store.Searcher
	self     string // the session that asks
	limit    int
	out      strings.Builder
}

// all searches every session but the one that asks: what was said there the
// model has before it.
func (l *lookup) all(query string) error {
	hits, err := l.searcher.Search(l.ctx, query, store.SearchOptions{Limit: l.limit + mostHits})
	if err != nil {
		return err
	}
	var others []store.Hit
	for _, h := range hits {
		if h.Session != l.self && len(others) < l.limit {
			others = append(others, h)
		}
	}
	return l.hits(others)
}

// line searches a session and those that it continues.
func (l *lookup) line(ref, query string) error {
	s, err := l.find(ref)
	var hits []store.Hit
	for n := 0; err == nil && n < searchedLine; n++ {
		var found []store.Hit
		found, err = l.searcher.Search(l.ctx, query, store.SearchOptions{Limit: l.limit - len(hits), Session: s.ID})
		if hits = append(hits, found...); len(hits) >= l.limit || s.Parent == "" {
			break
		}
		if err == nil {
			s, err = l.st.Find(l.ctx, s.Parent, "")
		}
	}
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	return l.hits(hits)
}

// hits shows what was found, by session.
func (l *lookup) hits(hits []store.Hit) error {
	if len(hits) == 0 {
		l.out.WriteString("Nothing was found. Fewer or shorter words find more.")
		return nil
	}
	last := ""
	for _, h := range hits {
		if h.Session != last {
			s, err := l.st.Find(l.ctx, h.Session, "")
			if err != nil {
				return err
			}
			l.head(s)
			last = h.Session
		}
		fmt.Fprintf(&l.out, "  %s %s: %s\n", h.MessageID, h.Role, h.Snippet)
	}
	return nil
}

// show prints the messages around one of a session, or its end.
func (l *lookup) show(ref, around string) error {
	s, err := l.find(ref)
	if err != nil {
		return err
	}
	s, msgs, err := l.st.Load(l.ctx, s.ID)
	if _, damaged := errors.AsType[*store.DamagedError](err); err != nil && !damaged {
		return err
	}
	from, to := max(0, len(msgs)-2*searchSide-1), len(msgs)
	if around != "" {
		at := 0
		for at < len(msgs) && msgs[at].ID != around {
			at++
		}
		if at == len(msgs) {
			return fmt.Errorf("session %s has no message %q: its messages are m1 to m%d", s.ID, around, s.Messages)
		}
		from, to = max(0, at-searchSide), min(len(msgs), at+searchSide+1)
	}
	l.head(s)
	for _, m := range msgs[from:to] {
		l.message(m)
	}
	return nil
}

// recent lists the sessions used last.
func (l *lookup) recent() error {
	list, err := l.st.List(l.ctx, store.ListOptions{Limit: l.limit + 1})
	if err != nil {
		return err
	}
	n := 0
	for _, s := range list {
		if s.ID != l.self && n < l.limit {
			l.head(s)
			n++
		}
	}
	if n == 0 {
		l.out.WriteString("There are no other sessions.")
	}
	return nil
}

func (l *lookup) find(ref string) (store.Session, error) {
	s, err := l.st.Find(l.ctx, ref, "")
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("there is no session %q: call %s without arguments to see those used last", ref, sessionSearchName)
	}
	return s, err
}

// head prints what a session is.
func (l *lookup) head(s store.Session) {
	fmt.Fprintf(&l.out, "%s %q, %s to %s, %d messages", s.ID, s.Title, day(s.CreatedAt), day(s.UpdatedAt), s.Messages)
	if s.Parent != "" && s.Relation == store.Compression {
		fmt.Fprintf(&l.out, ", continues %s", s.Parent)
	}
	l.out.WriteString("\n")
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// message prints a message, shortened.
func (l *lookup) message(m *message.Message) {
	text := strings.Join(strings.Fields(m.Text()), " ")
	if utf8.RuneCountInString(text) > searchedLength {
		text = string([]rune(text)[:searchedLength]) + "…"
	}
	for _, c := range m.Calls() {
		text += " <" + c.Name + ">"
	}
	when := ""
	if !m.Time.IsZero() {
		when = " " + day(m.Time)
	}
	fmt.Fprintf(&l.out, "  %s%s %s: %s\n", m.ID, when, m.Role, strings.TrimSpace(text))
}
