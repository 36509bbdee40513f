package rondo_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo"
	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/tool"
)

// smallEyed is a fakeModel that takes images of 100 pixels a side.
type smallEyed struct{ *fakeModel }

func (m smallEyed) Profile() *model.Profile {
	p := *m.fakeModel.Profile()
	p.ImageSide = 100
	return &p
}

func grey(t *testing.T, side int) message.Part {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, side, side))); err != nil {
		t.Fatal(err)
	}
	return message.Image("image/png", base64.StdEncoding.EncodeToString(b.Bytes()))
}

// widths are those of the images of a message; 0 stands for a text about one
// that was left out.
func widths(t *testing.T, m *message.Message) []int {
	t.Helper()
	var all []int
	for _, p := range m.Parts {
		if strings.Contains(p.Text, "left out") {
			all = append(all, 0)
		}
		if p.Media == nil {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(p.Media.Data)
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := image.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c.Width)
	}
	return all
}

// Images are made as small as the model wants them before they become part of
// the history, those of tools and those of the user; what cannot be made smaller
// is told in its place.
func TestImagesAreMadeSmallBeforeTheyAreKept(t *testing.T) {
	broken := message.Image("image/png", base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("x"), 4<<20)))
	look := newTool("look", true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Text: "two images", Media: []message.Part{grey(t, 300), broken}}, nil
	})
	m := smallEyed{&fakeModel{steps: []step{asks("c1 look"), says("done")}}}
	own := grey(t, 400)
	res, err := newAgent(t, rondo.Options{Model: m, Tools: []*tool.Tool{look}}).Run(t.Context(), rondo.Request{
		Text: "what is it?", Attachments: []message.Part{own, grey(t, 50)},
	})
	if err != nil {
		t.Fatal(err)
	}
	if got := widths(t, res.Messages[0]); len(got) != 2 || got[0] != 100 || got[1] != 50 {
		t.Errorf("the user's images are %v pixels wide", got)
	}
	if got := widths(t, res.Messages[2]); len(got) != 2 || got[0] != 100 || got[1] != 0 {
		t.Errorf("the tool's images are %v pixels wide", got)
	}
	if got := widths(t, &message.Message{Parts: []message.Part{own}}); got[0] != 400 {
		t.Error("the caller's image was changed")
	}
}

// A model that is asked aside gets images as it wants them.
func TestAsideMakesImagesSmall(t *testing.T) {
	m := smallEyed{&fakeModel{steps: []step{says("a square")}}}
	if _, err := (rondo.Aside{Model: m}).Ask(t.Context(), question(message.Text("what?"), grey(t, 300))); err != nil {
		t.Fatal(err)
	}
	if got := widths(t, m.requests[0].History.Last()); len(got) != 1 || got[0] != 100 {
		t.Errorf("the image is %v pixels wide", got)
	}
}
