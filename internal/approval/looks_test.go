package approval

import "testing"

func TestOnlyLooksKnowsWhatChangesNothing(t *testing.T) {
	for _, command := range []string{
		"ls -la", "cat README.md | head -20", "git status", "git --no-pager log --oneline -5", "git diff HEAD~1 -- src", "git -C sub show HEAD:a.go",
		"grep -rn 'func main' . 2>/dev/null", "rg -n TODO src", "find . -name '*.go' -type f | wc -l", "go list ./...", "go doc fmt.Println", "go version",
		"pwd && ls", "ls *.go", `echo "$HOME"`, "test -f go.mod && echo yes", "[ -d src ]", "[[ -n $HOME ]] && echo home", "wc -l < go.mod",
		"for f in a b; do cat $f; done", "if git diff --quiet; then echo clean; fi", "git branch -a", "git remote -v", "git stash list", "du -sh .",
		"sort names | uniq -c", "echo $(git rev-parse HEAD)", "jq .name package.json", "cd src && ls", "git tag -l", "git config --get user.name",
		"diff <<< a b", "time ls", "cat 'a file'", "git log 2>&1 | tail -3",
	} {
		if !OnlyLooks(command) {
			t.Errorf("%q is taken to change something", command)
		}
	}
}

func TestOnlyLooksTrustsNothingElse(t *testing.T) {
	for _, command := range []string{
		"", "(", "rm a", "touch a", "echo x > a", "echo x >> a", "ls &", "make", "go test ./...", "go build", "go env -w A=b", "go generate", "npm test",
		"find . -delete", "find . -name x -exec rm {} +", "sort -o a a", "sort -oa a", "sort --output=a a", "sort --out=a a", "git commit -m x", "git checkout x",
		"git branch new", "git tag v1", "git -c core.pager=x log", "git diff --output=a", "git diff --ext-diff", "git grep -O x", "git config user.name x",
		"git stash", "git remote add a b", "git fetch", "./ls", "/bin/ls", "$(echo rm) a", `"$X" a`, "l\\s", "eval ls", "sh -c ls", "bash x.sh", "xargs rm",
		"ls | xargs rm", "cat a | sh", "cat a | tee b", "A=1 ls", "LD_PRELOAD=x ls", "A=1", "f() { ls; }; f", "alias ls=rm", "source x", ". x", "sed -i s/a/b/ x",
		"sed -n p x", "awk '{print > \"a\"}' x", "python -c 'print(1)'", "curl https://example.com", "env", "sudo ls", "echo ${X:=1}", "uniq a b", "xxd -r a b",
		"cat < /dev/tcp/h/1", "cat <(rm a)", "ls > >(rm a)", "echo `rm a`", "echo \"$(rm a)\"", "[ $(rm a) ]", "while true; do ls; done", "case x in x) ls;; esac",
		"exec ls", "command rm a", "nohup ls", "cd $(rm a)", "export A=1", "coproc ls", "for PATH in x; do ls; done",
		"for x in '$(rm a)'; do echo ${x@P}; done", "[ -v 'a[$(rm a)]' ]", "for o in -v; do [ $o 'a[$(rm b)]' ]; done", "[[ -v 'a[$(rm a)]' ]]",
		"for x in 'a[$(rm y)]'; do [[ $x -eq 1 ]]; done", "printf -v PATH x", "echo ${a[x]}", "go list --mod=mod ./...", "select x in a; do ls; done", "ls >| a", "ls <> a", "rg --pre x y", "tree -o a", "file -C", "echo a{b,c} > x",
		"sort $OPT a", "git $X", "find . $X", "let a=1", "((a=1))", "declare a=1", "printf -v PATH x > y", "git log --out=a", "rg --pr=x y", "trap ls EXIT",
	} {
		if OnlyLooks(command) {
			t.Errorf("%q is taken to change nothing", command)
		}
	}
}
