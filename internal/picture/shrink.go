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

// shrink scales img down to l, puts it upright and encodes it: a photograph as
// JPEG, anything else as PNG, and as JPEG where that is too large.
func shrink(img image.Image, photo bool, lies int, l Limits) ([]byte, string, error) {
	longest := max(img.Bounds().Dx(), img.Bounds().Dy())
	if longest == 0 {
		return nil, "", errors.New("it has no pixels")
	}
	first := min(longest, l.Side)
	for side := first; side >= min(minSide, first); side = side * 3 / 4 {
		scaled := upright(scale(img, side), lies)
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
// has them. It is halved as often as that goes, each pixel the mean of four, and
// brought to its size by interpolation: that takes little time and memory, and
// leaves fine lines and text to be read.
func scale(img image.Image, side int) image.Image {
	w, h := img.Bounds().Dx(), img.Bounds().Dy()
	longest := max(w, h)
	if longest <= side {
		return img
	}
	to := image.Rect(0, 0, max(w*side/longest, 1), max(h*side/longest, 1))
	from := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(from, from.Bounds(), img, img.Bounds().Min, draw.Src)
	for from.Rect.Dx() >= 2*to.Dx() && from.Rect.Dy() >= 2*to.Dy() {
		from = half(from)
	}
	if from.Rect == to {
		return from
	}
	dst := image.NewRGBA(to)
	draw.ApproxBiLinear.Scale(dst, to, from, from.Bounds(), draw.Src, nil)
	return dst
}

// half returns an image of half the width and height, which are 2 at least.
func half(from *image.RGBA) *image.RGBA {
	to := image.NewRGBA(image.Rect(0, 0, from.Rect.Dx()/2, from.Rect.Dy()/2))
	for y := range to.Rect.Dy() {
		above, below := from.Pix[2*y*from.Stride:], from.Pix[(2*y+1)*from.Stride:]
		row := to.Pix[y*to.Stride : (y+1)*to.Stride]
		for i := range row {
			at := i/4*8 + i%4
			row[i] = byte((int(above[at]) + int(above[at+4]) + int(below[at]) + int(below[at+4]) + 2) / 4)
		}
	}
	return to
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
