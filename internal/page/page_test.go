package page

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what comes out into the files of cases")

// cases calls f for each case of a file: "=== NAME", what goes in, "----", what
// is to come out.
func cases(t *testing.T, file string, f func(in string) string) {
	t.Helper()
	path := filepath.Join("testdata", file)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for block := range strings.SplitSeq(strings.TrimPrefix(string(data), "=== "), "\n=== ") {
		name, rest, _ := strings.Cut(block, "\n")
		in, want, _ := strings.Cut(rest, "\n----\n")
		in, want = strings.TrimSuffix(in, "\n----"), strings.TrimSuffix(want, "\n")
		got := f(in)
		out.WriteString("=== " + name + "\n" + in + "\n----\n" + got + "\n")
		if got != want && !*update {
			t.Errorf("%s:\n%s\n---- want\n%s", name, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func example() *url.URL {
	u, _ := url.Parse("https://example.com/dir/page.html")
	return u
}

func TestPagesBecomeMarkdown(t *testing.T) {
	cases(t, "markdown.txt", func(in string) string { return Parse(in, example()).Markdown() })
}

func TestArticlesAreFoundAmongWhatStandsAround(t *testing.T) {
	cases(t, "article.txt", func(in string) string {
		p := Parse(in, example())
		text, ok := p.Article()
		if !ok {
			return "none"
		}
		return p.Title + "\n\n" + text
	})
}

func TestWhatAPageSaysOfItself(t *testing.T) {
	p := Parse(`<title> The
		title </title><meta name="description" content="About &amp; more"><meta property="og:title" content="Other">
		<meta name=author content="A. Writer"><META PROPERTY="article:published_time" CONTENT="2026-11-30"><h1>Heading</h1>`, nil)
	if p.Title != "The title" || p.Description != "About & more" || p.Author != "A. Writer" || p.Published != "2026-11-30" || !p.Whole {
		t.Errorf("%+v", p)
	}
	if p := Parse("<h1>Only <b>this</b></h1>", nil); p.Title != "Only this" {
		t.Errorf("the title is %q", p.Title)
	}
}

// What is meant to take long or to become large does not: what took time that
// grows faster than the page would end this test by its time limit.
func TestHostilePagesAreReadLikeOthers(t *testing.T) {
	n := 50_000
	if testing.Short() {
		n = 10_000
	}
	for name, text := range map[string]string{
		"deep":             strings.Repeat("<div>", n) + "x",
		"deep lists":       strings.Repeat("<ul><li>", n) + "x",
		"deep quotes":      strings.Repeat("<blockquote>a", n),
		"deep marks":       strings.Repeat("<b>", n) + "x",
		"deep tables":      strings.Repeat("<table><tr><td>", n) + "x",
		"deep table rows":  strings.Repeat("<table><tr><td>a<td>b<tr><td>", n/4) + "x",
		"deep cells":       "<table><tr><td>a<td>" + strings.Repeat("<b><i>", n) + "x<tr><td>y<td>z</table>",
		"links in links":   strings.Repeat(`<a href="/x">`, n) + "x",
		"open tags":        strings.Repeat("<a ", n),
		"open quotes":      strings.Repeat(`<a b="`, n),
		"open comments":    strings.Repeat("<!--", n),
		"open scripts":     strings.Repeat("<script>", n),
		"open ends":        "<script>" + strings.Repeat("</", n),
		"ends of nothing":  strings.Repeat("<div>", 290) + strings.Repeat("</x>", n),
		"attributes":       "<a" + strings.Repeat(" b=c", n) + ">x",
		"entities":         strings.Repeat("&", n),
		"fences":           "<pre>" + strings.Repeat("```` ", n),
		"backticks":        "<code>" + strings.Repeat("`", 3000),
		"text in headings": strings.Repeat("<h1>x", n),
		"deep paragraphs":  strings.Repeat("<div>", 290) + strings.Repeat("<p>a few words of text in each of them", n/4),
		"angles":           strings.Repeat("<", n),
	} {
		p := Parse(text, nil)
		out := len(p.Markdown())
		article, _ := p.Article()
		if most := 40*len(text) + 1000; out > most || len(article) > most {
			t.Errorf("%s: %d bytes become %d", name, len(text), out)
		}
	}
}

func FuzzPage(f *testing.F) {
	f.Add("<p>a<b>b</p>")
	f.Add("<table><tr><td>a<td>b<tr><td>c")
	f.Add(`<a href="x"><h1>y</h1></a><pre>z`)
	f.Fuzz(func(_ *testing.T, text string) {
		p := Parse(text, nil)
		p.Markdown()
		p.Article()
	})
}
