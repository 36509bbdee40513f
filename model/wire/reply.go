package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/internal/sse"
	"github.com/rondo-engine/rondo/model"
)

const (
	maxErrorBody = 1 << 20
	maxWhole     = 64 << 20
	// tailTime bounds the wait for what follows a reply that is whole.
	tailTime = 2 * time.Second
)

// Response is a reply to decode that did not come over HTTP.
type Response struct {
	Status int
	Header http.Header
	Body   io.Reader
}

// Decode reads r as Stream reads a reply: an error status is classified, a
// compressed body expanded, a stream told from a reply in one piece. A Status
// of 0 counts as 200.
func Decode(p *model.Profile, op string, now time.Time, r Response, d Decoder) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		c := &call{
			ctx: context.Background(), op: op, profile: p, yield: yield,
			now: func() time.Time { return now },
		}
		if r.Status == 0 {
			r.Status = http.StatusOK
		}
		c.read(r, d)
	}
}

// call is the reading of one reply.
type call struct {
	ctx     context.Context // of whoever asked, without the watch
	watch   *watch          // nil when nothing is timed
	op      string
	profile *model.Profile
	key     string // what was sent as the key: errors do not show it
	now     func() time.Time
	yield   func(model.Delta, error) bool
	gone    bool  // nobody listens any more
	cut     error // why the body could not be read to its end
}

// read decodes r and yields all of it. It reports whether the reply was whole.
func (c *call) read(r Response, d Decoder) bool {
	if r.Status < 200 || r.Status > 299 {
		c.fail(c.statusError(r))
		return false
	}
	if t, ok := d.(Timed); ok {
		t.SetClock(c.now)
	}
	err := c.decode(r, d)
	if c.gone {
		return false
	}
	if err != nil {
		c.fail(err)
		return false
	}
	reply, err := d.End()
	if err != nil {
		c.fail(c.cutError(err))
		return false
	}
	if err := c.ctx.Err(); err != nil {
		c.fail(err)
		return false
	}
	if c.watch != nil {
		c.watch.rest()
	}
	c.yield(model.Delta{Kind: model.DeltaDone, Reply: reply}, nil)
	return true
}

// decode feeds the body to d and returns the decoder's error.
func (c *call) decode(r Response, d Decoder) error {
	src, err := expand(r.Header.Get("Content-Encoding"), r.Body)
	if err != nil {
		c.cut = err
		return nil
	}
	if isStream(src, r.Header.Get("Content-Type")) {
		return c.events(src, d)
	}
	whole, err := io.ReadAll(io.LimitReader(src, maxWhole+1))
	if err == nil && len(whole) > maxWhole {
		err = errors.New("the reply is larger than 64 MiB")
	}
	if err != nil {
		c.cut = err
		return nil
	}
	return d.Whole(whole, c.emit)
}

func (c *call) events(src io.Reader, d Decoder) error {
	r := sse.NewReader(src)
	defer r.Close()
	emit := c.emit
	finisher, _ := d.(Finisher)
	for c.ctx.Err() == nil {
		e, err := r.Next()
		if err != nil {
			if err != io.EOF {
				c.cut = err
			}
			return nil
		}
		done, err := d.Event(e.Name, e.Data, emit)
		if err != nil || done || c.gone {
			return err
		}
		if c.watch == nil {
			continue
		}
		if !isPing(e) {
			c.watch.progress()
		}
		if finisher != nil && finisher.Finished() {
			c.watch.hurry(tailTime)
			finisher = nil
		}
	}
	return nil
}

func (c *call) emit(d model.Delta) bool {
	if !c.gone {
		c.gone = !c.yield(d, nil)
	}
	return !c.gone
}

// isPing reports whether e only shows that the connection is alive.
func isPing(e sse.Event) bool {
	switch e.Name {
	case "ping", "keepalive":
		return true
	case "":
		return len(e.Data) < 64 && bytes.Contains(e.Data, []byte(`"ping"`))
	}
	return false
}

// expand undoes the compression of a body. Gzip is known by its first bytes,
// as neither servers nor what stands before them can be relied on to say so.
func expand(encoding string, src io.Reader) (*bufio.Reader, error) {
	const size = 64 // larger reads go past the buffer
	br := bufio.NewReaderSize(src, size)
	if head, _ := br.Peek(2); bytes.Equal(head, []byte{0x1f, 0x8b}) { // an error comes again when reading
		return gunzip(br, size)
	}
	switch encoding = strings.ToLower(strings.TrimSpace(encoding)); encoding {
	case "", "identity", "gzip", "x-gzip":
		return br, nil
	}
	return nil, fmt.Errorf("the reply is compressed with %s, which was not asked for", encoding)
}

// isStream reports whether src is an event stream, by its first bytes where
// they tell and by its declared type otherwise. It skips white space before.
func isStream(src *bufio.Reader, contentType string) bool {
	declared := strings.HasPrefix(strings.ToLower(contentType), "text/event-stream")
	for {
		head, err := src.Peek(1)
		if err != nil {
			return declared
		}
		switch head[0] {
		case ' ', '\t', '\r', '\n', 0xef, 0xbb, 0xbf:
			_, _ = src.Discard(1) // it was peeked at
		case '{', '[', '<', '"':
			return false
		default:
			return declared || beginsAsStream(src)
		}
	}
}

func beginsAsStream(src *bufio.Reader) bool {
	head, _ := src.Peek(len("event:")) // less where the body is shorter
	for _, begin := range []string{":", "data:", "event:", "id:", "retry:"} {
		if bytes.HasPrefix(head, []byte(begin)) {
			return true
		}
	}
	return false
}
