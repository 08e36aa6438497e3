#!/usr/bin/env bash
# Runs the product against parts that others wrote, in fixed versions from their registries. Prints one line per part,
# `N passed, N failed`; a part that cannot be installed counts as failed and says so. Everything listens on loopback
# only, is installed into a temporary folder, and ends with this script.
set -uo pipefail
cd "$(dirname "$0")/../.."

AIMOCK="@copilotkit/aimock@1.43.0"
TDLIB="prebuilt-tdlib@0.1008065.0"

work=$(mktemp -d "${TMPDIR:-/tmp}/interop.XXXXXX")
started=()
finish() {
  for pid in "${started[@]}"; do kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null; done
  rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

failed=0
missing() {
  printf '\n!! NOT RUN: %s\n!! %s\n\n' "$1" "$2" >&2
  echo "$1: 0 passed, 1 failed (not installed)"
  failed=1
}

program=${CARGO_TARGET_DIR:-target}/debug/understudy
[ -x "$program" ] || cargo build --quiet --locked -p host --bin understudy || exit 1
command -v python3 >/dev/null || { missing "interop" "python3 is needed"; exit 1; }

# The scripted model server, fresh for each format: its fixtures count how often they were used.
models() {
  local log=$work/models.log provider
  if ! npm install --prefix "$work/models" --no-audit --no-fund --no-save --ignore-scripts --silent "$AIMOCK" >"$log" 2>&1; then
    missing "scripted model server" "npm could not install $AIMOCK: $(tail -n 1 "$log")"
    return
  fi
  for provider in openai anthropic; do
    model "$provider" "$work/$provider.log"
  done
}

model() {
  local provider=$1 log=$2 address=""
  node "$work/models/node_modules/.bin/llmock" -h 127.0.0.1 -p 0 -f tests/interop/models/fixtures.json \
    --validate-on-load --strict >"$log" 2>&1 &
  started+=("$!")
  for _ in $(seq 100); do
    address=$(sed -n 's/.*listening on \(http:[^ ]*\).*/\1/p' "$log")
    [ -n "$address" ] && break
    sleep 0.1
  done
  if [ -z "$address" ]; then
    missing "scripted model server, $provider" "it did not start: $(tail -n 1 "$log")"
    return
  fi
  python3 tests/interop/models/run.py "$program" "$address" "$provider" || failed=1
}

# Telegram's own library, offline and without an account: what we would send, as it reads it.
telegram() {
  local log=$work/telegram.log library
  if ! npm install --prefix "$work/telegram" --no-audit --no-fund --no-save --ignore-scripts --silent "$TDLIB" >"$log" 2>&1; then
    missing "Telegram's entity parser" "npm could not install $TDLIB: $(tail -n 1 "$log")"
    return
  fi
  library=$(find "$work/telegram" -name 'libtdjson.*' | head -n 1)
  if [ -z "$library" ]; then
    missing "Telegram's entity parser" "$TDLIB has no library for this machine"
    return
  fi
  if ! cargo build --quiet --locked -p host --example rendered; then
    missing "Telegram's entity parser" "the example that prints rendered pieces does not build"
    return
  fi
  python3 tests/interop/telegram/run.py "$library" "${CARGO_TARGET_DIR:-target}/debug/examples/rendered" \
    tests/fixtures/markdown/commonmark.json || failed=1
}

if command -v node >/dev/null && command -v npm >/dev/null; then
  models
  telegram
else
  missing "scripted model server" "node and npm are needed"
  missing "Telegram's entity parser" "node and npm are needed"
fi

exit "$failed"
