#!/bin/sh
cat >/dev/null
echo "opened"
