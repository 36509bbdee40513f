package proc

import "os"

// wiring connects a command with the files that it reads and writes.
type wiring struct {
	in, out, errs *os.File   // of the command; nil for none
	own           []*os.File // those that are the command's alone, closed once it has started
	from          *os.File   // where what it prints is read
	// toInput is where its input is written, nil where that is given.
	toInput *os.File
	// terminal names the terminal that in, out and errs are; empty for none.
	terminal string
	// background says that it is to end with this program.
	background bool
}

// wire makes the connections of a command in the background: two pipes, or a
// terminal.
func wire(terminal *Terminal) (*wiring, error) {
	if terminal != nil {
		user, program, err := openTerminal(*terminal)
		if err != nil {
			return nil, err
		}
		return &wiring{
			in: program, out: program, errs: program, own: []*os.File{program},
			from: user, toInput: user, terminal: program.Name(), background: true,
		}, nil
	}
	in, toInput, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		_ = in.Close()
		_ = toInput.Close()
		return nil, err
	}
	return &wiring{in: in, out: out, errs: out, own: []*os.File{in, out}, from: from, toInput: toInput, background: true}, nil
}
