#!/bin/sh
# A hook runs in the workspace of the turn, so it finds its own files by its own path.
here=$(dirname "$0")
exec awk -f "$here/../../lib/json.awk" -f "$here/main.awk"
