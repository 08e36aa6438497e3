#!/bin/sh
cat >/dev/null
echo "off"
