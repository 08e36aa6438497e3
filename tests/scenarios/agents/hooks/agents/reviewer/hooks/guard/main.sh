#!/bin/sh
case $(cat) in
*'"agent_id":"reviewer"'*) printf '{}\n' ;;
*) printf '{"deny_reason":"another agent"}\n' ;;
esac
