#!/bin/sh
cat >/dev/null
echo "ding"
