#!/bin/sh
# The host sends one JSON object on standard input: {"event":"tool.before", …, "tool_name":…, "arguments":{…}}.
# The whole answer is one JSON object: {} lets the call run, {"deny_reason":"…"} refuses it.
# It runs in the turn's workspace; its own folder is $UNDERSTUDY_PLUGIN_DIR/hooks/….
set -eu
case $(cat) in
*forbidden-word*) printf '{"deny_reason":"these arguments are not allowed here"}\n' ;;
*) printf '{}\n' ;;
esac
