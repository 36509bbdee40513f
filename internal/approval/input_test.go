package approval

import "testing"

func TestTypedInputIsJudgedByWhatReadsIt(t *testing.T) {
	c := New(Options{Workspace: "/home/me/project", Home: "/home/me"})
	for _, s := range []struct {
		command, before, input string
		terminal               bool
		want                   Level
	}{
		{"npm init", "", "y\n", true, Allow},
		{"npm init", "", "rm -rf ~\n", true, Allow}, // a name, to npm
		{"./server", "", "\x1b[A\r", true, Allow},
		{"bash", "", "ls\n", false, Allow},
		{"bash", "", "sudo ls\n", false, Ask},
		{"bash", "", "rm -rf ~\n", false, Deny},
		{"bash -i", "", "rm -rf ~\r", true, Deny},
		{"cd sub && exec bash", "", "rm -rf ~\n", false, Deny},
		{"cat | sh", "", "rm -rf ~\n", false, Deny},
		{"sudo -s", "", "rm -rf /\n", true, Deny},
		{"bash", "rm -rf ", "~\n", false, Deny},
		{"bash", "cd /\n", "rm -rf home\n", false, Deny},
		{"bash", "sudo ls\n", "ls\n", false, Allow}, // it was asked for before
		{"bash", "sudo ls\n", "sudo ls\n", false, Ask},
		{"bash", "for f in a; do\n", "ls\n", false, Ask}, // not whole yet
		{"bash", "for f in a; do\nls\n", "done\n", false, Allow},
		{"bash", "", "echo a\x15rm -rf b\n", true, Ask},
		{"bash", "", "l\t\n", true, Ask},
		{"bash", "", "l\ts\n", false, Allow},
		{"bash", "\x1b[A\r", "ls\n", true, Ask}, // nobody knows where it stands
		{"python3", "", "print(1)\n", false, Allow},
		{"python3 -i x.py", "", "import shutil; shutil.rmtree('/')\n", false, Deny},
		{"python3 manage.py shell", "", "import os; os.system('rm -rf ~')\n", true, Deny},
	} {
		if got := c.CheckInput(s.command, "", s.before, s.input, s.terminal); got.Level != s.want {
			t.Errorf("%q after %q into %s: %v (%s), want %v", s.input, s.before, s.command, got.Level, got.Reason, s.want)
		}
	}
}
