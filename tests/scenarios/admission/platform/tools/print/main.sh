#!/bin/sh
cat >/dev/null
echo "printed"
