// Package chaos is a test of the whole engine under fire. Each run is a session
// whose model server, tools and user misbehave by a schedule that a seed gives:
// rate limits, outages, refusals, replies that are cut, stalled or garbage,
// tools that are slow, hang, fail or panic, a user who stops the run or changes
// it at any moment. Time is virtual. Whatever happens, a run must end once, for
// one reason, with a valid history, nothing lost and nothing done twice; and
// the same seed must give the same run.
//
//	go test -race ./internal/chaos -chaos.runs 5000 -chaos.seed 1 -v
//
// plays 5,000 of them and prints how they ended.
package chaos
