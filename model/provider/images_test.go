package provider

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
	"github.com/rondo-engine/rondo/model/wire"
)

// pixel is a PNG of one pixel.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// Scenario 88: refused images are left out of the request and of those after
// it; one that is too large is left out of one request.
func TestRefusedImagesAreLeftOut(t *testing.T) {
	for _, c := range []struct {
		status int
		words  string
		images string // in each request: with or without
	}{
		{400, "This model does not support image input.", "with without without"},
		{404, "No endpoints found that support image input", "with without without"},
		{422, "messages[0]: unknown variant `image_url`, expected `text`", "with without without"},
		{400, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes", "with without with"},
		{400, "Something else is invalid.", "with with"},
	} {
		for _, mode := range []model.Mode{model.ChatCompletions, model.CodexResponses, model.AnthropicMessages} {
			t.Run(fmt.Sprintf("%s %s", mode, c.words), func(t *testing.T) {
				srv, err := modeltest.Start(modeltest.Options{Scripts: []modeltest.Script{{
					Replies: []modeltest.Reply{modeltest.Fail(c.status, c.words)},
					Func:    func(*modeltest.Request) modeltest.Reply { return modeltest.Say(modeltest.Text("ok")) },
				}}})
				if err != nil {
					t.Fatal(err)
				}
				defer srv.Close()
				m, err := Open(&model.Profile{Provider: "p", Model: "m", Mode: mode, BaseURL: srv.BaseURL(mode), MaxOutput: 100}, wire.Options{})
				if err != nil {
					t.Fatal(err)
				}
				user := message.NewUser("What is this?")
				user.Parts = append(user.Parts, message.Image("image/png", pixel))
				h, _ := message.Normalise([]*message.Message{user})
				req := &model.Request{History: h, Cache: new(model.Cache)}
				for range 2 {
					for range m.Stream(t.Context(), req) {
					}
				}
				var got []string
				for _, r := range srv.Requests() {
					word := "without"
					if strings.Contains(string(r.Body), pixel) {
						word = "with"
					} else if !strings.Contains(string(r.Body), "left out") {
						t.Errorf("no note in place of the image: %s", r.Body)
					}
					got = append(got, word)
				}
				if strings.Join(got, " ") != c.images {
					t.Errorf("sent %v, want %s", got, c.images)
				}
				if len(srv.Faults()) > 0 {
					t.Errorf("refused: %v", srv.Faults())
				}
			})
		}
	}
}
