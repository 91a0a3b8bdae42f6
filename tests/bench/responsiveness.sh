#!/usr/bin/env bash
# What a window costs while training runs flat out, and how soon it answers: responsiveness.sh PROGRAM STATE.json [ROUNDS]
# In turn, ROUNDS times (5): the window minimised, where nothing is drawn and the lanes have the machine for themselves; the
# window shown; the window shown and the mouse moving over it, twenty times a second. Prints the median training speeds, and
# the median and largest time from an event to the end of the frame that it was part of.
# Only on a machine that has nothing else to do do its numbers mean anything; the load is printed beside them.
set -euo pipefail
program=$(realpath "$1")
state=$(realpath "$2")
rounds=${3:-5}
seconds=4 # of each measurement
script=responsiveness
. "$(dirname "$(realpath "${BASH_SOURCE[0]}")")/../window/display.sh"
cd "$folder"

# speed FILE: waits, then appends to the file how many examples were trained per second of that time.
speed() {
    local from
    forget_log
    from=$seen
    "${@:2}"
    tail -n "+$((from + 1))" "$folder/log" | awk '$1 == "trained" { if (n++ == 0) { e = $2; t = $4 } else { r = ($2 - e) / ($4 - t) } }
        END { if (n < 3) exit 1; print r }' >>"$folder/$1" || fail "nothing was trained"
}
moving_the_mouse() {
    local i moves=()
    for ((i = 0; i < seconds * 20; i++)); do moves+=(mousemove --window "$window" $((300 + i * 7 % 200)) $((300 + i * 3 % 100)) sleep 0.05); done
    xdotool "${moves[@]}"
}

start "$state" --run
wait_for '^running$'
wait_for '^trained [1-9]'
pause 5 # kernels have been chosen; submissions and maps have found their sizes
load=$(cut -d' ' -f1 /proc/loadavg)
for ((round = 0; round < rounds; round++)); do
    minimise
    pause 1
    speed alone pause "$seconds"
    focus
    pause 1
    speed shown pause "$seconds"
    from=$(wc -l <"$folder/log")
    speed moving moving_the_mouse
    tail -n "+$((from + 1))" "$folder/log" | awk '$1 == "reaction" { print $2 }' >>"$folder/reactions"
done

median() { sort -g "$folder/$1" | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'; }
name=$(basename "$state" .json)
awk -v name="$name" -v alone="$(median alone)" -v shown="$(median shown)" -v moving="$(median moving)" 'BEGIN {
    printf "%s: %.0f samples/s without a window, %.0f (%.0f %%) in it, %.0f (%.0f %%) while the mouse moves\n",
        name, alone, shown, 100 * shown / alone, moving, 100 * moving / alone }'
sort -g "$folder/reactions" | awk -v name="$name" '{ v[NR] = $1 } END {
    if (NR == 0) { print "no reaction was measured"; exit 1 }
    printf "%s: %d reactions, median %.1f ms, 95 %% %.1f ms, largest %.1f ms\n",
        name, NR, v[int((NR + 1) / 2)], v[int(NR * 0.95 + 0.5)], v[NR] }'
echo "$name: load average $load before, $(cut -d' ' -f1 /proc/loadavg) after (the program itself included)"
[ -z "${LOCKSTEP_KEEP_LOG:-}" ] || cp "$folder/log" "$LOCKSTEP_KEEP_LOG"
