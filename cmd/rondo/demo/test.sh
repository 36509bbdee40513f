#!/bin/sh
# Checks leap.sh against years whose answer is known.
failed=0
check() {
	got=$(sh leap.sh "$1")
	if [ "$got" = "$1 $2" ]; then
		echo "ok   $1"
	else
		echo "FAIL $1: got \"$got\", want \"$1 $2\""
		failed=1
	fi
}
check 2023 "is not a leap year"
check 2024 "is a leap year"
check 1900 "is not a leap year"
check 2000 "is a leap year"
exit $failed
