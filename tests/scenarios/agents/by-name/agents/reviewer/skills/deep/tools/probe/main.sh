#!/bin/sh
cat >/dev/null
echo "probed"
