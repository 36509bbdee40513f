package window

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

//go:embed summary.md
var summaryPrompt string

// Bounds of a summary and of what it is made from.
const (
	minSummary = 600    // tokens
	maxSummary = 10_000 // tokens
	// maxParts is how many parts a transcript is summarised in at most.
	maxParts = 8
)

// shownResults are how many bytes of each result a summariser sees: the most that
// lets the transcript fit into one part, else into few enough.
var shownResults = [...]int{1200, 400, 120, 0}

// transcript writes messages for a summariser, a block each.
func transcript(msgs []*message.Message, shown int, hide func(string) string) []string {
	var blocks []string
	for _, m := range msgs {
		var b strings.Builder
		switch m.Role {
		case message.Tool:
			fmt.Fprintf(&b, "[result of %s, %s]", m.ToolName, orOK(m.Status))
			if shown > 0 {
				b.WriteString("\n" + headTail(m.Text(), shown))
			}
		default:
			fmt.Fprintf(&b, "[%s]", m.Role)
			if text := m.Text(); text != "" {
				b.WriteString("\n" + headTail(text, 8*max(shown, 120)))
			}
			for _, c := range m.Calls() {
				fmt.Fprintf(&b, "\n[calls %s] %s", c.Name, OneLine(c.Arguments, 300))
			}
		}
		for i := range m.Parts {
			if m.Parts[i].Media != nil {
				fmt.Fprintf(&b, "\n[an image or file: %s]", m.Parts[i].Media.MIME)
			}
		}
		blocks = append(blocks, hide(b.String()))
	}
	return blocks
}

func orOK(s message.Status) message.Status {
	if s == "" {
		return message.StatusOK
	}
	return s
}

// summary asks a model for the summary of what is old. It is at most about size
// tokens long. The error wraps ErrSummariser.
func summary(ctx context.Context, v *View, p parts, size int) (string, error) {
	pieces, blocks := inParts(v, p, size)
	if v.BeforeSummary != nil {
		v.BeforeSummary(ctx, strings.Join(blocks, "\n\n"))
	}
	if len(pieces) == 1 {
		return ask(ctx, v, size, p.earlier.body, "Record", pieces[0])
	}
	partial := make([]string, len(pieces))
	for i, piece := range pieces {
		s, err := ask(ctx, v, size, "", fmt.Sprintf("Record, part %d of %d", i+1, len(pieces)), piece)
		if err != nil {
			return "", err
		}
		partial[i] = fmt.Sprintf("Summary of part %d:\n%s", i+1, s)
	}
	return ask(ctx, v, size, p.earlier.body, "Summaries of the parts of one record, in order: make one of them", strings.Join(partial, "\n\n"))
}

// inParts writes what is old as texts that each fit the summariser's window.
func inParts(v *View, p parts, size int) (pieces, blocks []string) {
	room := v.Summariser.Room()
	if room <= 0 {
		room = v.Room
	}
	frame := Text(summaryPrompt) + Text(p.earlier.body) + Text(v.Focus)
	limit := int(float64(room-size)*DefaultCharsPerToken) - frame - 1000
	limit = max(limit*9/10, 2000)
	for _, most := range []int{1, maxParts} {
		for _, shown := range shownResults {
			if most == 1 && shown == 0 {
				continue // parts with results say more than one without
			}
			blocks = transcript(p.old, shown, v.hide)
			if pieces = pack(blocks, limit); len(pieces) <= most {
				return pieces, blocks
			}
		}
	}
	half := maxParts / 2
	gap := fmt.Sprintf("[… %d parts of the record left out …]", len(pieces)-maxParts)
	kept := append(pieces[:half:half], pieces[len(pieces)-half:]...)
	kept[half] = gap + "\n\n" + headTail(kept[half], limit-len(gap))
	return kept, blocks
}

// pack joins blocks to pieces of at most limit weighted characters.
func pack(blocks []string, limit int) []string {
	var pieces []string
	var b strings.Builder
	weight := 0
	for _, block := range blocks {
		w := Text(block) + 2
		if w > limit {
			block = headTail(block, limit/2) // half: characters may count twice
			w = Text(block) + 2
		}
		if weight > 0 && weight+w > limit {
			pieces = append(pieces, b.String())
			b.Reset()
			weight = 0
		}
		b.WriteString(block + "\n\n")
		weight += w
	}
	if weight > 0 || len(pieces) == 0 {
		pieces = append(pieces, b.String())
	}
	return pieces
}

// errUseless says that a model answered, but wrote no summary.
var errUseless = errors.New("there is no summary in what it said")

// ask makes one call of the summariser.
func ask(ctx context.Context, v *View, size int, earlier, title, text string) (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "Summarise in at most about %d words.", size*2/3)
	if v.Focus != "" {
		b.WriteString("\nThe user asks to keep above all what concerns: " + v.hide(v.Focus))
	}
	if earlier != "" {
		b.WriteString("\n\n<earlier_summary>\n" + v.hide(earlier) + "\n</earlier_summary>\n" +
			"Bring this earlier summary up to date with the record that follows it: keep what still holds, move what was finished from Open to Done, drop what is out of date.")
	}
	fmt.Fprintf(&b, "\n\n%s:\n<record>\n%s\n</record>", title, text)
	history, err := (message.History{}).Append(message.NewUser(b.String()))
	if err != nil {
		return "", err
	}
	reply, err := v.Summariser.Ask(ctx, &model.Request{System: strings.TrimSpace(summaryPrompt), History: history, MaxOutputTokens: 2 * size})
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrSummariser, err)
	}
	said := strings.TrimSpace(reply.Message.Text())
	switch {
	case said == "":
		return "", fmt.Errorf("%w: %w: the reply was empty", ErrSummariser, errUseless)
	case reply.Refusal != "" || reply.Finish == model.FinishContentFilter:
		return "", fmt.Errorf("%w: %w: it refused", ErrSummariser, errUseless)
	}
	return v.hide(headTail(said, 5*size)), nil
}
