// Package crash holds no code of the program, only a test of it: a process works
// on a task and is killed again and again, at any moment, or its disk is full,
// and is started again each time until the task is done.
package crash
