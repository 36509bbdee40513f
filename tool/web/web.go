// Package web has the tools that reach the web: web_fetch reads what is at a URL,
// web_extract has a model answer a question about it, and vision has one look at
// an image, of the workspace or at a URL.
//
// All of them go through one client, which is to come from package netguard, so
// that they reach the public internet and nothing else. They only read: none of
// them sends anything but the request itself, and nothing is kept on disk but
// what any large result leaves there. Results are tool.Tool.Untrusted.
//
// What the model is told of a tool stands in the Markdown file of its name.
package web

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// Options are what the tools work with.
type Options struct {
	// Client makes the requests. It must be set and must be a guarded one.
	Client *http.Client
	// UserAgent is what servers are told; empty is "rondo".
	UserAgent string
	// Extract asks a model for web_extract, Look for vision. Where Extract is
	// nil, web_extract returns the readable text; where Look is nil, there is no
	// tool vision.
	Extract, Look Ask
	// ReadFile returns a file of the workspace of at most limit bytes; nil lets
	// vision see URLs only.
	ReadFile func(path string, limit int64) ([]byte, error)
	// Closed says why nothing may be fetched; empty if it may. The tools that
	// need the network are tool.Tool.Hidden then, and answer with it.
	Closed string
	// Hint is added to errors of connections that could not be made.
	Hint string
	// Timeout bounds the fetching of one URL, 60 s by default.
	Timeout time.Duration
	// Now tells the time; nil is time.Now.
	Now func() time.Time

	// maxText and maxMedia are the most that is read of a body, once it is
	// unpacked: of a text, and of an image or a document, which are of no use in
	// part. Tests have smaller ones.
	maxText, maxMedia int64
}

// The most that is read of a body.
const (
	textBytes  = 5 << 20
	mediaBytes = 20 << 20
)

// Ask asks a model for a side task.
type Ask func(ctx context.Context, req *model.Request) (*model.Reply, error)

// Toolset is the toolset that the tools belong to.
const Toolset = "web"

// Tools returns the tools.
func Tools(o Options) []*tool.Tool {
	o.Timeout, o.UserAgent = cmp.Or(o.Timeout, time.Minute), cmp.Or(o.UserAgent, "rondo")
	if o.Now == nil {
		o.Now = time.Now
	}
	o.maxText, o.maxMedia = cmp.Or(o.maxText, textBytes), cmp.Or(o.maxMedia, mediaBytes)
	f := &fetcher{Options: o}
	tools := []*tool.Tool{fetchTool(f), extractTool(f)}
	if o.Look != nil {
		tools = append(tools, visionTool(f))
	}
	return tools
}
