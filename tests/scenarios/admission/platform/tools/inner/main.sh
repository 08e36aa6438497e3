#!/bin/sh
cat >/dev/null
echo "inner"
