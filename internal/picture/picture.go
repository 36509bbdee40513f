// Package picture makes images fit what models take: too many pixels or bytes
// and a provider refuses the whole request.
//
// Fit looks at an image's header, and decodes, scales and encodes it only where
// it is too large. PNG, JPEG, GIF and WebP are understood; of an animation the
// first frame stays. Anything else passes as it is as long as it is small enough.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/webp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
)

// Limits bound an image.
type Limits struct {
	// Side is the most pixels that either side may have.
	Side int
	// Bytes is the most that the file may have, before it is put in base64.
	Bytes int
}

// What holds for endpoints of which nothing else is known. Providers scale what
// is larger than about 1,600 pixels down themselves, so nothing is lost; in
// requests with many images Anthropic refuses more than 2,000, and anywhere a
// file of more than 5 MB in base64.
const (
	DefaultSide  = 2000
	DefaultBytes = 5 << 20 / 4 * 3
)

// MaxSource bounds the files that are made smaller, in bytes.
const MaxSource = 30 << 20

// maxPixels bounds what is decoded: a small file can hold a very large image.
const maxPixels = 64 << 20

// For returns the limits of the endpoint of p.
func For(p *model.Profile) Limits {
	l := Limits{DefaultSide, DefaultBytes}
	if p.ImageSide > 0 {
		l.Side = p.ImageSide
	}
	if p.ImageBytes > 0 {
		l.Bytes = p.ImageBytes
	}
	return l
}

// TooLargeError says that an image is beyond the limits and why it was not made
// smaller.
type TooLargeError struct {
	Bytes, Width, Height int // sides are 0 where they are not known
	Limits               Limits
	Err                  error
}

// Error says how large the image is, what is allowed, and what went wrong.
func (e *TooLargeError) Error() string {
	size := fmt.Sprintf("%d bytes", e.Bytes)
	if e.Width > 0 {
		size = fmt.Sprintf("%dx%d pixels and %s", e.Width, e.Height, size)
	}
	return fmt.Sprintf("the image has %s, where %d pixels a side and %d bytes are allowed, and could not be made smaller: %v",
		size, e.Limits.Side, e.Limits.Bytes, e.Err)
}

// Unwrap returns what went wrong.
func (e *TooLargeError) Unwrap() error { return e.Err }

// Fit returns the image in data so that it keeps to l, and its media type:
// data itself if it does. The type is "" for what is no image that is
// understood. The error is a *TooLargeError.
func Fit(data []byte, l Limits) (fit []byte, mime string, err error) {
	mime = Type(data)
	tooLarge := &TooLargeError{Bytes: len(data), Limits: l}
	if mime == "" {
		if len(data) <= l.Bytes {
			return data, "", nil
		}
		tooLarge.Err = errors.New("it is no PNG, JPEG, GIF or WebP")
		return nil, "", tooLarge
	}
	c, err := config(data, mime)
	if err != nil {
		if len(data) <= l.Bytes {
			return data, mime, nil // a decoder that can do more may read it
		}
		tooLarge.Err = err
		return nil, "", tooLarge
	}
	if c.Width <= l.Side && c.Height <= l.Side && len(data) <= l.Bytes {
		return data, mime, nil
	}
	tooLarge.Width, tooLarge.Height = c.Width, c.Height
	if c.Width*c.Height > maxPixels {
		tooLarge.Err = fmt.Errorf("more than %d pixels are too many to work with", maxPixels)
		return nil, "", tooLarge
	}
	img, err := decode(data, mime)
	if err == nil {
		fit, mime, err = shrink(img, mime == "image/jpeg", orientation(data), l)
	}
	if err != nil {
		tooLarge.Err = err
		return nil, "", tooLarge
	}
	return fit, mime, nil
}

// FitMedia is Fit for the image of a message. It returns m itself if nothing is
// to be changed: because it keeps to l, or is somewhere else. An image that is
// of another type than it says gets the right one.
func FitMedia(m *message.Media, l Limits) (*message.Media, error) {
	if m.Data == "" {
		return m, nil
	}
	data, err := base64.StdEncoding.DecodeString(m.Data)
	if err != nil {
		return m, nil // what cannot be read is for others to refuse
	}
	fit, mime, err := Fit(data, l)
	same := len(fit) == len(data) && (len(fit) == 0 || &fit[0] == &data[0])
	switch {
	case err != nil:
		return nil, err
	case same && (mime == m.MIME || mime == ""):
		return m, nil
	}
	made := *m
	made.MIME = mime
	if !same {
		made.Data = base64.StdEncoding.EncodeToString(fit)
	}
	return &made, nil
}

// Type returns the media type of an image that is understood, from its first
// bytes; "" for anything else.
func Type(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return "image/gif"
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return "image/webp"
	}
	return ""
}

func config(data []byte, mime string) (image.Config, error) {
	r := bytes.NewReader(data)
	switch mime {
	case "image/png":
		return png.DecodeConfig(r)
	case "image/jpeg":
		return jpeg.DecodeConfig(r)
	case "image/gif":
		return gif.DecodeConfig(r)
	}
	return webp.DecodeConfig(r)
}

func decode(data []byte, mime string) (image.Image, error) {
	r := bytes.NewReader(data)
	switch mime {
	case "image/png":
		return png.Decode(r)
	case "image/jpeg":
		return jpeg.Decode(r)
	case "image/gif":
		return gif.Decode(r)
	}
	return webp.Decode(r)
}
