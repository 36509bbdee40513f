package responses_test

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/model"
	"github.com/rondo-engine/rondo/model/responses"
	"github.com/rondo-engine/rondo/model/wire"
)

var rewrite = flag.Bool("rewrite", false, "rewrite the expected part of the files in testdata")

var profile = &model.Profile{Provider: "openai", Model: "m", Account: "acc"}

// TestDecode runs the files in testdata/decode: a remark, the body of a reply,
// a line ----, and what comes out of it.
func TestDecode(t *testing.T) {
	files, err := filepath.Glob("testdata/decode/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no files in testdata/decode")
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			given, want, _ := strings.Cut(string(data), "\n----\n")
			_, body, _ := strings.Cut(given, "\n")
			got := describe(body, len(body))
			if bytewise := describe(body, 1); bytewise != got {
				t.Errorf("one byte at a time it comes to something else:\n%s", cmp.Diff(got, bytewise))
			}
			if *rewrite {
				if err := os.WriteFile(file, []byte(given+"\n----\n"+got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
			}
		})
	}
}

// describe decodes body, read in pieces of chunk bytes or whole, and writes
// down all that comes out of it.
func describe(body string, chunk int) string {
	src := wire.Response{Status: http.StatusOK, Body: strings.NewReader(body)}
	if chunk == 1 {
		src.Body = iotest.OneByteReader(src.Body)
	}
	var b strings.Builder
	for d, err := range wire.Decode(profile, "test", time.Unix(1e9, 0), src, responses.NewDecoder(profile)) {
		if err != nil {
			describeError(&b, err)
			continue
		}
		switch d.Kind {
		case model.DeltaText:
			fmt.Fprintf(&b, "text %q\n", d.Text)
		case model.DeltaReasoning:
			fmt.Fprintf(&b, "reasoning %q\n", d.Text)
		case model.DeltaCall:
			fmt.Fprintf(&b, "call %d %s\n", d.Index, d.Name)
		case model.DeltaCallArgs:
			fmt.Fprintf(&b, "args %d %q\n", d.Index, d.Text)
		case model.DeltaDone:
			fmt.Fprintf(&b, "done %s\n", d.Reply.Finish)
			describeReply(&b, d.Reply)
		}
	}
	return b.String()
}

func describeError(b *strings.Builder, err error) {
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		fmt.Fprintf(b, "error without a class: %v\n", err)
		return
	}
	fmt.Fprintf(b, "error %s\n", e.Class)
	if e.Partial != nil {
		fmt.Fprintf(b, "partial %s\n", e.Partial.Finish)
		describeReply(b, e.Partial)
	}
}

func describeReply(b *strings.Builder, r *model.Reply) {
	fmt.Fprintf(b, "  id %s model %s usage %+v\n", r.ID, r.Model, r.Usage)
	if r.Refusal != "" {
		fmt.Fprintf(b, "  refusal %q\n", r.Refusal)
	}
	for _, p := range r.Message.Parts {
		fmt.Fprintf(b, "  %s", p.Kind)
		if p.Kind == message.KindText || p.Kind == message.KindReasoning {
			fmt.Fprintf(b, " %q", p.Text)
		}
		if p.Call != nil {
			fmt.Fprintf(b, " %s %s %s", p.Call.ID, p.Call.Name, p.Call.Arguments)
		}
		if p.State != nil {
			fmt.Fprintf(b, " [%s %s]", p.State.Kind, p.State.Data)
		}
		fmt.Fprintln(b)
	}
}
