package web

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/rondo-engine/rondo/internal/netguard"
	"github.com/rondo-engine/rondo/internal/picture"
)

// fetcher gets what is at URLs.
type fetcher struct {
	Options
	recent recent
}

// found is what was at a URL.
type found struct {
	// url is where it was found, after redirects; asked what was asked for.
	url   *url.URL
	asked string
	code  int
	// status is the line such as "404 Not Found", kind the media type.
	status string
	kind   string
	header http.Header
	body   []byte
	// note says why the body is not all of it; empty if it is.
	note string
}

// get gets what is at a URL.
func (f *fetcher) get(ctx context.Context, method, address string) (*found, error) {
	if f.Closed != "" {
		return nil, errors.New(f.Closed)
	}
	u, err := parse(address)
	if err != nil {
		return nil, err
	}
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, f.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("fetch %s: %w", address, err)
	}
	req.Header.Set("User-Agent", f.UserAgent)
	req.Header.Set("Accept", "text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.8")
	req.Header.Set("Accept-Language", "en,*;q=0.5")
	res, err := f.Client.Do(req)
	if err != nil {
		return nil, f.failed(ctx, address, err)
	}
	defer res.Body.Close()
	got := &found{url: res.Request.URL, asked: address, code: res.StatusCode, status: res.Status, header: res.Header}
	if packed := res.Header.Get("Content-Encoding"); packed != "" && !strings.EqualFold(packed, "identity") {
		return nil, fmt.Errorf("fetch %s: the server packed the answer as %q, which was not asked for", address, packed)
	}
	f.read(ctx, got, res.Body)
	return got, whole.Err()
}

// parse reads a URL as a person writes it, the scheme left out if need be.
func parse(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") && !strings.HasPrefix(address, "/") {
		if scheme, rest, ok := strings.Cut(address, ":"); !ok || strings.Trim(rest[:min(1, len(rest))], "0123456789") == "" && strings.Contains(scheme, ".") {
			address = "https://" + address
		}
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%q is no URL: write it as in https://example.com/page", address)
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// failed words the error of a request.
func (f *fetcher) failed(ctx context.Context, address string, err error) error {
	if refused, ok := errors.AsType[*netguard.RefusedError](err); ok {
		return refused
	}
	if ctx.Err() != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return fmt.Errorf("fetch %s: no answer within %v", address, f.Timeout)
		}
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && f.Hint != "" && op.Op == "dial" {
		return fmt.Errorf("fetch %s: %w; %s", address, err, f.Hint)
	}
	return fmt.Errorf("fetch %s: %w", address, err)
}

// read reads a body as far as it goes.
func (f *fetcher) read(ctx context.Context, got *found, body io.Reader) {
	head, err := io.ReadAll(io.LimitReader(body, 1024))
	got.kind = kindOf(head, got.header.Get("Content-Type"))
	limit := f.maxText
	if isMedia(got.kind) {
		limit = f.maxMedia
	}
	var rest []byte
	if err == nil {
		rest, err = io.ReadAll(io.LimitReader(body, limit-int64(len(head))+1))
	}
	got.body = append(head, rest...)
	switch {
	case int64(len(got.body)) > limit:
		got.body = got.body[:limit]
		got.note = fmt.Sprintf("it is larger than the %d bytes that are read", limit)
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		got.note = fmt.Sprintf("the server had not sent the rest within %v", f.Timeout)
	case err != nil:
		got.note = "the connection broke off: " + err.Error()
	}
}

// kindOf returns the media type of what begins with head: what it is seen to be,
// else what the server says, else a guess.
func kindOf(head []byte, contentType string) string {
	if kind := picture.Type(head); kind != "" {
		return kind
	}
	if bytes.HasPrefix(head, []byte("%PDF-")) {
		return pdf
	}
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil && kind == "" || kind == "application/octet-stream" {
		kind, _, _ = strings.Cut(http.DetectContentType(head), ";")
	}
	return strings.ToLower(kind)
}

const pdf = "application/pdf"

func isMedia(kind string) bool {
	return kind == pdf || strings.HasPrefix(kind, "image/") && kind != "image/svg+xml"
}

func isHTML(kind string) bool { return kind == "text/html" || kind == "application/xhtml+xml" }

// isText reports whether a body is text, whatever its type says.
func isText(kind string, body []byte) bool {
	if strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml") {
		return true
	}
	switch kind {
	case "application/json", "application/xml", "application/javascript", "application/yaml", "application/toml", "application/x-sh":
		return true
	}
	return bytes.IndexByte(body, 0) < 0 && looksUTF8(body) && !strings.HasPrefix(kind, "audio/") && !strings.HasPrefix(kind, "video/")
}
