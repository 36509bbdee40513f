package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"golang.org/x/image/draw"
)

// minSide is what an image is never made smaller than: nothing could be seen.
const minSide = 64

// shrink scales img down to l and encodes it: a photograph as JPEG, anything
// else as PNG, and as JPEG where that is too large.
func shrink(img image.Image, photo bool, l Limits) ([]byte, string, error) {
	longest := max(img.Bounds().Dx(), img.Bounds().Dy())
	if longest == 0 {
		return nil, "", errors.New("it has no pixels")
	}
	first := min(longest, l.Side)
	for side := first; side >= min(minSide, first); side = side * 3 / 4 {
		scaled := scale(img, side)
		if !photo {
			var b bytes.Buffer
			if err := png.Encode(&b, scaled); err != nil {
				return nil, "", err
			}
			if b.Len() <= l.Bytes {
				return b.Bytes(), "image/png", nil
			}
		}
		for _, quality := range []int{85, 70} {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, opaque(scaled), &jpeg.Options{Quality: quality}); err != nil {
				return nil, "", err
			}
			if b.Len() <= l.Bytes {
				return b.Bytes(), "image/jpeg", nil
			}
		}
	}
	return nil, "", errors.New("no size fits")
}

// scale returns img with its longer side of so many pixels; img itself if it
// has them.
func scale(img image.Image, side int) image.Image {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	longest := max(w, h)
	if longest <= side {
		return img
	}
	to := image.Rect(0, 0, max(w*side/longest, 1), max(h*side/longest, 1))
	dst := image.NewRGBA(to)
	draw.CatmullRom.Scale(dst, to, img, img.Bounds(), draw.Src, nil)
	return dst
}

// opaque returns img on white, since JPEG has no transparency.
func opaque(img image.Image) image.Image {
	if o, ok := img.(interface{ Opaque() bool }); ok && o.Opaque() {
		return img
	}
	dst := image.NewRGBA(img.Bounds())
	draw.Draw(dst, dst.Bounds(), image.NewUniform(color.White), image.Point{}, draw.Src)
	draw.Draw(dst, dst.Bounds(), img, img.Bounds().Min, draw.Over)
	return dst
}
