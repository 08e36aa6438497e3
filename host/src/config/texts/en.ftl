# System texts in English. Keys are the same in every file; values: { $name }.

## Outcomes of a turn
turn-empty = I have nothing to add.
turn-stopped = Stopped.
turn-shutdown = I am being shut down; your message was not finished.
turn-lease-deadline = This took too long after an update of the bot and was ended. What the running action did is unknown.
turn-failed-model-unavailable = The language model cannot be reached right now. Please try again later. ({ $turn })
turn-failed-model-rejected = The language model refused the request as wrong. The admin can find the cause under { $turn }.
turn-failed-model-truncated = The answer was cut off again and again. Please ask for something shorter. ({ $turn })
turn-failed-model-refused = The language model declined to answer that. ({ $turn })
turn-failed-context-overflow = This conversation has become too long for the model. /new starts a fresh one. ({ $turn })
turn-failed-prompt-overflow = The instructions of this bot do not fit into its limit; the admin must shorten them. ({ $turn })
turn-failed-loop-guard = I was going round in circles and stopped. ({ $turn })
turn-failed-interrupted = I was restarted before this was finished. ({ $turn })
turn-interrupted-asked = I was restarted while I waited for an answer; nothing was run. ({ $turn })
turn-interrupted-done = Done before that, and not repeated: { $tools }.
turn-interrupted-unknown = Nobody knows whether this had its effect, so it was not repeated: { $tools }.
turn-ask-again-how = Write “{ $label }” to have the message answered once more.
answer-late = From before; you may have seen it already:
turn-failed-journal-unavailable = I cannot write my records right now, so nothing with effects was run. ({ $turn })
turn-failed-internal = Something went wrong inside. The admin can find it under { $turn }.
turn-budget-steps = I stopped here: the limit of steps for one message is reached.
turn-budget-time = I stopped here: the time for one message is used up.
turn-budget-tool-calls = I stopped here: the limit of tool calls for one message is reached.
turn-budget-tokens = I stopped here: the limit of tokens is reached.
turn-budget-cost = I stopped here: the cost limit is reached.
turn-answer-cut = The answer was cut off here: the length limit of the model is reached.
turn-ask-again = Ask again
history-cut = Earlier messages of this conversation no longer fit and are not shown to the model.
history-summed-up = Older messages of this conversation were replaced by a summary for the model.
media-unusable = The model cannot use the file you sent; I told it the name only.

## The offline model
offline-footer = Built-in offline responder: it picks a tool by words and is not a language model.
offline-no-tool = I have no tool for that. /help shows what I can do.
offline-missing = I still need: { $names }.
offline-not-run = I did not run it.
offline-failed = That did not work: { $reason }

## Waiting
queue-still-waiting = Your message is still waiting; I will get to it.
queue-full = Busy, please wait: too many messages are waiting here.
inbound-dead = Your message could not be processed. The admin has been told.
store-degraded = I cannot save anything right now, so I have to stop here.

## Access
access-stranger = I do not know you. Ask the admin to add you: { $principal }
access-denied = You may not use this.
access-as = { $principal } is not let in: { $reason }. Change [access] in bot.toml, or leave out --as.
access-pairing = I do not know you yet. Give this code to the admin, who sends me: /pair { $code } (it works once, within an hour)
rate-limited = You are very fast. Please wait { $seconds } seconds.
budget-near = You have used { $percent } % of your tokens of today.
budget-masters-tokens = { $principal } has used up the tokens of today.
budget-masters-cost = The cost limit of today is reached (last: { $principal }).
agent-ambiguous = Several agents are called { $name }. Write one of these: { $names }.
agent-denied = @{ $name } is not available to you here.
command-unknown = There is no command /{ $name }. /help lists them.
command-unknown-near = There is no command /{ $name }. Did you mean /{ $nearest }?
command-denied = You may not use /{ $name }.
call-not-run = I did not run it.
command-usage = Usage: { $usage }
command-argument-missing = { $name } is missing.
command-argument-int = { $name } is a whole number, not “{ $word }”.
command-argument-number = { $name } is a number, not “{ $word }”.
command-argument-bool = { $name } is yes or no, not “{ $word }”.
command-argument-extra = I do not know what to do with “{ $rest }”.

