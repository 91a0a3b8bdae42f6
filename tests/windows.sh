#!/usr/bin/env bash
# Tries the Windows build on Linux, by Wine on software Vulkan and a display of its own: as a person would from a command
# line and in a window, then by the tests that are built for Windows. Tests that start the program are programs of Linux, and
# start this one where LOCKSTEP_TEST_PROGRAM names build/windows/lockstep-by-wine.
#   tests/windows.sh [PATTERN]   only tests whose name matches, such as '^(csv|race)_test$'; by default all. Ends with 3 where
#                                Wine does not start.
# Before: scripts/windows.sh. Tests are those that were built: scripts/windows.sh -DLOCKSTEP_BUILD_TESTS=ON.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh
install_packages wine wine64 xvfb xdotool openbox
pattern=${1:-.}
build=$PWD/build/windows
exe=$(ls "$build"/zip/*/lockstep.com 2>/dev/null) || { echo "no zip in $build: scripts/windows.sh makes it" >&2; exit 1; }
program=$build/lockstep-by-wine # as scripts and tests start it
printf '#!/bin/sh\nexec wine "%s" "$@"\n' "$exe" >"$program"
chmod +x "$program"
script=windows
. tests/window/display.sh # Wine finds Vulkan only with a display
unset LOCKSTEP_STATE_FILE
export LC_ALL=C.UTF-8 # in which Wine reads what is written on a command line
export WINEPREFIX=$folder/wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree=;mshtml='
wine wineboot -i >/dev/null 2>&1 || { echo "Wine does not start here" >&2; exit 3; }
end_wine() { wineserver -k 2>/dev/null || true; wineserver -w 2>/dev/null || true; }
stop_wine() { end_wine; finish; }
trap stop_wine EXIT

# runs CODE PATTERN COMMAND...: ends with this code, and says (standard output and error) what matches, if a pattern is given.
runs() {
    local expected=$1 words=$2 code=0
    shift 2
    timeout 300 "$@" >"$folder/said" 2>&1 </dev/null || code=$?
    if [ "$code" != "$expected" ] || { [ -n "$words" ] && ! grep -qE -- "$words" "$folder/said"; }; then
        cat "$folder/said" >&2
        fail "'${*}' ended with $code (expected: $expected), and '$words' was to be said"
    fi
    local words="${*//$program/lockstep}"
    echo "  $code  ${words//$folder/...}"
}

echo "The command line"
place=$folder/"Übung Ωμέγα 日本 🙂"
mkdir "$place"
small="--data spiral --layers 8,8 --steps 30 --quiet"
runs 0 '^lockstep [0-9]+\.[0-9]+\.[0-9]+$' "$program" --version
runs 0 'used: the best device' "$program" devices
runs 2 'no command|not expected|nosuch' "$program" nosuch
runs 1 'no such file' "$program" predict --model "$place/missing.safetensors"
runs 0 'same mathematics' "$program" race --quick $small
runs 0 'saved to' "$program" train $small --lane cpu:best --save "$place/Größe.safetensors" --json "$place/r.json"
runs 0 'accuracy' "$program" predict --model "$place/Größe.safetensors"
long=$place
for i in 1 2 3 4 5; do long=$long/$(printf 'a%.0s' {1..80}); done
mkdir -p "$long"
runs 0 'saved to' "$program" train $small --lane cpu:best --save "$long/model.safetensors"
[ -s "$long/model.safetensors" ] || fail "a path of ${#long} characters holds nothing"
printf 'x,y,class\r\n1,2,a\r\n2,1,b\r\n3,4,a\r\n4,3,b\r\n1,3,a\r\n3,1,b\r\n' >"$place/crlf.csv"
runs 0 '2 features' "$program" data "csv:$place/crlf.csv"
runs 0 '' "$program" show playground --headless --frames 3 --png "$place/Bild.png"
WINEDLLOVERRIDES="$WINEDLLOVERRIDES;vulkan-1=" runs 1 'driver by its maker' "$program" train $small --lane gpu:best

runs 0 'used: the best' "$program" devices # with a loader again
runs 0 '^lockstep' wine "${exe%com}exe" --version # what a double click starts hands on words, output and exit code
runs 2 nosuch wine "${exe%com}exe" nosuch
runs 0 'nothing is wrong' "$program" lesson check what-is-a-gpu what-is-a-neuron

