#!/bin/sh
# The host sends one JSON object on standard input: {"input": {...}, "context": {...}}.
# What is printed is the answer: text, or a JSON object for structured results.
# A non-zero exit is a failure, and its first error line is what the model sees.
set -eu
# The one string of the input as it stands between its quotes, escapes included.
name=$(sed -n 's/^{"input":{"name":"\(\([^"\\]\|\\.\)*\)"}.*/\1/p')
printf '{"content":[{"type":"text","text":"Hello, %s!"}]}\n' "$name"
