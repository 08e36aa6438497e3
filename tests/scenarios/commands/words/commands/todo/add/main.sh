#!/bin/sh
printf 'added %s' "$(sed 's/^{"input":\({[^}]*}\).*/\1/')"
