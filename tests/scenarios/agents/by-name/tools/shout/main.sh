#!/bin/sh
cat >/dev/null
echo "SHOUTED"
