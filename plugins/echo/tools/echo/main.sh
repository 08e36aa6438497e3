#!/bin/sh
# Takes the one string of {"input":{"message":"…"}} as it stands between its quotes, escapes included, and
# gives it back inside a JSON answer: so no character needs to be understood here.
set -eu
message=$(sed -n 's/^{"input":{"message":"\(\([^"\\]\|\\.\)*\)"}.*/\1/p')
printf '{"content":[{"type":"text","text":"echo: %s"}]}\n' "$message"