if [ -x build/release/demos/lockstep ]; then
    echo "Pictures, equal to those of Linux"
    for exhibit in playground race inside mosaic; do
        for each in build/release/demos/lockstep "$program"; do
            "$each" show tests/window/$exhibit.json --headless --mask --size 1280x800 --frames 5 --png "$folder/$(basename "$each").png" >/dev/null
        done
        cmp "$folder/lockstep.png" "$folder/$(basename "$program").png" || fail "$exhibit looks different"
        echo "  $exhibit"
    done
fi

echo "Interrupted, it saves what it has"
timeout 300 wine "$exe" train --data spiral --lane cpu:best --seconds 60 --quiet --save "$place/stopped.safetensors" \
    >"$folder/said" 2>&1 &
child=$!
for ((i = 0; i < 300; i++)); do
    grep -q until "$folder/said" && break
    pause 0.1
done
pause 1
pkill -INT -P "$child" # timeout's child
code=0
wait "$child" || code=$?
[ "$code" = 130 ] && grep -q 'saved to' "$folder/said" || fail "interrupted, it ended with $code: $(cat "$folder/said")"
runs 0 accuracy "$program" predict --model "$place/stopped.safetensors"

echo "Killed while it saves again and again, it leaves a whole model"
for ((round = 0; round < 5; round++)); do
    wine "$exe" train --data spiral --lane cpu:best --layers 512,512 --steps 100000 --save-every 1 --quiet \
        --save "$place/killed.safetensors" >"$folder/said" 2>&1 &
    child=$!
    for ((i = 0; i < 300; i++)); do
        [ -s "$place/killed.safetensors" ] && grep -q until "$folder/said" && break
        pause 0.1
    done
    pause "0.$((RANDOM % 900 + 50))"
    kill -KILL "$child"
    wait "$child" 2>/dev/null || true
    "$program" predict --model "$place/killed.safetensors" >"$folder/said" 2>&1 || fail "killed in round $round: $(cat "$folder/said")"
done
runs 0 'saved to' "$program" train $small --lane cpu:best --save "$place/killed.safetensors"
ls "$place" | grep -q 'tmp-' && fail "saving leaves files behind: $(ls "$place")"
echo "  5 times"

echo "A window: a race by the keyboard, its state saved, closed"
cd "$folder"
: >"$folder/log"
wine "$exe" show race --size 1280x800 --log >>"$folder/log" 2>&1 &
window_process=$!
wait_for '^size '
for ((i = 0; i < 100; i++)); do
    window=$(xdotool search --onlyvisible --name '^Lockstep$' 2>/dev/null | head -1) || true
    [ -z "$window" ] || break
    pause 0.1
done
[ -n "$window" ] || fail "no window is shown"
focus
xdotool key space
wait_for '^trained [0-9]+ at '
xdotool key ctrl+s
wait_for '^message State saved to '
quit
cd - >/dev/null

if [ "$pattern" = . ]; then
    echo "The window by mouse and keyboard, as on Linux"
    end_wine # a server stays with the display that it began on
    LOCKSTEP_BY_WINE=1 tests/window/window_test.sh "$program"
    end_wine
fi

echo "Tests"
failed=0
ctest --test-dir "$build" --no-tests=error --output-on-failure -j 2 -R "$pattern" >"$folder/ctest" 2>&1 || failed=1
grep -E '(Passed|Failed|Timeout|tests passed|\*\*\*)' "$folder/ctest" || true
[ "$failed" = 0 ] || { cat "$folder/ctest" >&2; fail "tests built for Windows failed"; }

if [ -x build/release/tests/cli_test ]; then
    echo "Tests of Linux that start the program"
    # Not there: the name of Debian's driver, and names of files with control characters. Wine takes the environment to Linux's
    # Vulkan loader, and so the layer that injects faults.
    elsewhere='without a Vulkan driver*,nothing that a terminal obeys*'
    for test in cli cli_data cli_map cli_population cli_race cli_tables experiment_text faults_program hostile_files lesson \
        older_files recording show_files sketch; do
        [[ ${test}_test =~ $pattern ]] || continue
        LOCKSTEP_TEST_PROGRAM=$program "build/release/tests/${test}_test" -tce="$elsewhere" >"$folder/said" 2>&1 ||
            { cat "$folder/said" >&2; fail "${test}_test fails with the program for Windows"; }
        echo "  ${test}_test: $(grep -o 'test cases:.*passed' "$folder/said")"
    done
fi
