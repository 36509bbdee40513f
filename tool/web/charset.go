package web

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"
)

// decode returns data as UTF-8. Its encoding is, strongest first, what a byte
// order mark says, what the server says, what the page says of itself, UTF-8
// where that is possible, and else windows-1252, as browsers have it.
func decode(data []byte, contentType string) string {
	if text, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return strings.ToValidUTF8(string(text), "\ufffd")
	}
	var enc encoding.Encoding
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		enc = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	default:
		_, params, _ := mime.ParseMediaType(contentType)
		if enc = named(params["charset"]); enc == nil {
			enc = named(declared(data))
		}
	}
	if enc == nil {
		if looksUTF8(data) {
			return strings.ToValidUTF8(string(data), "\ufffd")
		}
		enc = charmap.Windows1252
	}
	text, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		text = data
	}
	return strings.ToValidUTF8(string(text), "\ufffd")
}

// looksUTF8 reports whether data is UTF-8 but for a few bytes, such as those of
// a character that was cut off at its end.
func looksUTF8(data []byte) bool {
	bad, wide := 0, 0
	for i := 0; i < len(data); {
		if data[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			bad++
		} else {
			wide++
		}
		i += n
	}
	return bad == 0 || wide > 10*bad || wide > 0 && bad == 1
}

// declared finds what a page says of its encoding in its first 2,048 bytes: in
// an XML declaration or a meta element. It returns "" where it says nothing.
func declared(data []byte) string {
	head := strings.ToLower(string(data[:min(len(data), 2048)]))
	if decl, ok := strings.CutPrefix(head, "<?xml"); ok {
		decl, _, _ = strings.Cut(decl, "?>")
		if _, rest, ok := strings.Cut(decl, "encoding="); ok {
			return label(rest)
		}
	}
	for {
		_, rest, ok := strings.Cut(head, "<meta")
		if !ok {
			return ""
		}
		element, after, _ := strings.Cut(rest, ">")
		if _, value, ok := strings.Cut(element, "charset="); ok {
			return label(value)
		}
		head = after
	}
}

// label takes the name of an encoding off the start of text.
func label(text string) string {
	text = strings.TrimLeft(text, "\"' ")
	if i := strings.IndexAny(text, "\"' ;>/?"); i >= 0 {
		text = text[:i]
	}
	return text
}

// named returns the encoding of that name, nil for UTF-8 and what is unknown.
// Names are those of the WHATWG Encoding standard that occur.
func named(name string) encoding.Encoding {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "shift_jis", "shift-jis", "sjis", "x-sjis", "ms_kanji", "windows-31j", "cp932", "ms932":
		return japanese.ShiftJIS
	case "euc-jp", "eucjp", "x-euc-jp":
		return japanese.EUCJP
	case "iso-2022-jp", "csiso2022jp":
		return japanese.ISO2022JP
	case "euc-kr", "euckr", "ks_c_5601-1987", "korean", "windows-949", "cp949":
		return korean.EUCKR
	case "gb2312", "gb_2312-80", "gbk", "x-gbk", "chinese", "cp936":
		return simplifiedchinese.GBK
	case "gb18030":
		return simplifiedchinese.GB18030
	case "big5", "big5-hkscs", "cn-big5", "x-x-big5":
		return traditionalchinese.Big5
	case "iso-8859-1", "latin1", "latin-1", "us-ascii", "ascii", "windows-1252", "cp1252", "iso8859-1", "l1":
		return charmap.Windows1252
	case "utf-16", "utf-16le", "unicode":
		return unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "utf-16be":
		return unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	}
	return eightBit(strings.ToLower(strings.TrimSpace(name)))
}

// eightBit returns the encoding of one byte a character of that name.
func eightBit(name string) encoding.Encoding {
	switch name {
	case "iso-8859-2", "latin2":
		return charmap.ISO8859_2
	case "iso-8859-3":
		return charmap.ISO8859_3
	case "iso-8859-4":
		return charmap.ISO8859_4
	case "iso-8859-5":
		return charmap.ISO8859_5
	case "iso-8859-6":
		return charmap.ISO8859_6
	case "iso-8859-7":
		return charmap.ISO8859_7
	case "iso-8859-8", "iso-8859-8-i":
		return charmap.ISO8859_8
	case "iso-8859-9", "windows-1254", "latin5":
		return charmap.Windows1254
	case "iso-8859-10":
		return charmap.ISO8859_10
	case "iso-8859-13":
		return charmap.ISO8859_13
	case "iso-8859-15", "latin9":
		return charmap.ISO8859_15
	case "iso-8859-16":
		return charmap.ISO8859_16
	case "windows-1250":
		return charmap.Windows1250
	case "windows-1251", "cp1251":
		return charmap.Windows1251
	case "windows-1253":
		return charmap.Windows1253
	case "windows-1255":
		return charmap.Windows1255
	case "windows-1256":
		return charmap.Windows1256
	case "windows-1257":
		return charmap.Windows1257
	case "windows-1258":
		return charmap.Windows1258
	case "windows-874", "tis-620", "iso-8859-11":
		return charmap.Windows874
	case "koi8-r":
		return charmap.KOI8R
	case "koi8-u":
		return charmap.KOI8U
	case "ibm866", "cp866":
		return charmap.CodePage866
	case "macintosh", "x-mac-roman":
		return charmap.Macintosh
	}
	return nil
}
