package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/modeltest"
)

// keyServer answers those who show key, and says who it is.
func keyServer(t *testing.T, key, name string) *modeltest.Server {
	t.Helper()
	srv, err := modeltest.Start(modeltest.Options{
		Key: key, Scripts: []modeltest.Script{{Func: func(*modeltest.Request) modeltest.Reply {
			return modeltest.Say(modeltest.Text(name))
		}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	return srv
}

// answer asks m once; errors are part of the answer.
func answer(t *testing.T, m model.Model) string {
	t.Helper()
	h, _ := message.Normalise([]*message.Message{message.NewUser("hi")})
	for d, err := range m.Stream(t.Context(), &model.Request{History: h}) {
		if err != nil {
			return "error: " + err.Error()
		}
		if d.Kind == model.DeltaDone {
			return d.Reply.Message.Text()
		}
	}
	return "nothing"
}

// Scenario 76: a key that is refused is read anew, once, before anything else.
func TestRefusedKeyIsReadAnewFromTheFile(t *testing.T) {
	srv := keyServer(t, "fresh-key", "ok")
	text := "model: m\nbase_url: " + srv.URL() + "/v1\napi_key: "
	env, l := configured(t, text+"stale-key\n", "")
	ms := newModels(env, l)
	m, err := ms.main(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, m); !strings.Contains(got, "auth") || strings.Contains(got, "stale-key") || len(srv.Requests()) != 1 {
		t.Errorf("with the stale key: %s after %d requests", got, len(srv.Requests()))
	}
	if err := os.WriteFile(filepath.Join(env.Dir, "config.yaml"), []byte(text+"fresh-key\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := answer(t, m); got != "ok" || len(srv.Requests()) != 3 {
		t.Errorf("with the fresh key in the file: %s after %d requests", got, len(srv.Requests()))
	}
	if got := ms.secrets.Hide("stale-key, fresh-key"); got != "[key], [key]" {
		t.Errorf("hidden as %s", got)
	}
}

// Scenario 84: the second key of the pool before another provider.
func TestSecondKeyComesBeforeTheFallback(t *testing.T) {
	srv, spare := keyServer(t, "second-key", "main"), keyServer(t, "", "spare")
	env, l := configured(t, `
model: mine/m
providers: {mine: {base_url: `+srv.URL()+`/v1, key_env: "A, B"}}
fallback_providers: [{model: m, base_url: `+spare.URL()+`/v1}]
`, "A=first-key B=second-key")
	m, err := newModels(env, l).main(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, m); got != "main" || len(srv.Requests()) != 2 {
		t.Errorf("got %s after %d requests", got, len(srv.Requests()))
	}
}

// Contract row L9: an auxiliary task has a chain of its own.
func TestAuxiliaryTasksHaveTheirOwnChain(t *testing.T) {
	first, second := keyServer(t, "right-key", "first"), keyServer(t, "", "second")
	env, l := configured(t, `
model: mine/main
providers: {mine: {base_url: http://127.0.0.1:1/v1}}
auxiliary:
  compression:
    model: small
    base_url: `+first.URL()+`/v1
    api_key: wrong-key
    fallback_chain: [{model: openai/unconfigured}, {model: other, base_url: `+second.URL()+`/v1}]
  vision: {effort: low}
  title: {model: openai/unconfigured}
`, "")
	ms := newModels(env, l)
	compression, err := ms.auxiliary(t.Context(), "compression")
	if err != nil {
		t.Fatal(err)
	}
	if got := answer(t, compression.Model); got != "second" || len(first.Requests()) != 1 {
		t.Errorf("compression got %s", got)
	}
	for _, task := range []string{"vision", "title", "web_extract"} {
		if m, err := ms.auxiliary(t.Context(), task); m.Model != nil || err != nil {
			t.Errorf("%s has a model of its own: %v", task, err)
		}
	}
	want := "auxiliary.compression[1] is left out: no key for openai"
	if len(ms.notes) != 2 || !strings.HasPrefix(ms.notes[0], want) || !strings.HasPrefix(ms.notes[1], "auxiliary.title[0] is left out") {
		t.Errorf("notes: %q", ms.notes)
	}
}

// Contract L9: auxiliary tasks have chains, a timeout and an effort of their own.
func TestAuxiliaryTasksHaveTheirOwnChainTimeoutAndEffort(t *testing.T) {
	main, first, spare := keyServer(t, "", "main"), keyServer(t, "k", "first"), keyServer(t, "", "spare")
	env, l := configured(t, `
model: m
base_url: `+main.URL()+`/v1
auxiliary:
  vision: {model: a, base_url: `+first.URL()+`/v1, timeout: 9s, effort: low, fallback_chain: [{model: b, base_url: `+spare.URL()+`/v1}]}
  title: {timeout: 3s}
  compression: {fallback_chain: [{model: b, base_url: `+spare.URL()+`/v1}]}
`, "")
	ms := newModels(env, l)
	vision, err := ms.auxiliary(t.Context(), "vision")
	if err != nil {
		t.Fatal(err)
	}
	if vision.Timeout != 9*time.Second || vision.Effort != "low" {
		t.Errorf("vision is asked for %v with effort %q", vision.Timeout, vision.Effort)
	}
	if got := answer(t, vision.Model); got != "spare" || len(first.Requests()) == 0 {
		t.Errorf("with the first refused (%d requests): %s", len(first.Requests()), got)
	}
	title, err := ms.auxiliary(t.Context(), "title")
	if err != nil || title.Model != nil || title.Timeout != 3*time.Second {
		t.Errorf("title: %+v, %v", title, err)
	}
	compression, err := ms.auxiliary(t.Context(), "compression")
	if err != nil || answer(t, compression.Model) != "main" || compression.Timeout != 2*time.Minute {
		t.Errorf("a chain without a model of its own: %+v, %v", compression, err)
	}
	extract, err := ms.auxiliary(t.Context(), "web_extract")
	if err != nil || extract.Model != nil || extract.Timeout != 6*time.Minute {
		t.Errorf("web_extract: %+v, %v", extract, err)
	}
}
