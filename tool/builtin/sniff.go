package builtin

import "bytes"

// sniffMedia returns the media type of an image or document that models take,
// from the first bytes of a file; "" for anything else.
func sniffMedia(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return "image/png"
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return "image/jpeg"
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return "image/gif"
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return "image/webp"
	case bytes.HasPrefix(head, []byte("%PDF-")):
		return "application/pdf"
	}
	return ""
}

// sniffBinary says what kind of binary file begins with head; "" for text.
func sniffBinary(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "a UTF-16 file"
	case bytes.HasPrefix(head, []byte("\x7fELF")), bytes.HasPrefix(head, []byte("MZ")) && bytes.IndexByte(head, 0) >= 0:
		return "an executable"
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return "a zip archive (or an office document)"
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return "a gzip archive"
	case bytes.IndexByte(head, 0) >= 0:
		return "a binary file"
	}
	return ""
}
