// Package modeltest is a model server that says what a script tells it to. It
// speaks OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and the
// Gemini API, streamed or in one piece as the request asks, checks each request
// as strictly as the real services do, and records it.
//
// Start gives a server on loopback, NewPipe one in memory for tests with
// virtual time; a Server is an http.Handler besides. Package conformance holds
// the suite that each adapter passes against it.
//
// # Scripts
//
// A script is lines of text: a word and what belongs to it. Parse reads it,
// and the types Script, Reply and Step say the same in Go.
//
//	# Reads a file and tells what is in it.
//	model demo
//	position history
//
//	reply
//	  think I should look first.
//	  text Let me see.
//	  call read_file {"path": "add.go"}
//	  call list_files {}
//
//	reply
//	  status 429 Slow down.
//	  header Retry-After: 2
//
//	reply
//	  words It adds two numbers.
//	  usage input=900 cache_read=512 output=12
//
//	reply when user "goodbye"
//	  text See you.
//
// Empty lines and lines that begin with # are skipped, space in front of a line
// too. These words stand outside of replies:
//
//	model NAME             begins the script for the model NAME; what stands
//	                       before the first one is for all other models
//	position order         the default: each request takes the next reply
//	position history       the history in the request says which reply is next
//	reply [when C] [times N]   begins a reply; N is a number or "forever"
//
// The condition C makes the reply a rule. It is one of
//
//	user "X"      what the user said in the running turn contains X
//	result "X"    the request ends with tool results that contain X
//	system "X"    the system prompt contains X
//	tools none    the request offers no tools
//
// The steps of a reply are played in order:
//
//	text T             says T in one delta; a next text goes on in the same block
//	words T            says T word by word
//	think T            thinks T in one delta
//	redacted           a thinking block that cannot be read (Anthropic only)
//	call NAME[#ID] A   calls a tool with the JSON object A; several are parallel
//	rawcall NAME[#ID] A    the same with any text A, such as half of an object
//	usage K=N …        reports these tokens; K is one of input, cache_read,
//	                   cache_write, output, reasoning
//	finish F           ends for the reason F: stop, tool_calls, length,
//	                   content_filter, pause, or a word to be sent as it is;
//	                   block:R refuses the prompt for the reason R (Gemini only)
//	delay D            waits, such as 20ms
//	comment T          sends T as a comment of the stream
//	garbage T          sends T as the data of an event
//	error KIND T       sends an error object inside of the reply, and ends it
//	cut [N]            ends the body here, or after N events of the stream
//	reset [N]          resets the connection here, or after N events
//	stall [N]          falls silent here, or after N events, until the client leaves
//
// A reply without steps is an empty answer. A reply whose first step is reset or
// stall does so before its header. A reply can refuse the request instead:
//
//	status N [T]       with the status N and the message T in the shape of the
//	                   protocol
//	code C             with this error code
//	body T             with this body instead
//	header K: V        with this header, which may be sent with any reply
//
// T is the rest of the line, or a quoted string with Go's escapes. A line that
// begins with | carries on the text of the line above after a line break.
//
// # Which reply
//
// The name of the model in the request chooses the script. Then the first rule
// that holds and is not used up answers; rules are not part of the order. Where
// none holds, the position decides.
//
// By order, each request takes the next reply, whatever it says.
//
// By history, the position is the number of assistant messages in the request,
// so that a request that is sent again, or a run that is resumed, gets the right
// reply, and conversations at the same time do not disturb each other. A reply
// that fails (a status, cut, reset, stall, garbage or error) never becomes an
// assistant message: it stands at the position of the next reply that does not
// fail. The first request at a position takes the first of them, the second the
// second, and the last one is repeated. A last reply with "times forever" answers
// at all positions behind it too. A history that was compressed has fewer
// assistant messages: such a script is better told by order or by rules.
//
// Requests are one conversation if they name the same model and begin with the
// same user message. A script that has no reply left asks its Func; without one
// the request is refused with status 500, which counts as a fault.
//
// # Checks
//
// A request that breaks the rules of its protocol is refused with the status and
// words of the real service, takes no reply from the script, and is reported by
// Server.Faults. Unknown members are refused, whatever their value. Signatures
// of thinking and encrypted reasoning are accepted only if a server with the
// same secret issued them for the same model.
//
// Usage is counted from bytes, four to a token, with a model of the prompt
// cache: what a request has in common with an earlier one of its conversation
// counts as cached, for Anthropic up to marks alone.
package modeltest