## Questions and approvals
approval-title = May I run { $tool }?
approval-asked-by = asked by { $name }
approval-reason-declared = the tool asks for a confirmation ({ $value })
approval-reason-write = it changes data
approval-reason-execute = it runs a program
approval-prompt = Answer yes or no.
approval-approved = Approved by { $name }.
approval-declined = Declined by { $name }.
approval-expired = Nobody answered in time: not run.
approval-not-allowed = Only people allowed to approve can answer.
approval-button-once = Allow once
approval-button-deny = Deny
approval-button-session = Allow for this session
approval-typed = Answer yes (1) to allow it once, or no (0).
approval-prompt-session = Answer yes (1) to allow it once, no (0), or session (2) to allow it for this session.
approval-owner = owner: { $owner }
approval-requester = asked by: { $name }
approval-reason-policy = its policy: { $value }
approval-reason-parent = { $source }: { $value }
approval-covers-once = Allow once covers this one call with exactly these arguments.
approval-covers-session = Allow for this session covers any arguments of { $tool }, asked by { $name }, in this chat, until the tool changes.
approval-ends-asking = What ends the asking for good: { $what }
approval-deadline = Without an answer within { $time } it is not run.
approval-seconds = { $n } s
approval-minutes = { $n } min
approval-cut = Long values are cut here; arguments.json holds all of them.
approval-cut-value = … { $n } characters in all …
approval-approved-session = Allowed for this session by { $name }.
approval-withdrawn = The turn was stopped: not run.
approval-grant-dropped = I no longer remember the permission for { $tool }: a session keeps 64 of them.
question-ask-again = Ask again
question-asked-again = I answer it once more.
question-unfit = That is no answer.
question-button-yes = Yes
question-button-no = No
question-answered = Answered.
question-withdrawn = The question is closed.
question-not-yours = Only the person who is asked can answer this.
question-external = { $owner } (external) asks:
approvals-title = Waiting for an answer
approvals-none = Nothing waits for an answer.
approvals-pending = { $n }. { $tool } asked by { $name }, not run without an answer by { $time }
approvals-grants = Allowed for this session
approvals-no-grants = Nothing is allowed for this session.
approvals-grant = { $n }. { $tool }, asked by { $name }, allowed by { $by }
approvals-revoke-how = /approvals revoke NUMBER takes one back.
approvals-revoked = { $tool } asks again from now on.
approvals-revoke-unknown = There is no permission with this number. /approvals lists them.
approvals-revoke-button = Revoke { $n }
question-lost = I was restarted.
question-expired = No answer came in time.
question-choose = Choose by number: { $options }
question-invalid = That does not fit: { $reason }
button-invalid = This button is no longer valid.

## Chat commands
help-title = What I can do here
help-agents = Agents (begin a message with the name)
help-commands = Commands
help-skills = Skills
help-capabilities = Capabilities
help-nothing = Nothing is offered to you here yet.
help-owner-root = this bot
help-description-help = what I can do here
help-description-start = greeting
help-description-new = start a new conversation
help-description-compact = replace older messages by a summary
help-description-stop = stop what is running
help-description-retry = answer the last message again
help-description-tools = tools you may use
help-description-skills = skills you may use
help-description-why = why a tool is or is not offered
help-description-approvals = what waits for a yes, and what is allowed here
help-description-status = how I am doing
help-description-reload = load the plugin folders again
help-description-usage = what you have used today and in 30 days
help-description-pair = let somebody in who has a code
start-greeting = I am { $name }.
start-examples = For example, I can: { $examples }
start-hint = /help shows everything I can do here.
new-started = A new conversation starts here.
compact-done = Older messages of this conversation are now a summary.
compact-nothing = There is nothing to summarise yet: what there is still fits.
compact-offline = The built-in offline responder cannot write summaries.
compact-off = Summaries are switched off for this bot.
compact-failed = No summary came back; nothing was changed.
stop-not-yours = Only the person it is for, or a trusted one, can stop it.
stop-idle = Nothing is running.
stop-stopped = Stopped.
retry-none = There is no message to answer again.
retry-running = Please wait until the running answer is finished, or /stop it.
tools-title = { $count ->
    [one] 1 tool
   *[other] { $count } tools
}
tools-none = No tools are offered to you here.
tools-loaded = loaded
skills-title = { $count ->
    [one] 1 skill
   *[other] { $count } skills
}
skills-none = No skills are offered to you here.
why-usage = Write /why and the name of a tool.
why-unknown = There is no tool { $name }.
why-unknown-near = There is no tool { $name }. Did you mean { $nearest }?
why-admitted = You may use { $tool }.
why-denied = You may not use { $tool }: { $reason }
why-approval-allow = It runs without a question.
why-approval-ask = Before it runs, a person is asked.
why-approval-deny = It is refused to everybody.
status-up = I am up.
status-degraded = I am up, but not everything works: { $reasons }
status-generation = Generation { $number }, published { $at }
status-desired-differs = The configuration on disk differs from the active one and was refused.
status-turns = Running: { $running }, waiting: { $queued }
status-offline-model = Answers come from the built-in offline responder, not from a language model.
reload-published = Reloaded: generation { $number } answers now.
reload-unchanged = Nothing has changed; generation { $number } answers on.
reload-rejected = Refused; generation { $number } answers on.
reload-changes = Added { $added }, removed { $removed }, changed { $changed }.
reload-more = and { $count } more
pair-done = { $principal } may write to me now.
pair-unknown = This code is unknown, used or too old.
usage-today = Today: { $turns } turns, { $tokens } tokens, { $cost } USD
usage-month = 30 days: { $turns } turns, { $tokens } tokens, { $cost } USD
usage-left = Left today: { $left } of { $limit } tokens
usage-all = Everybody today: { $cost } USD
usage-cost-left = Left today: { $left } USD
