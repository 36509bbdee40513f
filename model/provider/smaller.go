package provider

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/rondo-engine/rondo/internal/picture"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// leastSide is the size below which images are not made smaller: they are left
// out then.
const leastSide = 256

// smaller makes the images of requests smaller, once for each message, from the
// first time on that an endpoint refused one for its size. Until then it costs
// nothing.
type smaller struct {
	mu sync.Mutex
	// limits are those that the endpoint seems to have; zero before it refused
	// an image.
	limits picture.Limits
	// made has the message of smaller images for each that is in use; nil for
	// one that needs none.
	made map[weak.Pointer[message.Message]]*message.Message
}

// tighter takes note that p refused the images of req as they were sent, and
// returns req with smaller ones; nil where they are small already.
func (s *smaller) tighter(req, sent *model.Request, p *model.Profile, e *model.Error) *model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, made := s.limits, s.made
	now := before
	if now == (picture.Limits{}) {
		now = picture.For(p)
	}
	next := picture.Limits{Side: now.Side * 3 / 5, Bytes: now.Bytes / 3}
	if side := statedSide(e.Err.Error()); side > 0 && side < now.Side {
		next.Side = side
	}
	s.limits, s.made = next, nil
	if small := s.replace(req); next.Side >= leastSide && !slices.Equal(small.History.Messages(), sent.History.Messages()) {
		return small
	}
	s.limits, s.made = before, made
	return nil
}

// request returns req with images that keep to the limits; req itself before
// an image was refused.
func (s *smaller) request(req *model.Request) *model.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.limits == (picture.Limits{}) {
		return req
	}
	return s.replace(req)
}

func (s *smaller) replace(req *model.Request) *model.Request {
	made := *req
	made.History = picture.FitHistory(req.History, s.message)
	return &made
}

// message returns m with smaller images; m itself if they are small.
func (s *smaller) message(m *message.Message) *message.Message {
	key := weak.Make(m)
	if small, ok := s.made[key]; ok {
		return cmp.Or(small, m)
	}
	small := picture.FitMessage(m, s.limits)
	if small == m {
		small = nil // a message that stands for itself would never go
	}
	maps.DeleteFunc(s.made, func(k weak.Pointer[message.Message], _ *message.Message) bool { return k.Value() == nil })
	if s.made == nil {
		s.made = map[weak.Pointer[message.Message]]*message.Message{}
	}
	s.made[key] = small
	return cmp.Or(small, m)
}

// statedSide finds how many pixels a side may have in what a provider says, such
// as "max allowed size: 8000 pixels"; 0 where it does not say.
func statedSide(text string) int {
	side, n := 0, 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] >= '0' && text[i] <= '9' {
			n = min(n*10+int(text[i]-'0'), 1_000_000)
			continue
		}
		rest := strings.TrimPrefix(text[i:], " ")
		if n >= 512 && n <= 8000 && (strings.HasPrefix(rest, "pixel") || strings.HasPrefix(rest, "px")) {
			side = n
		}
		n = 0
	}
	return side
}
