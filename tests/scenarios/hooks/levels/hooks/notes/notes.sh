#!/bin/sh
cat > /dev/null
echo '{"feedback": "the bot took note"}'
