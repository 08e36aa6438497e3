#!/bin/sh
# Quotes lines of docs/ that hold the query, without case, as plain text (never as a pattern).
set -eu
query=$(awk -f "$UNDERSTUDY_PLUGIN_DIR/lib/json.awk" -f query.awk)
cd "$UNDERSTUDY_PLUGIN_DIR/docs"
hits=$(grep -rniF -e "$query" . | sed 's|^\./||' | head -n 20) || true
if [ -z "$hits" ]; then
  printf 'Nothing in the notes mentions "%s".\n' "$query"
else
  printf '%s\n' "$hits" | awk -F: '{ file = $1; line = $2; sub(/^[^:]*:[^:]*:/, ""); printf "- %s:%s %s\n", file, line, $0 }'
fi
