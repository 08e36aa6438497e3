#!/bin/sh
cat >/dev/null
echo "number 02"
