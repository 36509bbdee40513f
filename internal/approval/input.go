package approval

import (
	"slices"
	"strings"
)

// CheckInput judges what is typed into a program that command started in dir, after
// before was typed into it: to a shell it is commands, to another interpreter code,
// to all else it is only text. What was asked for because of before is not asked
// for again. In a terminal the keys that edit a line make it unknown what is run.
func (c *Checker) CheckInput(command, dir, before, input string, terminal bool) Verdict {
	whole := c.check(command, dir, asTyped(before+input, terminal), true)
	known := asTyped(before, terminal)
	if whole.Level != Ask || known == "" || known == unknown {
		return whole
	}
	earlier := c.check(command, dir, known, true).Asks
	alone := c.check(command, dir, asTyped(input, terminal), true).Asks
	l := &look{asks: slices.DeleteFunc(whole.Asks, func(q Question) bool {
		again := slices.ContainsFunc(alone, func(a Question) bool { return a.Key == q.Key })
		return q.Key != "" && !again && slices.Contains(earlier, q)
	})}
	return l.verdict()
}

// asTyped returns input as the lines that a program reads, unknown if keys are among
// it that edit them.
func asTyped(input string, terminal bool) string {
	input = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(input)
	isKey := func(r rune) bool { return r < 0x20 && r != '\n' && (r != '\t' || terminal) || r == 0x7f }
	if strings.ContainsFunc(input, isKey) {
		return unknown
	}
	return input
}
