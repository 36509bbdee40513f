package picture

import (
	"image"
	"testing"
)

// A photograph of 12 megapixels, as a telephone takes it.
func BenchmarkFit(b *testing.B) {
	img := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	for i := range img.Y {
		img.Y[i] = byte(i * i >> 8)
	}
	data := encoded(b, img, "jpeg")
	for b.Loop() {
		if _, _, err := Fit(data, Limits{DefaultSide, DefaultBytes}); err != nil {
			b.Fatal(err)
		}
	}
}

// What nearly every image costs: a look at its header.
func BenchmarkFitSmall(b *testing.B) {
	data := encoded(b, gradient(1600, 1200), "jpeg")
	for b.Loop() {
		if _, _, err := Fit(data, Limits{DefaultSide, DefaultBytes}); err != nil {
			b.Fatal(err)
		}
	}
}
