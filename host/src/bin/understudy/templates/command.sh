#!/bin/sh
# The host sends one JSON object on standard input: {"input": {...}, "context": {...}}.
# What is printed is the answer: text, or a JSON object for structured results.
set -eu
# The one string of the input as it stands between its quotes, escapes included.
text=$(sed -n 's/^{"input":{"text":"\(\([^"\\]\|\\.\)*\)"}.*/\1/p')
printf '{"content":[{"type":"text","text":"You said: %s"}]}\n' "$text"
