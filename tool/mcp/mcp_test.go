package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/message"
	"github.com/rondo-engine/rondo/tool"
	"github.com/rondo-engine/rondo/tool/mcp"
)

// own is the test's own server.
func own(mode string) mcp.Server {
	return mcp.Server{Command: os.Args[0], Env: []string{serverMode + "=" + mode, "GIVEN=yes"}}
}

func open(t *testing.T, servers map[string]mcp.Server, o mcp.Options) *mcp.Servers {
	t.Helper()
	s := mcp.Open(t.Context(), servers, o)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func find(t *testing.T, s *mcp.Servers, name string) *tool.Tool {
	t.Helper()
	for _, one := range s.Tools() {
		if one.Name == name {
			return one
		}
	}
	t.Fatalf("no tool %s in %v; warnings %q", name, names(s), s.Warnings())
	return nil
}

func names(s *mcp.Servers) []string {
	var all []string
	for _, one := range s.Tools() {
		all = append(all, one.Name)
	}
	return all
}

func call(t *testing.T, s *mcp.Servers, name, args string) (tool.Result, error) {
	t.Helper()
	return find(t, s, name).Run(t.Context(), tool.Call{Args: json.RawMessage(args)})
}

func TestProgramsGetOnlyTheVariablesThatAreNamed(t *testing.T) {
	s := open(t, map[string]mcp.Server{"own": own("plain")}, mcp.Options{
		Environ: []string{"PATH=/bin", "LC_ALL=C", "OPENAI_API_KEY=sk-secret", "GITHUB_TOKEN=secret"},
	})
	res, err := call(t, s, "mcp__own__env", `{}`)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(res.Text, "\n")
	slices.Sort(got)
	want := []string{"GIVEN=yes", "LC_ALL=C", "PATH=/bin", serverMode + "=plain"}
	if !slices.Equal(got, want) {
		t.Errorf("the program sees %q, want %q", got, want)
	}
}

func TestNamesAreShortAndDiffer(t *testing.T) {
	s := open(t, map[string]mcp.Server{"own": own("plain"), "ow n": own("plain"), "ow.n": own("plain")}, mcp.Options{})
	seen := map[string]bool{}
	for _, name := range names(s) {
		if len(name) > 64 || seen[name] {
			t.Errorf("name %s has %d characters, seen: %v", name, len(name), seen[name])
		}
		seen[name] = true
	}
	if len(seen) != 21 {
		t.Errorf("%d tools, want 3 servers with 7 each: %v, %q", len(seen), names(s), s.Warnings())
	}
	if _, err := tool.NewRegistry(s.Tools()...); err != nil {
		t.Error(err)
	}
}

func TestABadSchemaLosesOneTool(t *testing.T) {
	s := open(t, map[string]mcp.Server{"own": own("schemas")}, mcp.Options{})
	if n := len(s.Tools()); n != 7+4 {
		t.Errorf("%d tools: %v", n, names(s))
	}
	if w := s.Warnings(); len(w) != 1 || !strings.Contains(w[0], "the tool odd4 is left out") {
		t.Errorf("warnings %q", w)
	}
	for _, one := range s.Tools() {
		var root struct {
			Type       string
			Properties json.RawMessage
		}
		if err := json.Unmarshal(one.Schema, &root); err != nil || root.Type != "object" || root.Properties == nil {
			t.Errorf("%s is sent with %s", one.Name, one.Schema)
		}
	}
}

func TestAServerThatCannotBeHadIsAWarning(t *testing.T) {
	began := time.Now()
	s := open(t, map[string]mcp.Server{
		"dead": own("dead"), "gone": {Command: "no-such-program-zebra"}, "slow": own("slow"), "own": own("plain"),
		"web": {URL: "http://127.0.0.1:1/mcp"},
	}, mcp.Options{Wait: 3 * time.Second})
	if took := time.Since(began); took > 6*time.Second {
		t.Errorf("opening took %v", took)
	}
	all := strings.Join(s.Warnings(), "\n")
	for _, want := range []string{
		"MCP server dead is left out:", "it said: no database here", "MCP server gone is left out:", "no-such-program-zebra",
		"MCP server slow is left out: it did not answer within 3s", "MCP server web is left out:",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("the warnings lack %q:\n%s", want, all)
		}
	}
	if len(s.Tools()) != 7 {
		t.Errorf("tools %v", names(s))
	}
}

func TestADeadServerIsAnErrorAndIsStartedAgain(t *testing.T) {
	s := open(t, map[string]mcp.Server{"own": own("plain")}, mcp.Options{})
	_, err := call(t, s, "mcp__own__die", `{}`)
	if err == nil || !strings.Contains(err.Error(), "the MCP server own died during the call") {
		t.Errorf("the call that kills it: %v", err)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		res, err := call(t, s, "mcp__own__env", `{}`)
		if err == nil && strings.Contains(res.Text, "GIVEN=yes") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it was not started again: %v", err)
		}
	}
}

func TestWhatServersSayIsHandedOverAsWhatItIs(t *testing.T) {
	s := open(t, map[string]mcp.Server{"own": own("plain")}, mcp.Options{})
	res, err := call(t, s, "mcp__own__image", `{}`)
	if err != nil || len(res.Media) != 1 || res.Media[0].Kind != message.KindImage || res.Media[0].Media.MIME != "image/png" || res.Media[0].Media.Data != "cG5n" {
		t.Errorf("an image: %+v, %v", res, err)
	}
	res, err = call(t, s, "mcp__own__bad", `{}`)
	if err != nil || res.Status != message.StatusError || res.Text != "it went wrong" {
		t.Errorf("an error: %+v, %v", res, err)
	}
	if one := find(t, s, "mcp__own__env"); !one.Untrusted || one.Access != nil || one.ReadOnly {
		t.Errorf("a tool of a server: %+v", one)
	}
}

func TestToolsAreChosenAndMayRunTogether(t *testing.T) {
	server := own("plain")
	server.Tools, server.Parallel = []string{"*", "!long*", "!die"}, true
	s := open(t, map[string]mcp.Server{"own": server}, mcp.Options{})
	if got := strings.Join(names(s), " "); got != "mcp__own__bad mcp__own__env mcp__own__hang mcp__own__image" {
		t.Errorf("tools %s", got)
	}
	if one := s.Tools()[0]; one.Access == nil || one.Access(nil).Exclusive {
		t.Error("the tools of a parallel server run alone")
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	s := open(t, map[string]mcp.Server{"own": own("plain")}, mcp.Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	_, err := find(t, s, "mcp__own__hang").Run(ctx, tool.Call{Args: json.RawMessage(`{}`)})
	if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) > time.Second {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	if _, err := call(t, s, "mcp__own__env", `{}`); err != nil {
		t.Errorf("the next call: %v", err)
	}
}
