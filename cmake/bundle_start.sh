#!/bin/sh
# Starts the bundled program. Graphics drivers are loaded into it, and may need the system's C++ runtime, or a newer one than
# the bundle's: so the system's is used where the program starts with it, and the bundle's elsewhere.
bundle=$(dirname "$(dirname "$(readlink -f "$0")")")
program=$bundle/libexec/lockstep
"$program" --version >/dev/null 2>&1 || export LD_LIBRARY_PATH="$bundle/lib/runtime"
exec "$program" "$@"
