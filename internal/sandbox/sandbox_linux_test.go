package sandbox

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rondo-engine/rondo/internal/proc"
)

func TestMain(m *testing.M) {
	Init()
	if what := os.Getenv(tryVariable); what != "" {
		if err := attempt(what); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println("done")
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// bench is a home with secrets, a workspace in it, and a directory outside.
type bench struct {
	t                             *testing.T
	home, workspace, outside, tmp string
	policy                        Policy
}

func newBench(t *testing.T, needs int) *bench {
	t.Helper()
	if v := Version(); v < needs {
		t.Skipf("this kernel offers version %d of Landlock, and version %d is needed to try this", v, needs)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, home: filepath.Join(dir, "home"), outside: filepath.Join(dir, "outside"), tmp: filepath.Join(dir, "tmp")}
	b.workspace = filepath.Join(b.home, "src")
	for name, content := range map[string]string{
		"home/.ssh/id": "KEY", "home/.netrc": "KEY", "home/.config/gcloud/token": "KEY", "home/.config/app/settings": "plain",
		"home/notes": "plain", "home/src/main.go": "package main", "outside/file": "plain", "tmp/x": "", "home/.rondo/config.yaml": "KEY",
		"home/.rondo/spill/1.txt": "plain",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.policy = Policy{
		Writable: []string{b.workspace}, Temp: b.tmp, Network: true,
		Hidden: append(Secrets(b.home), filepath.Join(b.home, ".rondo")), Readable: []string{filepath.Join(b.home, ".rondo", "spill")},
	}
	return b
}

// run runs a command in the workspace, confined, and returns its output and
// whether it succeeded.
func (b *bench) run(command string) (string, bool) {
	b.t.Helper()
	c, err := b.policy.Wrap(proc.Cmd{
		Argv: []string{"sh", "-c", command}, Dir: b.workspace, ID: b.t.Name(), Timeout: 20 * time.Second,
		Env: append(proc.Environ(os.Environ()), "HOME="+b.home, "OUT="+b.outside),
	})
	if err != nil {
		b.t.Fatal(err)
	}
	res, err := proc.Run(context.Background(), c)
	if err != nil {
		b.t.Fatal(err)
	}
	return res.Head, res.ExitCode == 0
}

func (b *bench) succeeds(command, want string) {
	b.t.Helper()
	if got, ok := b.run(command); !ok || got != want {
		b.t.Errorf("%s: got %q, succeeded %v", command, got, ok)
	}
}

func (b *bench) fails(command string) {
	b.t.Helper()
	if got, ok := b.run(command); ok || strings.Contains(got, "KEY") || strings.Contains(got, "rondo: ") {
		b.t.Errorf("%s: got %q, succeeded %v", command, got, ok)
	}
}

// unchanged looks whether what is outside is as it was.
func (b *bench) unchanged() {
	b.t.Helper()
	got, err := os.ReadFile(filepath.Join(b.outside, "file"))
	names, _ := filepath.Glob(filepath.Join(b.outside, "*"))
	if err != nil || string(got) != "plain" || len(names) != 1 {
		b.t.Errorf("outside there is %q, %q, %v", names, got, err)
	}
}

func TestTheWorkspaceAndTheTemporaryDirectoryAreWritable(t *testing.T) {
	b := newBench(t, 1)
	b.succeeds("echo a > new && mkdir -p d/e && mv new d/e/f && ln -s d l && cat l/e/f && rm -r d l", "a\n")
	b.succeeds("echo a > $TMPDIR/t && cat $TMPDIR/t", "a\n")
	b.succeeds("echo a > /dev/null; head -c 2 /dev/zero | wc -c | tr -d ' '", "2\n")
	b.succeeds("sh -c 'sh -c \"pwd\"'", b.workspace+"\n")
}

func TestNothingElseIsWritable(t *testing.T) {
	b := newBench(t, 3)
	for _, command := range []string{
		"echo x > $OUT/new", "echo x > $OUT/file", ": > $OUT/file", "truncate -s 0 $OUT/file", "rm $OUT/file", "mkdir $OUT/d", "mv $OUT/file .",
		"mv main.go $OUT/", "echo x >> $HOME/notes", "echo x > $HOME/.profile", "touch /etc/rondo-was-here", "mknod null c 1 3",
		"ln -s $OUT out && echo x > out/new",                        // through a link to a directory
		"ln -s $OUT/file f && echo x > f",                           // through a link to a file
		"echo x > /proc/self/root$OUT/new",                          // through the root of a process
		"echo x > /proc/$PPID/root$OUT/new",                         // of one that is not confined
		"cd $OUT && echo x > new",                                   // from the inside
		"ln $OUT/file hard && echo x > hard",                        // through a hard link
		"ln main.go $OUT/hard",                                      // by one that leads in
		"exec 3<$OUT/file; echo x > /proc/self/fd/3",                // through a descriptor
		"mkdir -p m && mount --bind $OUT m && echo x > m/new",       // through a mount
		"chroot $OUT sh -c 'echo x > /new'",                         // in another root
		"unshare -Ur sh -c 'echo x > $OUT/new'",                     // in another namespace
		"cp /bin/sh . && ./sh -c 'echo x > $OUT/new'",               // by another program
		"(sleep 0.01; echo x > $OUT/new) & wait $!",                 // by a child in the background
		"setsid sh -c 'echo x > $OUT/new' & wait $!",                // in another session
		"nohup sh -c 'echo x > $OUT/new' >/dev/null 2>&1 & wait $!", // by one that would stay
	} {
		b.fails(command)
		b.unchanged()
	}
}

func TestAChildThatIsLeftBehindStaysConfined(t *testing.T) {
	b := newBench(t, 1)
	b.succeeds("(setsid sh -c 'sleep 0.05; echo x > $OUT/late; echo done > $TMPDIR/done' >/dev/null 2>&1 &); echo left", "left\n")
	for range 200 {
		if _, err := os.Stat(filepath.Join(b.tmp, "done")); err == nil {
			b.unchanged()
			return
		}
		time.Sleep(20 * time.Millisecond) // another process: no clock of ours
	}
	t.Error("the child did not come to its end")
}

func TestSecretsAreUnreadable(t *testing.T) {
	b := newBench(t, 1)
	for _, command := range []string{
		"cat $HOME/.ssh/id", "ls $HOME/.ssh", "cat $HOME/.netrc", "cat $HOME/.config/gcloud/token", "cat $HOME/.rondo/config.yaml",
		"cp -r $HOME/.ssh copy", "ln -s $HOME/.ssh s && cat s/id", "ln $HOME/.ssh/id h && cat h", "cat /proc/self/root$HOME/.ssh/id",
		"cat /proc/$PPID/root$HOME/.ssh/id", "cd $HOME/.ssh && cat id", "tar cf - $HOME/.ssh | grep -a KEY", "mv $HOME/.ssh k && cat k/id",
		fmt.Sprintf("tr '\\0' '\\n' < /proc/%d/environ", os.Getpid()),
	} {
		b.fails(command)
	}
	b.succeeds("cat $HOME/notes $HOME/.config/app/settings $OUT/file $HOME/.rondo/spill/1.txt", "plainplainplainplain")
	b.succeeds("test -r /etc/passwd && ls /usr > /dev/null && echo ok", "ok\n")
}

func TestAHomeThatIsTheWorkspaceKeepsItsSecrets(t *testing.T) {
	b := newBench(t, 1)
	b.policy.Writable = []string{b.home}
	b.fails("cat $HOME/.ssh/id")
	b.fails("echo x > $HOME/.ssh/id")
	b.fails("mv $HOME/.ssh $HOME/keys")
	b.fails("cp $HOME/.ssh/id $HOME/src/")
	b.succeeds("ls $HOME", "notes\nsrc\n")
	b.succeeds("echo y > main.go && cat main.go", "y\n")
}

func TestReadOnlyWritesNothing(t *testing.T) {
	b := newBench(t, 3)
	b.policy.Writable = nil
	for _, command := range []string{"echo x > new", "echo x > main.go", "rm main.go", "mkdir d", "echo x > $OUT/new", ": > main.go"} {
		b.fails(command)
	}
	b.succeeds("cat main.go; echo x > $TMPDIR/y; cat $TMPDIR/y", "package mainx\n")
}

func TestTheNetworkIsClosedWhenToldSo(t *testing.T) {
	b := newBench(t, 1)
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("there is no bash to try the network with")
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := net.ListenPacket("udp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer u.Close()
	port := func(a net.Addr) string { _, p, _ := net.SplitHostPort(a.String()); return p }
	tcp := fmt.Sprintf("%s -c 'echo hi > /dev/tcp/127.0.0.1/%s' && echo sent", bash, port(l.Addr()))
	udp := fmt.Sprintf("%s -c 'echo hi > /dev/udp/127.0.0.1/%s' && echo sent", bash, port(u.LocalAddr()))
	b.succeeds(tcp, "sent\n")
	b.succeeds(udp, "sent\n")
	b.policy.Network = false
	b.fails(tcp)
	b.fails(udp)
	b.fails("sh -c \"" + strings.ReplaceAll(tcp, "'", "\\\"") + "\"")
	b.succeeds("echo still runs", "still runs\n")
}

func TestAHelperThatCannotBecomeItsCommandSaysSo(t *testing.T) {
	b := newBench(t, 1)
	c, err := b.policy.Wrap(proc.Cmd{Argv: []string{"no-such-program"}, Dir: b.workspace, ID: t.Name()})
	if err != nil {
		t.Fatal(err)
	}
	res, err := proc.Run(t.Context(), c)
	if err != nil || res.ExitCode != failed || !strings.Contains(res.Head, "no-such-program") {
		t.Errorf("got %+v, %v", res, err)
	}
}

func BenchmarkPlain(b *testing.B) { benchmark(b, Policy{}, false) }

func BenchmarkConfined(b *testing.B) {
	home, _ := os.UserHomeDir()
	benchmark(b, Policy{Writable: []string{b.TempDir()}, Hidden: Secrets(home)}, true)
}

func benchmark(b *testing.B, p Policy, wrap bool) {
	for b.Loop() {
		c := proc.Cmd{Argv: []string{"/bin/true"}, ID: "x"}
		if wrap {
			c, _ = p.Wrap(c)
		}
		if res, err := proc.Run(b.Context(), c); err != nil || res.ExitCode != 0 {
			b.Fatal(res, err)
		}
	}
}
