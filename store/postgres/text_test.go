package postgres

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// anyText draws bytes, among them NUL, what is no UTF-8, and the code points
// that stand for such.
func anyText() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune{0, 'a', 'K', 'k', '\u212a', 'ſ', 's', 'ß', 'İ', 0x10ff00, 0x10ffff, '"', '\\', '{', ','})),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 4), func(p []string) string { return strings.Join(p, "") })
}

func TestEveryTextIsEscapedAndComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "text")
		e := escape(s)
		if !utf8.ValidString(e) || strings.ContainsRune(e, 0) {
			t.Fatalf("escape(%q) = %q, which the server does not take", s, e)
		}
		if back := unescape(e); back != s {
			t.Fatalf("%q comes back as %q", s, back)
		}
	})
}

func TestBeginningsStayBeginnings(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyText().Draw(t, "text")
		runes := []rune(s)
		n := rapid.IntRange(0, len(runes)).Draw(t, "n")
		head := string(runes[:n])
		if strings.HasPrefix(s, head) && !strings.HasPrefix(escape(s), escape(head)) {
			t.Fatalf("%q begins with %q, and not when they are escaped", s, head)
		}
	})
}

func TestKeysAreTheSameWhereTextsAreButForCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyText().Draw(t, "a")
		b := rapid.OneOf(anyText(), rapid.Just(strings.ToUpper(a)), rapid.Just(strings.ToLower(a)), rapid.Just(strings.ToTitle(a))).Draw(t, "b")
		if same := foldKey(a) == foldKey(b); same != strings.EqualFold(a, b) {
			t.Fatalf("the keys of %q and %q are equal: %v", a, b, same)
		}
	})
}

func TestArgumentsAreWrittenAsTheServerReadsThem(t *testing.T) {
	got := args{"a\x00", nil, 7, int64(-1), 0.1, []string{`a"b\c`, "", "NULL"}, []int64{1, -2}, []string{}}.encoded()
	want := []string{"a\U0010ff00", "", "7", "-1", "0.1", `{"a\"b\\c","","NULL"}`, "{1,-2}", "{}"}
	for i, w := range want {
		if string(got[i]) != w {
			t.Errorf("argument %d is %q, want %q", i, got[i], w)
		}
	}
	if got[1] != nil {
		t.Error("nil is not NULL")
	}
}
