#!/usr/bin/env bash
# How soon the window answers while training runs flat out:
# responsiveness.sh PROGRAM STATE.json [EVENTS]. Prints the median and the largest time from an event to the end of the
# frame that it was part of. Uses an X server of its own (Xvfb) unless DISPLAY is set and LOCKSTEP_BENCH_DISPLAY=own is not.
set -euo pipefail
program=$(realpath "$1")
state=$(realpath "$2")
events=${3:-100}
folder=$(mktemp -d)
children=()
finish() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
pause() { read -rt "$1" <> <(:) || true; }

if [ -z "${DISPLAY:-}" ] || [ "${LOCKSTEP_BENCH_DISPLAY:-}" = own ]; then
    Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>"$folder/display" 2>/dev/null &
    children+=($!)
    while [ ! -s "$folder/display" ]; do pause 0.1; done
    export DISPLAY=:$(<"$folder/display")
fi
export LOCKSTEP_STATE_FILE=$folder/last.json
cd "$folder"

"$program" show "$state" --run --log >"$folder/log" 2>&1 &
process=$!
children+=("$process")
until grep -q '^running$' "$folder/log"; do pause 0.1; done
window=$(xdotool search --sync --onlyvisible --pid "$process" --name '^Lockstep$' | head -1)
# Kernels are chosen and compiled first; six seconds are enough for that once it has been done before.
pause 6
before=$(wc -l <"$folder/log")
for ((i = 0; i < events; i++)); do
    xdotool mousemove --window "$window" $((300 + i % 200)) $((300 + i % 100))
    pause 0.05
done
tail -n "+$((before + 1))" "$folder/log" | awk '$1 == "reaction" { print $2 }' | sort -n >"$folder/reactions"
awk -v name="$(basename "$state")" '{ v[NR] = $1 } END {
    if (NR == 0) { print "no reaction was measured"; exit 1 }
    printf "%s: %d reactions, median %.1f ms, 95 %% %.1f ms, largest %.1f ms\n", name, NR, v[int((NR + 1) / 2)], v[int(NR * 0.95 + 0.5)], v[NR]
}' "$folder/reactions"
