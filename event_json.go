package rondo

import (
	"encoding/json"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// AppendJSON appends the event as the JSON object that `rondo run --json`
// prints: type, session_id and seq, agent for a child's, and the fields of its
// type. Durations are in milliseconds.
func (e *Event) AppendJSON(dst []byte) []byte {
	w := objectWriter{append(dst, '{')}
	w.str("type", string(e.Type))
	w.str("session_id", e.SessionID)
	w.num("seq", e.Seq)
	if len(e.Agent) > 0 {
		w.value("agent", e.Agent)
	}
	switch e.Type {
	case EventText, EventThinking:
		w.str("text", e.Text)
		w.num("round", int64(e.Round))
		w.num("attempt", int64(e.Attempt))
	case EventReset:
		w.num("round", int64(e.Round))
		w.num("attempt", int64(e.Attempt))
	case EventStep:
		w.num("round", int64(e.Round))
	case EventToolUse, EventToolGen:
		w.toolUse(e.ToolUse)
	case EventToolResult:
		w.toolResult(e.ToolResult)
	case EventUsage:
		w.usageReport(e.Usage)
	case EventCompaction:
		w.compaction(e.Compaction)
	case EventPlan:
		w.str("state", e.Plan.State)
		w.str("text", e.Plan.Text)
	case EventError:
		w.failure(e.Failure)
	case EventDone:
		w.done(e.Done)
	case EventTodo:
		w.value("todos", e.Todos)
	case EventClarify:
		w.question(e.Question)
	default:
		if e.Text != "" {
			w.str("text", e.Text)
		}
		if e.ToolUse != nil {
			w.toolUse(e.ToolUse)
		}
	}
	return append(w.b, '}')
}

// MarshalJSON encodes the event as AppendJSON does.
func (e Event) MarshalJSON() ([]byte, error) { return e.AppendJSON(nil), nil }

// objectWriter appends the members of one JSON object.
type objectWriter struct{ b []byte }

func (w *objectWriter) name(n string) {
	if w.b[len(w.b)-1] != '{' {
		w.b = append(w.b, ',')
	}
	w.b = append(append(append(w.b, '"'), n...), '"', ':')
}

func (w *objectWriter) str(n, v string) {
	w.name(n)
	w.b, _ = jsontext.AppendQuote(w.b, v) // the error is about UTF-8 that it replaced
}

func (w *objectWriter) num(n string, v int64) {
	w.name(n)
	w.b = strconv.AppendInt(w.b, v, 10)
}

func (w *objectWriter) ms(n string, d time.Duration) { w.num(n, d.Milliseconds()) }

func (w *objectWriter) raw(n string, v []byte) {
	w.name(n)
	w.b = append(w.b, v...)
}

// value encodes v; what cannot be encoded becomes a string that says so.
func (w *objectWriter) value(n string, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		w.str(n, "cannot be shown: "+err.Error())
		return
	}
	w.raw(n, b)
}

func (w *objectWriter) question(q *Question) {
	w.str("id", q.ID)
	w.str("text", q.Text)
	if len(q.Choices) > 0 {
		w.value("choices", q.Choices)
	}
}

func (w *objectWriter) toolUse(t *ToolUse) {
	if t.ID != "" {
		w.str("id", t.ID)
	}
	w.str("name", t.Name)
	if len(t.Arguments) > 0 {
		w.raw("arguments", t.Arguments)
	}
}

func (w *objectWriter) toolResult(t *ToolResult) {
	w.str("id", t.ID)
	w.str("name", t.Name)
	w.str("status", string(t.Status))
	w.str("content", t.Content)
	w.ms("duration_ms", t.Duration)
	w.value("truncated", t.Truncated)
	if t.Details != nil {
		w.value("details", t.Details)
	}
}

func (w *objectWriter) usageReport(u *UsageReport) {
	w.str("provider", u.Provider)
	w.str("model", u.Model)
	w.num("input_tokens", u.Input)
	w.num("cache_read_tokens", u.CacheRead)
	w.num("cache_write_tokens", u.CacheWrite)
	w.num("output_tokens", u.Output)
	w.num("reasoning_tokens", u.Reasoning)
	w.value("cost_usd", u.CostUSD)
	if u.Input > 0 {
		w.share("cache_hit_rate", u.HitRate())
	}
	if u.Reckoned > 0 {
		w.num("estimated_input_tokens", int64(u.Reckoned))
	}
}

// share writes a part of one with three decimals.
func (w *objectWriter) share(n string, v float64) {
	w.name(n)
	w.b = strconv.AppendFloat(w.b, v, 'f', 3, 64)
}

func (w *objectWriter) compaction(c *Compaction) {
	phase := "begin"
	if c.Done {
		phase = "end"
	}
	w.str("phase", phase)
	w.str("trigger", string(c.Trigger))
	w.num("tokens_before", int64(c.TokensBefore))
	w.num("messages_before", int64(c.MessagesBefore))
	if !c.Done {
		return
	}
	w.num("tokens_after", int64(c.TokensAfter))
	w.num("messages_after", int64(c.MessagesAfter))
	if c.Failure != "" {
		w.str("failure", c.Failure)
		return
	}
	w.str("method", string(c.Method))
	if c.Parent != "" {
		w.str("parent_session_id", c.Parent)
	}
}

func (w *objectWriter) failure(f *Failure) {
	w.str("class", string(f.Class))
	w.str("message", f.Message)
	w.str("provider", f.Provider)
	w.str("model", f.Model)
	w.num("status", int64(f.Status))
	if f.RetryIn < 0 {
		w.raw("retry_in_ms", []byte("null"))
	} else {
		w.ms("retry_in_ms", f.RetryIn)
	}
}

func (w *objectWriter) done(r *Result) {
	w.str("reason", string(r.Reason))
	w.str("detail", r.Detail)
	w.str("final_response", r.FinalResponse)
	if r.Planning {
		w.value("planning", true)
	}
	if len(r.Unread) > 0 {
		w.value("unread", r.Unread)
	}
	w.num("rounds", int64(r.Rounds))
	w.name("usage")
	u := objectWriter{append(w.b, '{')}
	u.num("input_tokens", r.Usage.Input)
	u.num("cache_read_tokens", r.Usage.CacheRead)
	u.num("cache_write_tokens", r.Usage.CacheWrite)
	u.num("output_tokens", r.Usage.Output)
	u.num("reasoning_tokens", r.Usage.Reasoning)
	u.value("cost_usd", r.CostUSD)
	u.num("api_calls", int64(r.APICalls))
	if r.Usage.Input > 0 {
		u.share("cache_hit_rate", r.Usage.HitRate())
	}
	w.b = append(u.b, '}')
	w.str("task_id", r.TaskID)
	w.ms("duration_ms", r.Duration)
}
