package sandbox

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// tryVariable makes the tests' program try something that no usual program does,
// and print how that went.
const tryVariable = "RONDO_SANDBOX_TRY"

// attempt carries out what tryVariable names.
func attempt(what string) error {
	verb, arg, _ := strings.Cut(what, " ")
	switch verb {
	case "unix":
		c, err := net.Dial("unix", arg)
		if err == nil {
			c.Close()
		}
		return err
	case "packet":
		fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM, 0)
		if err == nil {
			unix.Close(fd)
		}
		return err
	case "ptrace":
		pid, err := strconv.Atoi(arg)
		if err == nil {
			err = unix.PtraceAttach(pid)
		}
		return err
	case "memory":
		f, err := os.OpenFile("/proc/"+arg+"/mem", os.O_RDWR, 0)
		if err == nil {
			f.Close()
		}
		return err
	case "uring":
		var params [120]byte
		fd, _, errno := unix.Syscall(ioURingSetup, 4, uintptr(unsafe.Pointer(&params)), 0)
		if errno != 0 {
			return errno
		}
		return unix.Close(int(fd))
	case "handle":
		return openByHandle(arg)
	}
	return errors.New("nobody knows how to try " + what)
}

// openByHandle opens a file around its path, as nfs servers do.
func openByHandle(name string) error {
	handle, _, err := unix.NameToHandleAt(unix.AT_FDCWD, name, 0)
	if err != nil {
		return err
	}
	mount, err := unix.Open(os.TempDir(), unix.O_RDONLY|unix.O_DIRECTORY, 0) // where tests have their files
	if err != nil {
		return err
	}
	fd, err := unix.OpenByHandleAt(mount, handle, unix.O_RDONLY)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// try has the tests' program try something, confined.
func (b *bench) try(what string) error {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	out, ok := b.run(fmt.Sprintf("%s='%s' '%s'", tryVariable, what, self))
	if ok && out == "done\n" {
		return nil
	}
	return errors.New(strings.TrimSpace(out))
}

// mustFail tries something that has to be refused, and what the machine refuses
// anyway says nothing.
func (b *bench) mustFail(what string) {
	b.t.Helper()
	self, err := os.Executable()
	if err != nil {
		b.t.Fatal(err)
	}
	free := exec.Command(self)
	free.Env = append(os.Environ(), tryVariable+"="+what)
	if out, err := free.Output(); err != nil {
		b.t.Logf("%s is refused without confinement, too: %s", what, out)
	}
	if err := b.try(what); err == nil {
		b.t.Errorf("%s went through", what)
	}
}

// sibling is a process of the same user that another command started, confined
// as that was.
func (b *bench) sibling() int {
	b.t.Helper()
	c := exec.Command("sleep", "60")
	if err := c.Start(); err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { _ = c.Process.Kill(); _ = c.Wait() })
	return c.Process.Pid
}

func TestOtherProcessesCannotBeTakenOver(t *testing.T) {
	b := newBench(t, 1)
	pid := strconv.Itoa(b.sibling())
	for _, what := range []string{"ptrace " + pid, "memory " + pid} {
		b.mustFail(what)
	}
	b.fails("cat /proc/" + pid + "/environ")
	b.fails("cat /proc/" + pid + "/root" + b.home + "/.ssh/id")
	b.fails("echo x > /proc/" + pid + "/cwd/../outside/new")
	b.unchanged()
}

func TestFilesCannotBeReachedByHandle(t *testing.T) {
	b := newBench(t, 1)
	b.mustFail("handle " + filepath.Join(b.home, ".ssh", "id"))
}

func TestSocketsAreClosedWithTheNetwork(t *testing.T) {
	b := newBench(t, 6)
	name := fmt.Sprintf("@rondo-sandbox-%d", os.Getpid())
	l, err := net.Listen("unix", name)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := b.try("unix " + name); err != nil {
		t.Errorf("with the network: %v", err)
	}
	b.policy.Network = false
	for _, what := range []string{"unix " + name, "packet", "uring"} {
		b.mustFail(what)
	}
}

func TestSharedMemoryCanBeUsed(t *testing.T) {
	b := newBench(t, 1)
	if _, err := os.Stat("/dev/shm"); err != nil {
		t.Skip("there is no /dev/shm here")
	}
	name := fmt.Sprintf("/dev/shm/rondo-sandbox-%d", os.Getpid())
	b.succeeds("echo a > "+name+" && cat "+name+" && rm "+name, "a\n")
	b.fails("mknod /dev/shm/null c 1 3")
	b.fails("echo x > /dev/null/x")
}

// What stands in PATH and can be written to would run outside of the confinement.
func TestProgramsOfTheUserCannotBeReplaced(t *testing.T) {
	b := newBench(t, 3)
	for _, dir := range []string{".local/bin", "bin", "go/bin", ".cargo/bin", ".config/autostart"} {
		if err := os.MkdirAll(filepath.Join(b.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	b.policy.Writable = append(b.policy.Writable, Caches(b.home, func(string) string { return "" })...)
	for _, file := range []string{
		".local/bin/git", "bin/x", "go/bin/gopls", ".cargo/bin/cargo", ".bashrc", ".profile", ".gitconfig", ".config/autostart/x.desktop", ".ssh/authorized_keys",
	} {
		b.fails("echo x > $HOME/" + file)
	}
	b.fails("mkdir $HOME/.git")
	b.fails("ln -s /bin/sh $HOME/.local/bin/ls")
}

// TMPDIR is taken from the policy, whatever the command's environment says.
func TestAnotherTemporaryDirectoryDoesNotWidenIt(t *testing.T) {
	b := newBench(t, 3)
	b.fails("TMPDIR=$OUT mktemp")
	b.unchanged()
	b.succeeds("f=$(mktemp) && dirname $f && rm $f", b.tmp+"\n")
}
