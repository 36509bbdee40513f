package main

import "strconv"

// counted says how many there are of something: 1 session, 2 sessions.
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}
