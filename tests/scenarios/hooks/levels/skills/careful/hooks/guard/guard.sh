#!/bin/sh
cat > /dev/null
echo '{"deny_reason": "this skill allows no words"}'
