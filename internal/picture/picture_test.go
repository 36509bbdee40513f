package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// gradient is an image that compresses well, red on its left half.
func gradient(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			c := color.NRGBA{G: uint8(y * 255 / h), A: 255}
			if x < w/2 {
				c.R = 255
			}
			img.SetNRGBA(x, y, c)
		}
	}
	return img
}

// noise is an image that does not compress.
func noise(w, h int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	r := rand.NewChaCha8([32]byte{7})
	r.Read(img.Pix) //nolint:errcheck // never fails
	for i := 3; i < len(img.Pix); i += 4 {
		img.Pix[i] = 255
	}
	return img
}

func encoded(t testing.TB, img image.Image, format string) []byte {
	t.Helper()
	var b bytes.Buffer
	var err error
	switch format {
	case "png":
		err = png.Encode(&b, img)
	case "jpeg":
		err = jpeg.Encode(&b, img, nil)
	case "gif":
		err = gif.Encode(&b, img, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestImagesWithinTheLimitsStayAsTheyAre(t *testing.T) {
	for _, format := range []string{"png", "jpeg", "gif"} {
		data := encoded(t, gradient(60, 40), format)
		fit, mime, err := Fit(data, Limits{60, len(data)})
		if err != nil || &fit[0] != &data[0] || mime != "image/"+format {
			t.Errorf("%s: %d of %d bytes, %s, %v", format, len(fit), len(data), mime, err)
		}
	}
	other := []byte("BM and so on")
	if fit, mime, err := Fit(other, Limits{10, 100}); err != nil || mime != "" || !bytes.Equal(fit, other) {
		t.Errorf("a format that is not understood: %s, %v", mime, err)
	}
}

func TestImagesBeyondTheLimitsAreShrunk(t *testing.T) {
	for _, c := range []struct {
		name  string
		img   image.Image
		from  string
		to    string
		l     Limits
		w, h  int
		fewer bool // the sides are at most w and h
	}{
		{name: "too wide", img: gradient(160, 80), from: "png", to: "image/png", l: Limits{80, 1 << 20}, w: 80, h: 40},
		{name: "too high", img: gradient(60, 180), from: "jpeg", to: "image/jpeg", l: Limits{90, 1 << 20}, w: 30, h: 90},
		{name: "an animation's first frame", img: gradient(100, 100), from: "gif", to: "image/png", l: Limits{50, 1 << 20}, w: 50, h: 50},
		{name: "very flat", img: gradient(3000, 2), from: "png", to: "image/png", l: Limits{1000, 1 << 20}, w: 1000, h: 1},
		{name: "too many bytes as PNG", img: noise(120, 120), from: "png", to: "image/jpeg", l: Limits{120, 20_000}, w: 120, h: 120},
		{name: "too many bytes at any quality", img: noise(150, 150), from: "png", to: "image/jpeg", l: Limits{150, 8000}, w: 149, h: 149, fewer: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := encoded(t, c.img, c.from)
			fit, mime, err := Fit(data, c.l)
			if err != nil {
				t.Fatal(err)
			}
			got, err := config(fit, mime)
			if err != nil || mime != c.to || len(fit) > c.l.Bytes {
				t.Errorf("%s of %d bytes, %v", mime, len(fit), err)
			}
			if exact := got.Width == c.w && got.Height == c.h; exact == c.fewer || got.Width > c.w || got.Height > c.h {
				t.Errorf("%dx%d pixels, want %dx%d", got.Width, got.Height, c.w, c.h)
			}
		})
	}
}

func TestTransparentBecomesWhiteWhereThereIsNoTransparency(t *testing.T) {
	img := noise(120, 120)
	for i := range img.Pix[:4*120*40] {
		img.Pix[i] = 0
	}
	fit, mime, err := Fit(encoded(t, img, "png"), Limits{120, 15_000})
	if err != nil || mime != "image/jpeg" {
		t.Fatalf("%s, %v", mime, err)
	}
	got, _ := jpeg.Decode(bytes.NewReader(fit))
	if r, g, b, _ := got.At(50, 20).RGBA(); r < 0xf000 || g < 0xf000 || b < 0xf000 {
		t.Errorf("%x %x %x", r, g, b)
	}
}

func TestWhatCannotBeShrunkIsAnError(t *testing.T) {
	huge := encoded(t, gradient(10, 10), "png")
	copy(huge[16:], []byte{0, 1, 0, 0, 0, 1, 0, 0}) // 65536x65536, says its header
	crc := []byte{0, 0, 0, 0}
	for name, data := range map[string][]byte{
		"no image":      bytes.Repeat([]byte("x"), 2000),
		"a cut PNG":     encoded(t, noise(100, 100), "png")[:20_000],
		"a broken JPEG": append([]byte("\xff\xd8\xff"), bytes.Repeat([]byte("x"), 2000)...),
		"a wrong sum":   append(huge[:29:29], append(crc, huge[33:]...)...),
	} {
		_, _, err := Fit(data, Limits{50, 50})
		var e *TooLargeError
		if !errors.As(err, &e) || e.Bytes != len(data) || !strings.Contains(err.Error(), "50 pixels a side and 50 bytes") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A few bytes can claim any number of pixels.
func TestImagesOfTooManyPixelsAreNotDecoded(t *testing.T) {
	var b bytes.Buffer
	if err := gif.Encode(&b, gradient(10, 10), nil); err != nil {
		t.Fatal(err)
	}
	data := b.Bytes()
	copy(data[6:], []byte{0xff, 0xff, 0xff, 0xff})
	_, _, err := Fit(data, Limits{2000, 1 << 20})
	if err == nil || !strings.Contains(err.Error(), "65535x65535 pixels") || !strings.Contains(err.Error(), "too many to work with") {
		t.Error(err)
	}
}

// withOrientation puts an Exif segment behind the start of a JPEG file.
func withOrientation(data []byte, o byte, little bool) []byte {
	exif := "Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(o) + "\x00\x00\x00\x00\x00\x00"
	if little {
		exif = "Exif\x00\x00II*\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00" + string(o) + "\x00\x00\x00\x00\x00\x00\x00"
	}
	segment := "\xff\xe1\x00" + string(byte(len(exif)+2)) + exif
	return append(append(append([]byte(nil), data[:2]...), segment...), data[2:]...)
}

func TestPhotographsStayUpright(t *testing.T) {
	data := encoded(t, gradient(200, 100), "jpeg") // red on the left
	for o, want := range map[byte]struct{ w, x, y int }{
		1: {80, 5, 20}, 2: {80, 75, 20}, 3: {80, 75, 20}, 4: {80, 5, 20}, 5: {40, 20, 5}, 6: {40, 20, 5}, 7: {40, 20, 75}, 8: {40, 20, 75},
	} {
		fit, _, err := Fit(withOrientation(data, o, o%2 == 0), Limits{80, 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		got, err := jpeg.Decode(bytes.NewReader(fit))
		if err != nil || got.Bounds().Dx() != want.w {
			t.Fatalf("orientation %d: %v, %v", o, got.Bounds(), err)
		}
		if r, _, _, _ := got.At(want.x, want.y).RGBA(); r < 0xc000 {
			t.Errorf("orientation %d: no red at %d, %d", o, want.x, want.y)
		}
	}
}

func TestMediaKeepsToTheLimitsOfTheModel(t *testing.T) {
	small := encoded(t, gradient(20, 10), "png")
	media := func(mime string, data []byte) *message.Media {
		return &message.Media{MIME: mime, Data: base64.StdEncoding.EncodeToString(data), Name: "a.png"}
	}
	right, wrong := media("image/png", small), media("image/jpeg", small)
	l := For(&model.Profile{})
	if got, err := FitMedia(right, l); got != right || err != nil {
		t.Errorf("a small one was changed: %v", err)
	}
	if got, err := FitMedia(wrong, l); err != nil || got.MIME != "image/png" || got.Data != wrong.Data {
		t.Errorf("one under a wrong type: %+v, %v", got, err)
	}
	elsewhere := &message.Media{URL: "https://example.com/a.png"}
	if got, err := FitMedia(elsewhere, l); got != elsewhere || err != nil {
		t.Errorf("one that is elsewhere: %v", err)
	}
	l = For(&model.Profile{Quirks: model.Quirks{ImageSide: 10, ImageBytes: 1000}})
	got, err := FitMedia(right, l)
	if err != nil || got.Data == right.Data || got.Name != "a.png" || right.Data != media("", small).Data {
		t.Errorf("one too large for the model: %+v, %v", got, err)
	}
}
