package picture

import (
	"bytes"
	"encoding/binary"
	"image"
)

// Orientations of the Exif tag of that name (Exif 2.3, section 4.6.4): how the
// stored rows and columns lie in the picture as it is to be seen. Cameras store
// photographs as they hold them.
const (
	orientationTag = 0x0112
	normal         = 1
)

// orientation returns that of a JPEG file, 1 to 8; 1 where it says nothing, and
// for other files.
func orientation(data []byte) int {
	if !bytes.HasPrefix(data, []byte("\xff\xd8")) {
		return normal
	}
	for i := 2; i+4 <= len(data) && data[i] == 0xff; {
		marker, size := data[i+1], int(binary.BigEndian.Uint16(data[i+2:]))
		if marker == 0xda || size < 2 || i+2+size > len(data) { // the image itself begins
			break
		}
		segment := data[i+4 : i+2+size]
		if marker == 0xe1 && len(segment) > 14 && string(segment[:6]) == "Exif\x00\x00" {
			return exifOrientation(segment[6:])
		}
		i += 2 + size
	}
	return normal
}

// exifOrientation looks for the tag in the first directory of a TIFF structure.
func exifOrientation(tiff []byte) int {
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int(order.Uint32(tiff[4:]))
	if at < 8 || at+2 > len(tiff) {
		return normal
	}
	n := int(order.Uint16(tiff[at:]))
	for i := at + 2; n > 0 && i+12 <= len(tiff); i, n = i+12, n-1 {
		if order.Uint16(tiff[i:]) == orientationTag {
			if o := int(order.Uint16(tiff[i+8:])); o >= 1 && o <= 8 {
				return o
			}
			break
		}
	}
	return normal
}

// upright returns img as it is to be seen.
func upright(img image.Image, o int) image.Image {
	if o == normal {
		return img
	}
	b := img.Bounds()
	w, h := b.Dx(), b.Dy()
	size := image.Rect(0, 0, w, h)
	if o >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	dst := image.NewRGBA(size)
	for y := range h {
		for x := range w {
			tx, ty := x, y
			switch o {
			case 2:
				tx = w - 1 - x
			case 3:
				tx, ty = w-1-x, h-1-y
			case 4:
				ty = h - 1 - y
			case 5:
				tx, ty = y, x
			case 6:
				tx, ty = h-1-y, x
			case 7:
				tx, ty = h-1-y, w-1-x
			case 8:
				tx, ty = y, w-1-x
			}
			dst.Set(tx, ty, img.At(b.Min.X+x, b.Min.Y+y))
		}
	}
	return dst
}
