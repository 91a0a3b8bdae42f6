#!/bin/bash
# Prints Debian's packages whose headers or libraries the program in a build folder is made of.
#   made_of.sh BUILD
set -euo pipefail
{
    ninja -C "$1" -t deps | awk '/^[^ ]/ { ours = /^(engine|demos)\// } ours && /^ +\/usr\// { print $1 }'
    ninja -C "$1" -t commands lockstep | tail -1 | grep -o '/usr/[^ ]*\.\(a\|so\)'
} | sort -u | xargs -d '\n' dpkg -S | sed 's/:.*//' | sort -u
