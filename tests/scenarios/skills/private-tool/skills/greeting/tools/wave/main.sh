#!/bin/sh
cat >/dev/null
echo "waving"
