#!/bin/sh
cat >/dev/null
echo "given"
