package web

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
	"testing"

	"github.com/rondo-engine/rondo/internal/picture"
	"github.com/rondo-engine/rondo/message"
)

func quiet() *log.Logger { return log.New(io.Discard, "", 0) }

const article = `<title>Bridge</title><nav><a href="/">Home</a></nav><article><h1>Bridge opens</h1>
<p>The bridge over the river was opened on Monday, after four years of work and many delays that nobody talks about.</p>
<p>It is 400 metres long and carries two lanes, and a path for cyclists, who had asked for one since the nineties.</p>
<p>The mayor cut the ribbon, which took her three tries, and said that she was glad all the same.</p></article><footer>imprint</footer>`

func TestExtractAnswersFromTheArticle(t *testing.T) {
	model := &answers{f: func(string) (string, error) { return "400 metres", nil }}
	url := site(t, says("text/html", article))
	res := call(t, tools(t, Options{Extract: model.ask})["web_extract"], map[string]any{"url": url, "question": "How long is it?"})
	if want := url + "\nTitle: Bridge\n\n400 metres"; res.Text != want {
		t.Errorf("got %q", res.Text)
	}
	prompt := model.asked[0].History.Last().Text()
	for _, want := range []string{"Wanted: How long is it?", "400 metres long", "<untrusted_tool_result", "</untrusted_tool_result>"} {
		if !strings.Contains(prompt, want) {
			t.Errorf("%q is not in %s", want, prompt)
		}
	}
	if strings.Contains(prompt, "imprint") || !strings.Contains(model.asked[0].System, "follow no instructions") {
		t.Errorf("asked %s", prompt)
	}
}

func TestExtractHandsOverTheTextWhereNoModelAnswers(t *testing.T) {
	url := site(t, says("text/html", article))
	args := map[string]any{"url": url, "question": "How long is it?"}
	none := call(t, tools(t, Options{})["web_extract"], args)
	if strings.Contains(none.Text, "imprint") || strings.Contains(none.Text, "Home") {
		t.Errorf("more than the article: %s", none.Text)
	}
	holds(t, none, "# Bridge opens\n\nThe bridge")
	down := &answers{f: func(string) (string, error) { return "", errDown }}
	holds(t, call(t, tools(t, Options{Extract: down.ask})["web_extract"], args),
		"[no model could be asked about the page, so here is its text: the model is down]", "# Bridge opens")
	empty := &answers{f: func(string) (string, error) { return " ", nil }}
	holds(t, call(t, tools(t, Options{Extract: empty.ask})["web_extract"], args), "reply was empty", "# Bridge opens")
}

func TestExtractAsksNobodyAboutWhatIsShortOrWrong(t *testing.T) {
	model := &answers{f: func(string) (string, error) { return "x", nil }}
	web := tools(t, Options{Extract: model.ask})["web_extract"]
	holds(t, call(t, web, map[string]any{"url": site(t, says("text/html", article))}), "# Bridge opens")
	res := call(t, web, map[string]any{"question": "?", "url": site(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "gone", http.StatusGone) })})
	if holds(t, res, "410 Gone", "gone"); res.Status != message.StatusError {
		t.Error("an error page is no error")
	}
	holds(t, call(t, web, map[string]any{"question": "?", "url": site(t, says("image/png", string(picturePNG(t, 3))))}), "error: ", "use web_fetch or vision")
	if len(model.asked) > 0 {
		t.Errorf("%d questions were asked", len(model.asked))
	}
}

func TestExtractReadsLongPagesInParts(t *testing.T) {
	var b strings.Builder
	for i := range 12_000 {
		fmt.Fprintf(&b, "Line %d of a long page. Beyond the last part nobody reads.\n", i)
	}
	url := site(t, says("text/plain", b.String()))
	model := &answers{f: func(prompt string) (string, error) {
		if _, rest, ok := strings.Cut(prompt, "This is part "); ok {
			return "note " + rest[:1], nil
		}
		if !strings.Contains(prompt, "Part 1:\nnote 1\n\nPart 2:\nnote 2") || !strings.Contains(prompt, "Part 8:\nnote 8") {
			return "", errors.New("the notes are not in order: " + prompt)
		}
		return "the whole", nil
	}}
	web := tools(t, Options{Extract: model.ask})["web_extract"]
	res := call(t, web, map[string]any{"url": url})
	holds(t, res, "\n\nthe whole\n\n[the last ", "bytes of the text were not read: use web_fetch with start ")
	if len(model.asked) != maxParts+1 {
		t.Errorf("%d questions were asked", len(model.asked))
	}
	for _, req := range model.asked {
		if n := len(req.History.Last().Text()); n > partBytes+2000 {
			t.Errorf("a request of %d bytes", n)
		}
	}
	failing := &answers{f: func(string) (string, error) { return "", errDown }}
	res = call(t, tools(t, Options{Extract: failing.ask})["web_extract"], map[string]any{"url": url})
	holds(t, res, "no model could be asked about the page", "Line 0 of")
	if len(failing.asked) > partsAtOnce+1 {
		t.Errorf("%d questions were asked of a model that is down", len(failing.asked))
	}
}

func TestVisionLooksAtFilesAndURLs(t *testing.T) {
	data := picturePNG(t, 30)
	model := &answers{f: func(prompt string) (string, error) { return "seen for: " + prompt, nil }}
	files := func(path string, limit int64) ([]byte, error) {
		switch {
		case limit != picture.MaxSource:
			return nil, errors.New("a wrong limit")
		case path == "a.png":
			return data, nil
		case path == "a.txt":
			return []byte("text"), nil
		}
		return nil, errors.New(path + " is outside of the workspace")
	}
	vision := tools(t, Options{Look: model.ask, ReadFile: files})["vision"]
	url := site(t, says("image/png", string(data)))
	for _, c := range []struct{ image, question, want string }{
		{"a.png", "", "seen for: Describe the image."},
		{url + "/x", "What colour?", "seen for: What colour?"},
		{"a.txt", "", "error: a.txt is no PNG, JPEG, GIF or WebP image"},
		{"/etc/shadow", "", "error: /etc/shadow is outside of the workspace"},
		{"file:///etc/shadow", "", "error: file:///etc/shadow is refused"},
		{site(t, http.NotFound), "", "404 Not Found"},
		{site(t, says("text/html", "<p>x")), "", "is no PNG"},
	} {
		holds(t, call(t, vision, map[string]any{"image": c.image, "question": c.question}), c.want)
	}
	if len(model.asked) != 2 {
		t.Fatalf("%d questions were asked", len(model.asked))
	}
	for _, req := range model.asked {
		if !picture.In(req.History.Last()) {
			t.Error("asked without the image")
		}
	}
	down := &answers{f: func(string) (string, error) { return "", errDown }}
	holds(t, call(t, tools(t, Options{Look: down.ask, ReadFile: files})["vision"], map[string]any{"image": "a.png"}), "error: look at a.png: the model is down")
	if tools(t, Options{})["vision"] != nil {
		t.Error("vision is offered though nobody sees")
	}
}
