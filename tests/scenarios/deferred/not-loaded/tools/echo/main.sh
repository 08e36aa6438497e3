#!/bin/sh
sed -n 's/.*"input":{"message":"\([^"]*\)".*/echo: \1/p'
