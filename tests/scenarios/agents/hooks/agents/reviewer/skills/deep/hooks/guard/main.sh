#!/bin/sh
cat >/dev/null
printf '{"deny_reason":"not while going deep"}\n'
