package modeltest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/rondo-engine/rondo/model"
)

// encoder makes the events of one reply, or the reply in one piece.
type encoder interface {
	// open begins the reply, whose end is known already.
	open(e ending)
	begin(b *block)
	delta(b *block, piece string)
	end(b *block)
	// close ends the reply; before it nothing says that the reply is whole.
	close(e ending)
	fail(kind, msg string)
	whole(blocks []*block, e ending) obj
}

// ending is how a reply ends.
type ending struct {
	finish model.Finish
	usage  model.Usage
	blocks []*block
}

// emitter sends one event of a stream.
type emitter func(name string, data []byte)

// player sends one reply. Once err is set nothing more is sent.
type player struct {
	w      http.ResponseWriter
	ctx    context.Context
	stream bool
	header http.Header
	begun  bool
	events int
	faults map[int]Step // by the number of events before them
	err    error
}

var errOver = errors.New("the reply ends here")

// play sends the reply.
func (p *player) play(s *Server, proto protocol, req *Request, r *Reply) {
	p.header = r.Header
	if r.Status != 0 && r.Status != http.StatusOK || r.Body != "" {
		p.refuse(proto, r)
		return
	}
	moves, end := s.plan(proto, req, r)
	enc := proto.encoder(s, req, p.emit)
	if !p.stream {
		p.playWhole(proto, enc, moves, end)
		return
	}
	p.playStream(enc, moves, end)
}

// playStream sends the reply step by step. Nothing of it is sent before the
// first step that says something.
func (p *player) playStream(enc encoder, moves []move, end ending) {
	p.faults = map[int]Step{}
	for _, m := range moves {
		if m.after > 0 {
			p.faults[m.after] = m.Step
		}
	}
	opened := false
	open := func() {
		if !opened {
			opened = true
			enc.open(end)
		}
	}
	var current *block
	turnTo := func(b *block) {
		if current == b {
			return
		}
		if current != nil {
			enc.end(current)
		}
		if current = b; b != nil {
			enc.begin(b)
		}
	}
	for _, m := range moves {
		if m.block != nil || m.kind == stepError {
			open()
		}
		if m.block != nil {
			turnTo(m.block)
		}
		if p.step(enc, m); p.err != nil {
			return
		}
	}
	open()
	turnTo(nil)
	enc.close(end)
}

// step does one step within a stream.
func (p *player) step(enc encoder, m move) {
	switch m.kind {
	case stepDelay:
		p.sleep(m.wait)
	case stepCut, stepReset, stepStall:
		if m.after == 0 {
			p.breakOff(m.kind)
		}
	case stepGarbage:
		p.emit("", []byte(m.text))
	case stepComment:
		p.begin()
		p.write(": " + m.text + "\n\n")
	case stepError:
		enc.fail(m.name, m.text)
		p.err = errOver
	default:
		for _, piece := range m.pieces {
			enc.delta(m.block, piece)
		}
	}
}

// refuse sends a reply that is an error.
func (p *player) refuse(proto protocol, r *Reply) {
	for _, st := range r.Steps {
		if st.kind == stepDelay {
			p.sleep(st.wait)
		}
	}
	status, body := r.Status, []byte(r.Body)
	if status == 0 {
		status = http.StatusOK
	}
	if r.Body == "" {
		body = proto.refusal(refusal{status: status, kind: errorKind(proto.mode(), status), code: r.Code, msg: r.Message})
	}
	writeBody(p.w, r.Header, status, body)
}

// errorKind is the type of error that a provider names for a status.
func errorKind(mode model.Mode, status int) string {
	if mode != model.AnthropicMessages {
		switch {
		case status == http.StatusTooManyRequests:
			return "rate_limit_exceeded"
		case status >= 500:
			return "server_error"
		}
		return "invalid_request_error"
	}
	switch status {
	case http.StatusUnauthorized:
		return "authentication_error"
	case http.StatusPaymentRequired:
		return "billing_error"
	case http.StatusForbidden:
		return "permission_error"
	case http.StatusNotFound:
		return "not_found_error"
	case http.StatusRequestEntityTooLarge:
		return "request_too_large"
	case http.StatusTooManyRequests:
		return "rate_limit_error"
	case http.StatusGatewayTimeout:
		return "timeout_error"
	case 529:
		return "overloaded_error"
	}
	if status >= 500 {
		return "api_error"
	}
	return "invalid_request_error"
}

// playWhole sends the reply in one piece. Faults in the middle of a stream
// become faults in the middle of the body.
func (p *player) playWhole(proto protocol, enc encoder, moves []move, end ending) {
	var fault *move
	for i := range moves {
		switch m := &moves[i]; m.kind {
		case stepDelay:
			p.sleep(m.wait)
		case stepCut, stepReset, stepStall, stepGarbage, stepError:
			if fault == nil {
				fault = m
				fault.after += i // 0 only if it is the first step
			}
		}
	}
	switch {
	case p.err != nil:
	case fault == nil:
		writeBody(p.w, p.header, http.StatusOK, encode(enc.whole(end.blocks, end)))
	case fault.kind == stepGarbage:
		writeBody(p.w, p.header, http.StatusOK, []byte(fault.text))
	case fault.kind == stepError:
		writeBody(p.w, p.header, http.StatusOK, proto.refusal(refusal{status: http.StatusOK, kind: fault.name, code: fault.name, msg: fault.text}))
	default:
		if fault.after > 0 || fault.kind == stepCut {
			body := encode(enc.whole(end.blocks, end))
			writeBody(p.w, p.header, http.StatusOK, body[:len(body)/2])
			p.flush()
		}
		p.breakOff(fault.kind)
	}
}

func (p *player) begin() {
	if p.begun {
		return
	}
	p.begun = true
	h := p.w.Header()
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
	for name, values := range p.header {
		h[name] = values
	}
	p.w.WriteHeader(http.StatusOK)
}

// emit sends an event and does what was to happen behind it.
func (p *player) emit(name string, data []byte) {
	if p.err != nil {
		return
	}
	p.begin()
	text := "data: " + string(data) + "\n\n"
	if name != "" {
		text = "event: " + name + "\n" + text
	}
	p.write(text)
	p.events++
	if st, ok := p.faults[p.events]; ok && p.err == nil {
		p.breakOff(st.kind)
	}
}

func (p *player) write(text string) {
	if p.err != nil {
		return
	}
	if _, err := p.w.Write([]byte(text)); err != nil {
		p.err = err
		return
	}
	p.flush()
}

func (p *player) flush() {
	if err := http.NewResponseController(p.w).Flush(); err != nil && p.err == nil {
		p.err = err
	}
}

func (p *player) sleep(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-p.ctx.Done():
		p.err = p.ctx.Err()
	}
}

// breakOff ends the reply before it is whole.
func (p *player) breakOff(kind stepKind) {
	p.err = errOver
	switch kind {
	case stepCut:
		if p.stream {
			p.begin()
		}
	case stepStall:
		<-p.ctx.Done()
	case stepReset:
		conn, _, err := http.NewResponseController(p.w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler) // the nearest that this writer can do
		}
		if tcp, ok := conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // without it the end would be a clean one
		}
		_ = conn.Close()
	}
}
