#!/bin/sh
cat >/dev/null
echo "same"
