#!/bin/sh
cat >/dev/null
echo "here"
