package loop

// What the engine tells the model. These travel in a request only and are
// never part of the history, but for steerText, which brings the user's words;
// stoppedText is for the user.
const (
	emptyText       = "Your last reply was empty. Go on with the task: call a tool, or give your answer."
	thinkingText    = "Your last reply held only thinking. Now give the answer itself, or call a tool."
	thinkingCutText = "Your thinking used up the room for the reply. Think briefly, then answer or call a tool at once."
	announcedText   = "You announced a tool call, but none arrived. Send the call again, or give your answer."
	continueText    = "Your reply was cut off by its limit on length. Go on exactly where it stopped, without repeating anything and without a comment."
	cutCallText     = "Your last tool call was cut off by the limit on the reply's length and was not run. Do the work in smaller steps, such as writing a long file in several parts."
	repeatText      = "The same call of %s has now had the same result %d times in a row. Repeating it will not help: try another way, or say what stands in the way."
	warnText        = "This is round %d of %d. Bring the task to an end: finish what matters most and give your answer before the rounds are used up."
	summaryText     = "The run ends here: %s. Do not call any tool. Sum up for the user what was done, what was found, and what is left to do."
	stoppedText     = "Stopped by the user before the task was finished."
	steerText       = "\n\n[The user said while you were working: %s]"
)
