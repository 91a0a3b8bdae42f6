#!/usr/bin/env bash
# The real window, as a person uses it: window_test.sh PROGRAM STATE_FOLDER [REPEATS]
# Starts an X server of its own (Xvfb), a window manager (openbox), and drives the program with xdotool. Nothing sleeps:
# every step waits for the line that the program logs (--log) when it has happened.
set -euo pipefail
program=$1
states=$2
repeats=${3:-1}
folder=$(mktemp -d)
children=()
finish() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
fail() {
    echo "window_test: $*" >&2
    echo "--- log of the window ---" >&2
    tail -40 "$folder/log" >&2 || true
    exit 1
}

for tool in Xvfb xdotool openbox; do
    command -v "$tool" >/dev/null || fail "$tool is missing (packages xvfb, xdotool, openbox)"
done

# An X server on a free display; it writes the number once it listens.
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>"$folder/display" 2>/dev/null &
children+=($!)
for ((i = 0; i < 300; i++)); do
    [ -s "$folder/display" ] && break
    read -rt 0.1 <> <(:) || true
done
[ -s "$folder/display" ] || fail "Xvfb did not start"
export DISPLAY=:$(<"$folder/display")
openbox >/dev/null 2>&1 &
children+=($!)
export LOCKSTEP_STATE_FILE=$folder/last.json

# wait_for PATTERN: until a line that matches has been logged since the last wait.
seen=0
wait_for() {
    local i total
    for ((i = 0; i < 600; i++)); do
        total=$(wc -l <"$folder/log")
        if tail -n "+$((seen + 1))" "$folder/log" | grep -qE -- "$1"; then
            seen=$((seen + $(tail -n "+$((seen + 1))" "$folder/log" | grep -nE -m1 -- "$1" | cut -d: -f1)))
            return 0
        fi
        kill -0 "$window_process" 2>/dev/null || fail "the program ended while '$1' was waited for"
        read -rt 0.1 <> <(:) || true
    done
    fail "'$1' was never logged (of $total lines, $seen seen)"
}

# Where a control is, in a window of 1280x800 with the same state: asked of the program itself.
place_of() {
    local line
    line=$(grep -F -- " $1" "$folder/controls" | awk -v name="$1" '{ x = $2; y = $3; $1 = $2 = $3 = ""; sub(/^ +/, "")
        if ($0 == name) { print x, y; exit } }')
    [ -n "$line" ] || fail "no control is called '$1'"
    echo "$line"
}
click() {
    read -r x y < <(place_of "$1")
    xdotool mousemove --window "$window" "$x" "$y" click 1
}
learn_controls() {
    printf 'frames 2\ncontrols\n' >"$folder/controls.txt"
    "$program" show "$1" --headless --mask --script "$folder/controls.txt" | grep '^control ' >"$folder/controls"
}

start() {
    : >"$folder/log"
    seen=0
    "$program" show "$@" --log >>"$folder/log" 2>&1 &
    window_process=$!
    children+=("$window_process")
    wait_for '^size 1280x800$'
    window=$(xdotool search --sync --onlyvisible --pid "$window_process" --name '^Lockstep$' | head -1)
    xdotool windowactivate --sync "$window" windowfocus --sync "$window"
}
quit() {
    xdotool key ctrl+q
    local code=0
    wait "$window_process" || code=$?
    [ "$code" = 0 ] || fail "the program ended with $code"
}

one_round() {
    learn_controls "$states/race.json"
    start "$states/race.json"
    wait_for '^paused$'
    click Run
    wait_for '^running$'
    xdotool key space
    wait_for '^paused$'
    xdotool key r
    xdotool key space
    wait_for '^running$'
    # Switching exhibits pauses the one that is left.
    xdotool key 2
    wait_for '^exhibit playground$'
    xdotool key space
    wait_for '^running$'
    # Sizes, down to almost nothing and back, while it trains.
    for size in "900 600" "1 1" "1500 900" "1280 800"; do
        read -r width height <<<"$size"
        xdotool windowsize "$window" "$width" "$height"
        [ "$width" = 1 ] || wait_for "^size ${width}x${height}\$"
    done
    # Minimised and back.
    xdotool windowminimize --sync "$window"
    xdotool windowmap --sync "$window"
    xdotool windowactivate --sync "$window" windowfocus --sync "$window"
    xdotool key p
    wait_for '^presenter on$'
    xdotool key p
    wait_for '^presenter off$'
    xdotool key space
    wait_for '^paused$'
    xdotool key s s s
    # Saving, by the key; the program runs in a folder of the test's own.
    xdotool key ctrl+s
    wait_for '^message State saved to '
    xdotool key 1
    wait_for '^exhibit race$'
    quit
    # The last state is back at the next start.
    : >"$folder/log"
    seen=0
    "$program" show --log >>"$folder/log" 2>&1 &
    window_process=$!
    children+=("$window_process")
    wait_for '^exhibit race$'
    window=$(xdotool search --sync --onlyvisible --pid "$window_process" --name '^Lockstep$' | head -1)
    xdotool windowactivate --sync "$window" windowfocus --sync "$window"
    quit
}

cd "$folder"
for ((round = 1; round <= repeats; round++)); do
    one_round
    echo "round $round of $repeats passed"
done
