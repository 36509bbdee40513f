package provider

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/internal/picture"
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

// sizedServer refuses images of more than side pixels, in words that do not say
// how many would do.
func sizedServer(t *testing.T, side int, words string) (*modeltest.Server, *[]int) {
	t.Helper()
	var widths []int
	find := regexp.MustCompile(`data:image/\w+;base64,([^"]+)`)
	srv, err := modeltest.Start(modeltest.Options{Scripts: []modeltest.Script{{Func: func(r *modeltest.Request) modeltest.Reply {
		found := find.FindSubmatch(r.Body)
		if found == nil {
			widths = append(widths, 0)
			return modeltest.Say(modeltest.Text("blind"))
		}
		data, _ := base64.StdEncoding.DecodeString(string(found[1]))
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Error(err)
		}
		if widths = append(widths, c.Width); c.Width > side {
			return modeltest.Fail(400, words)
		}
		return modeltest.Say(modeltest.Text("seen"))
	}}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv, &widths
}

// Scenario 88: an image that is refused for its size is made smaller, which is
// remembered, and left out only if that does not help.
func TestImagesRefusedForTheirSizeAreMadeSmaller(t *testing.T) {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 1800, 100))); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		side  int
		words string
		want  string // the widths of three requests for the same history
	}{
		{1300, "the image is too large", "[1800 1200 1200 1200]"},
		{1600, "image dimensions exceed max allowed size for many-image requests: 1600 pixels", "[1800 1600 1600 1600]"},
		{800, "image too big", "[1800 1200 720 720 720]"},
		{100, "image too big", "[1800 1200 720 0 720 432 259 0 259 0]"},
	} {
		t.Run(c.words, func(t *testing.T) {
			srv, widths := sizedServer(t, c.side, c.words)
			m, err := Open(&model.Profile{
				Provider: "p", Model: "m", Mode: model.ChatCompletions, BaseURL: srv.BaseURL(model.ChatCompletions),
			}, wire.Options{})
			if err != nil {
				t.Fatal(err)
			}
			user := message.NewUser("What is this?")
			user.Parts = append(user.Parts, message.Image("image/png", base64.StdEncoding.EncodeToString(b.Bytes())))
			h, _ := message.Normalise([]*message.Message{user})
			for range 3 {
				for _, err := range m.Stream(t.Context(), &model.Request{History: h, Cache: new(model.Cache)}) {
					if err != nil {
						t.Error(err)
					}
				}
			}
			if got := fmt.Sprint(*widths); got != c.want {
				t.Errorf("images of these widths were sent: %s, want %s", got, c.want)
			}
		})
	}
}

func TestSmallerMessagesAreMadeOnceAndForgotten(t *testing.T) {
	s := &smaller{limits: picture.Limits{Side: 10, Bytes: 1000}}
	m := message.NewUser("x")
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 20, 20))); err != nil {
		t.Fatal(err)
	}
	m.Parts = append(m.Parts, message.Image("image/png", base64.StdEncoding.EncodeToString(b.Bytes())))
	first := s.message(m)
	if first == m || s.message(m) != first {
		t.Error("the message was made twice, or not at all")
	}
	runtime.KeepAlive(m)
	m = nil
	for range 3 {
		runtime.GC()
	}
	s.message(message.NewUser("other"))
	if len(s.made) != 1 {
		t.Errorf("%d messages are kept", len(s.made))
	}
}
