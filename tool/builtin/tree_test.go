package builtin

import (
	"bufio"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// makeTree writes a repository of about so many files into dir, the same each
// time: sources from 100 bytes to 1 MB (6 KB on average), binary files, a
// directory of dependencies that .gitignore leaves out, and .gitignore files
// further down.
func makeTree(tb testing.TB, dir string, files int) {
	tb.Helper()
	g := &treeMaker{tb: tb, rand: rand.New(rand.NewPCG(50, 2)), words: treeWords()}
	g.text(filepath.Join(dir, ".gitignore"), "node_modules/\n*.o\n*.log\n/build\n!keep.log\n**/gen/*.pb.go\n")
	g.text(filepath.Join(dir, ".git", "HEAD"), "ref: refs/heads/main\n")
	for n := 0; n < files; {
		below := filepath.Join(dir, fmt.Sprintf("area%02d", n%23), fmt.Sprintf("part%02d", n/23%29))
		if n%7 == 6 {
			below = filepath.Join(dir, "node_modules", fmt.Sprintf("dep%d", n%301), "lib")
		}
		below = filepath.Join(below, fmt.Sprintf("d%d", n/1000))
		if n%10 == 3 {
			g.text(filepath.Join(below, ".gitignore"), "/local\n*.tmp\ntmp-*\n")
			n++
		}
		for range 20 {
			g.file(below, n)
			n++
		}
	}
}

type treeMaker struct {
	tb    testing.TB
	rand  *rand.Rand
	words []string
}

// treeWords are what the files consist of.
func treeWords() []string {
	common := []string{
		"return", "if", "err", "!=", "nil", "{", "}", "func", "(ctx", "context.Context)", "string", "int", ":=", "range", "for",
		"import", "const", "x", "i", "value", "result", "// the", "length", "of", "a", "List", "Map", "=", "==", "&&", "append(out,", "out)",
		"Reader", "Writer", "handleRequest", "Config", "option", "TODO", "0x1f", "\"text\"", "len(p)", "p[i]",
	}
	for i := range 200 {
		common = append(common, fmt.Sprintf("name%c%d", 'A'+i%26, i*37%1000))
	}
	return common
}

func (g *treeMaker) file(dir string, n int) {
	endings := []string{".go", ".go", ".ts", ".ts", ".py", ".md", ".json", ".c", ".h", ".o", ".log", ".txt", ".pb.go", ".tmp"}
	path := filepath.Join(dir, fmt.Sprintf("file_%d%s", n, endings[g.rand.IntN(len(endings))]))
	size := int(100 * math.Exp(g.rand.Float64()*math.Log(300)))
	switch {
	case n%997 == 0:
		size = 1 << 20
	case n%31 == 0:
		g.text(path, "\x7fELF\x00\x01"+string(make([]byte, size)))
		return
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		g.tb.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		g.tb.Fatal(err)
	}
	w := bufio.NewWriter(f)
	for written, line := 0, 0; written < size; line++ {
		if line > 0 && line%4000 == 17 && n%50 == 0 {
			w.WriteString("needleInTheHaystack42\n")
		}
		w.WriteString("\t"[:line&1])
		for range 1 + g.rand.IntN(12) {
			word := g.words[g.rand.IntN(len(g.words))]
			w.WriteString(word)
			w.WriteByte(' ')
			written += len(word) + 1
		}
		w.WriteByte('\n')
	}
	if n%400 == 0 {
		w.WriteString("needleInTheHaystack42\n")
	}
	if err := w.Flush(); err != nil {
		g.tb.Fatal(err)
	}
	if err := f.Close(); err != nil {
		g.tb.Fatal(err)
	}
}

func (g *treeMaker) text(path, text string) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		g.tb.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		g.tb.Fatal(err)
	}
}
