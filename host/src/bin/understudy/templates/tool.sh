#!/bin/sh
# The host sends one JSON object on standard input: {"input": {...}, "context": {...}}.
# What is printed is the answer; print a JSON object to give structured data.
# A non-zero exit is a failure, and its first error line is what the model sees.
set -eu
name=$(sed -n 's/.*"input":{"name":"\([^"\\]*\)".*/\1/p')
printf 'Hello, %s!\n' "$name"
