package web

import (
	"cmp"
	"context"
	_ "embed" // for the texts of the tool and for the model that it asks
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/rondo-engine/rondo/internal/picture"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
)

var (
	//go:embed vision.md
	visionText string
	//go:embed vision_prompt.md
	visionPrompt string
)

type visionArgs struct {
	Image    string `json:"image" jsonschema:"a path or a URL"`
	Question string `json:"question,omitzero" jsonschema:"empty for a description"`
}

// visionTime bounds a call.
const visionTime = 10 * time.Minute

func visionTool(f *fetcher) *tool.Tool {
	return tool.Must(tool.New(tool.Tool{
		Name: "vision", Description: strings.TrimSpace(visionText), Toolset: Toolset, ReadOnly: true, Untrusted: true,
		Timeout: visionTime, Access: readsImage,
	}, func(ctx context.Context, _ tool.Call, a visionArgs) (tool.Result, error) {
		data, err := f.image(ctx, a.Image)
		if err != nil {
			return tool.Result{}, err
		}
		kind := picture.Type(data)
		if kind == "" {
			return tool.Result{}, fmt.Errorf("%s is no PNG, JPEG, GIF or WebP image", a.Image)
		}
		said, err := say(ctx, f.Look, visionPrompt,
			message.Text(cmp.Or(strings.TrimSpace(a.Question), "Describe the image.")),
			message.Image(kind, base64.StdEncoding.EncodeToString(data)))
		if err != nil {
			return tool.Result{}, fmt.Errorf("look at %s: %w", a.Image, err)
		}
		return tool.Result{Text: said}, nil
	}))
}

// image returns the bytes of an image of the workspace or the web.
func (f *fetcher) image(ctx context.Context, where string) ([]byte, error) {
	if !strings.Contains(where, "://") {
		if f.ReadFile == nil {
			return nil, errors.New("only images at URLs can be looked at")
		}
		return f.ReadFile(where, picture.MaxSource)
	}
	got, err := f.get(ctx, http.MethodGet, where)
	switch {
	case err != nil:
		return nil, err
	case got.code >= 400:
		return nil, fmt.Errorf("fetch %s: %s", where, got.status)
	case got.note != "":
		return nil, fmt.Errorf("fetch %s: %s", where, got.note)
	}
	return got.body, nil
}

// readsImage is the Access of a call: the file that it names.
func readsImage(raw json.RawMessage) tool.Access {
	var a visionArgs
	if json.Unmarshal(raw, &a) != nil || strings.Contains(a.Image, "://") {
		return tool.Access{}
	}
	return tool.Access{Reads: []string{"/"}}
}
