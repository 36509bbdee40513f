#!/bin/sh
# leap.sh YEAR: says whether a year is a leap year of the Gregorian calendar.
year=$1
if [ $((year % 4)) -eq 0 ]; then
	echo "$year is a leap year"
else
	echo "$year is not a leap year"
fi
