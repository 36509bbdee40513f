package wire

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// silence is why a watch ended an exchange.
type silence struct {
	what string
	wait time.Duration
}

func (s *silence) Error() string { return fmt.Sprintf("%s for %s", s.what, s.wait) }

// watch ends an exchange when its provider falls silent. Only the time spent
// waiting for the provider counts, not that of whoever takes the deltas. There
// is one timer; noting a read costs two readings of the clock.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	start  time.Time
	// reading is when the wait under way began, in nanoseconds after start;
	// negative when there is none.
	reading atomic.Int64
	// waited is how long was waited since the last data, in nanoseconds,
	// without the wait under way.
	waited atomic.Int64

	mu    sync.Mutex // guards what follows
	idle  time.Duration
	data  time.Duration
	timer *time.Timer
}

func newWatch(ctx context.Context, idle, data time.Duration) *watch {
	w := &watch{start: time.Now(), idle: idle, data: data}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.reading.Store(-1)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(min(idle, data), w.check)
	return w
}

// check cancels the exchange or sets the timer to when that may be due.
func (w *watch) check() {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := int64(time.Since(w.start))
	begun := w.reading.Load()
	if begun < 0 {
		begun = now
	}
	silent := time.Duration(now - begun)
	dataless := silent + time.Duration(w.waited.Load())
	switch {
	case silent >= w.idle:
		w.cancel(&silence{what: "not a byte from the provider", wait: w.idle})
	case dataless >= w.data:
		w.cancel(&silence{what: "signs of life but no data from the provider", wait: w.data})
	default:
		w.timer.Reset(min(w.idle-silent, w.data-dataless))
	}
}

func (w *watch) begin() { w.reading.Store(int64(time.Since(w.start))) }

func (w *watch) end() {
	begun := w.reading.Swap(-1)
	w.waited.Add(int64(time.Since(w.start)) - begun)
}

// progress notes that there was data.
func (w *watch) progress() { w.waited.Store(0) }

// hurry lowers both bounds to d.
func (w *watch) hurry(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.idle > d || w.data > d {
		w.idle, w.data = min(w.idle, d), min(w.data, d)
		w.timer.Reset(d)
	}
}

// rest ends the watch but not the exchange.
func (w *watch) rest() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer.Stop()
}

// stop ends the watch and the exchange.
func (w *watch) stop() {
	w.rest()
	w.cancel(nil)
}

// reader watches the reads of r.
func (w *watch) reader(r io.Reader) *watchedReader { return &watchedReader{w: w, r: r} }

type watchedReader struct {
	w   *watch
	r   io.Reader
	eof bool
}

func (r *watchedReader) Read(p []byte) (int, error) {
	r.w.begin()
	n, err := r.r.Read(p)
	r.w.end()
	r.eof = r.eof || err == io.EOF
	return n, err
}
