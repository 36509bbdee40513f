package proc

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"testing"
	"time"
)

// endVariable makes the test a program that starts a command in the background and
// waits to be killed.
const endVariable = "RONDO_TEST_KILLED_PROGRAM"

// A command in the background ends with the program, however that ends.
func TestBackgroundEndsWithAProgramThatIsKilled(t *testing.T) {
	if os.Getenv(endVariable) != "" {
		b, err := Start(Cmd{Argv: []string{"sleep", "5155"}, ID: "killed"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Stop(context.Background())
		if _, err := os.Stdout.WriteString("started\n"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		return
	}
	self := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	self.Env = append(os.Environ(), endVariable+"=1")
	out, err := self.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := self.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "started\n" {
		t.Errorf("got %q, %v", line, err)
	}
	if n := survivors(t, "sleep 5155"); n != 1 {
		t.Errorf("%d run", n)
	}
	if err := self.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = self.Wait() // it was killed
	if !settled(func() bool { return survivors(t, "sleep 5155") == 0 }) {
		t.Error("it survived")
	}
}
