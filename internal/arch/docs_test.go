package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

// sources calls f for each Go file of the tree that is not a test.
func sources(t *testing.T, f func(path string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root) {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		f(path, file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryPackageHasAComment(t *testing.T) {
	documented := map[string]bool{}
	sources(t, func(path string, file *ast.File, _ *token.FileSet) {
		dir := filepath.Dir(path)
		documented[dir] = documented[dir] || file.Doc.Text() != ""
	})
	for dir, ok := range documented {
		if !ok {
			t.Errorf("%s has no package comment", dir)
		}
	}
}

func TestEveryExportedNameHasAComment(t *testing.T) {
	sources(t, func(_ string, file *ast.File, fset *token.FileSet) {
		for _, d := range file.Decls {
			for _, n := range undocumented(d) {
				t.Errorf("%s: %s has no comment", fset.Position(n.Pos()), n.Name)
			}
		}
	})
}

// undocumented returns the exported names of a declaration that no comment
// stands before: that of the name, of its line, or of its group.
func undocumented(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc.Text() == "" && exportedReceiver(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		var names []*ast.Ident
		for _, s := range d.Specs {
			names = append(names, undocumentedSpec(s, d.Doc.Text() != "")...)
		}
		return names
	}
	return nil
}

func undocumentedSpec(s ast.Spec, group bool) []*ast.Ident {
	switch s := s.(type) {
	case *ast.TypeSpec:
		if s.Name.IsExported() && !group && s.Doc.Text() == "" {
			return []*ast.Ident{s.Name}
		}
	case *ast.ValueSpec:
		var names []*ast.Ident
		for _, n := range s.Names {
			if n.IsExported() && !group && s.Doc.Text() == "" && s.Comment.Text() == "" {
				names = append(names, n)
			}
		}
		return names
	}
	return nil
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch t := typ.(type) {
		case *ast.StarExpr:
			typ = t.X
		case *ast.IndexExpr:
			typ = t.X
		case *ast.Ident:
			return t.IsExported()
		default:
			return true
		}
	}
}

// longFile is how many lines a file may have that does not say why it needs more.
const longFile = 500

func TestFilesAreShort(t *testing.T) {
	sources(t, func(path string, file *ast.File, fset *token.FileSet) {
		lines := fset.File(file.Pos()).LineCount()
		if lines > longFile && !strings.Contains(firstComment(file), "long because") {
			t.Errorf("%s has %d lines: split it, or say in its first comment that it is long because …", path, lines)
		}
		if strings.HasSuffix(filepath.ToSlash(path), "/loop/loop.go") && lines >= 200 {
			t.Errorf("%s has %d lines: the loop is to be read in one sitting", path, lines)
		}
	})
}

func firstComment(f *ast.File) string {
	if len(f.Comments) == 0 {
		return ""
	}
	return f.Comments[0].Text()
}

// What only works on the machine that it was written on does not belong into
// the tree.
func TestNoPathsOfOneMachine(t *testing.T) {
	banned := []string{"/" + "work/", "/" + "root/", "/tmp/" + "bash_jobs"}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && d.Name() == ".git" {
				return filepath.SkipDir
			}
			return err
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".txt", ".txtar", ".yaml", ".sh":
		default:
			return nil
		}
		text, err := os.ReadFile(path)
		for _, b := range banned {
			if strings.Contains(string(text), b) {
				t.Errorf("%s names the path %s", path, b)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
