#!/bin/sh
cat > /dev/null
echo said
