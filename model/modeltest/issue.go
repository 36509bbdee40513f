package modeltest

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// newID makes an id of n letters and digits behind prefix. It differs between
// conversations, their rounds and the requests of a server, so that a run that
// is resumed against another server meets no id twice.
func (s *Server) newID(req *Request, prefix string, n int) string {
	s.mu.Lock()
	s.serial++
	serial := s.serial
	s.mu.Unlock()
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%d\x00%d\x00%s", req.conversation(), req.Assistants(), serial, prefix))
	id := make([]byte, n)
	for i := range id {
		id[i] = alphabet[int(sum[i%len(sum)])%len(alphabet)]
	}
	return prefix + string(id)
}

// seal signs what was thought for one model, so that it can be known again
// without being remembered.
func (s *Server) seal(kind, modelName, text string) string {
	mac := hmac.New(sha256.New, []byte("modeltest "+s.opts.Secret))
	fmt.Fprintf(mac, "%s\x00%s\x00%s", kind, modelName, text)
	return base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

// encryptReasoning makes the encrypted content of a reasoning item; its id is
// part of what is sealed. openReasoning tells what it was.
func (s *Server) encryptReasoning(modelName, id string) string {
	return "gAAAA" + base64.RawURLEncoding.EncodeToString([]byte(s.seal("reasoning", modelName, id)+" "+id))
}

// openReasoning returns the id that encrypted content was issued for; ok is
// false if it was not issued here for that model.
func (s *Server) openReasoning(modelName, content string) (id string, ok bool) {
	data, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(content, "gAAAA"))
	if err != nil {
		return "", false
	}
	seal, id, _ := strings.Cut(string(data), " ")
	return id, seal == s.seal("reasoning", modelName, id)
}

// rememberThought keeps what is thought in a reply of chat_completions, where
// nothing seals it.
func (s *Server) rememberThought(modelName string, blocks []*block) {
	var text string
	for _, b := range blocks {
		if b.kind == message.KindReasoning {
			text += b.text
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.thoughts[s.seal("thought", modelName, text)] = true
}

// thought reports whether a reply of chat_completions was thought so.
func (s *Server) thought(modelName, text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.thoughts[s.seal("thought", modelName, text)]
}

// bytesPerToken is how text is counted.
const bytesPerToken = 4

func tokens(bytes int) int64 { return int64((bytes + bytesPerToken - 1) / bytesPerToken) }

// minCachedTokens is the shortest prefix that the services cache.
const minCachedTokens = 1024

// promptCache is what a conversation sent last: its bytes without marks, and
// where the marks stood.
type promptCache struct {
	body  []byte
	marks []int
}

// count makes up the usage of the reply that blocks are.
func (s *Server) count(req *Request, blocks []*block) model.Usage {
	u := model.Usage{Input: tokens(len(req.Body))}
	if p := req.previous; p != nil {
		u.Input += p.total()
	}
	for _, b := range blocks {
		n := tokens(len(b.text) + len(b.name))
		u.Output += n
		if b.kind == message.KindReasoning || b.kind == message.KindOpaque {
			u.Reasoning += n
		}
	}
	u.Output = max(u.Output, 1)
	u.CacheRead, u.CacheWrite = s.cached(req)
	return u
}

// cached tells how many tokens of req are in the cache of its conversation and
// how many were put there, and remembers req.
func (s *Server) cached(req *Request) (read, write int64) {
	now := promptCache{body: req.Body}
	if req.Mode == model.AnthropicMessages {
		now.body, now.marks = withoutMarks(req.Body)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	key := req.conversation()
	before := s.caches[key]
	s.caches[key] = &now
	if req.Mode == model.AnthropicMessages {
		return now.marked(before)
	}
	if before == nil {
		return 0, 0
	}
	if n := tokens(common(before.body, now.body)); n >= minCachedTokens {
		read = n / 128 * 128
	}
	return read, 0
}

// marked finds the longest prefix that was marked before and stands before a
// mark now; up to the last mark the rest is written.
func (c *promptCache) marked(before *promptCache) (read, write int64) {
	if len(c.marks) == 0 {
		return 0, 0
	}
	last, hit := c.marks[len(c.marks)-1], 0
	if before != nil {
		same := common(before.body, c.body)
		for _, m := range before.marks {
			if m <= same && m <= last {
				hit = max(hit, m)
			}
		}
	}
	if read = tokens(hit); read < minCachedTokens {
		read = 0
	}
	if total := tokens(last); total >= minCachedTokens {
		write = total - read
	}
	return read, write
}

const mark = `"cache_control":{"type":"ephemeral"}`

// withoutMarks takes the cache marks out of a body and tells where they stood.
// A mark with other members or with space in it is left where it is.
func withoutMarks(body []byte) (plain []byte, marks []int) {
	for {
		i := bytes.Index(body, []byte(mark))
		if i < 0 {
			return append(plain, body...), marks
		}
		plain = append(plain, bytes.TrimSuffix(body[:i], []byte(","))...)
		marks = append(marks, len(plain))
		body = body[i+len(mark):]
	}
}

func common(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
