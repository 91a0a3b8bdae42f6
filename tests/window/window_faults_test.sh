#!/usr/bin/env bash
# The real window on a device that misbehaves: window_faults_test.sh PROGRAM FOLDER, which has the layer of tests/faults.
set -euo pipefail
program=$(realpath "$1")
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
script=window_faults_test
. "$here/display.sh"
export VK_LAYER_PATH=$(realpath "$2") VK_INSTANCE_LAYERS=VK_LAYER_LOCKSTEP_faults
cd "$folder"

no_misuse() { ! grep 'VK_LAYER_LOCKSTEP_faults:' "$folder/log" || fail "the layer complains"; }

lose_the_surface() {
    export LOCKSTEP_FAULT=surface-lost:$1
    rm -f "$LOCKSTEP_STATE_FILE"
    start "$here/playground.json" --run
    wait_for "^message The window's surface was lost and has been recreated\."
    xdotool key space
    wait_for '^paused$'
    xdotool key p
    wait_for '^presenter on$'
    quit
    no_misuse
}

# Nothing is waited for but the program's end, which comes once the device's time is over.
hang() {
    export LOCKSTEP_FAULT=hang:$1
    start "$here/race.json"
    local i code=0
    for ((i = 0; i < 400; i++)); do # each key draws a frame
        xdotool key p 2>/dev/null || true
        pause 0.1
        kill -0 "$window_process" 2>/dev/null || break
    done
    ! kill -0 "$window_process" 2>/dev/null || fail "the window hangs for ever"
    wait "$window_process" || code=$?
    [ "$code" = 1 ] || fail "the program ended with $code"
    wait_for 'did not finish a frame in time; it may hang'
    no_misuse
}

# Opens a race on a card where showing a frame that waits for the screen takes 200 ms.
race_while_presents_block() {
    export LOCKSTEP_FAULT=card:$1,slow-present
    rm -f "$LOCKSTEP_STATE_FILE"
    echo '{"lockstep": 1, "exhibit": "race", "exhibits": {"race": {"data": "spiral", "hidden": [16, 16],
        "finish": {"steps": 10000000}, "lanes": ["gpu:naive"]}}}' >"$folder/long_race.json"
    start "$folder/long_race.json" --run
    wait_for '^trained [1-9]'
}

# What the card's lane trains meanwhile: sets `rate`, in examples per second.
train_while_presents_block() {
    race_while_presents_block "$1"
    local first=$line i
    for ((i = 0; i < 4; i++)); do wait_for '^trained'; done
    quit
    no_misuse # of a queue by two threads, for one
    rate=$(echo "$first $line" | awk '{ print int(($6 - $2) / ($8 - $4)) }')
    echo "$1: $rate examples/s while presents block"
}

# A lane with a queue of its own takes no notice; one that shares the window's has it for most of the time.
presents_that_block() {
    train_while_presents_block m1,fifo-only
    local separate=$rate
    train_while_presents_block iris-xe,fifo-only
    [ $((separate * 10)) -gt $((rate * 6)) ] || fail "a lane waits for presents on another queue"
    [ $((rate * 10)) -gt $((separate * 4)) ] || fail "presents keep the lane from the queue"
}

# On a shared queue, a window shows frames without waiting for the screen where it may: some are soon there.
presents_that_need_not_block() {
    race_while_presents_block iris-xe
    local i
    for ((i = 0; i < 20; i++)); do
        xdotool key p
        wait_for '^reaction'
        [ "$(echo "$line" | awk '{ print int($2) }')" -ge 200 ] || break
    done
    [ "$i" -lt 20 ] || fail "every present blocks"
    quit
    no_misuse
}

# The screen keeps the images of a window that it hides, or the driver keeps a frame that it cannot show: the race goes on to
# its second lane and its end all the same, and the window can be closed.
goes_on_while() {
    export LOCKSTEP_FAULT=card:m1,fifo-only,$1
    rm -f "$LOCKSTEP_STATE_FILE"
    echo '{"lockstep": 1, "exhibit": "race", "exhibits": {"race": {"data": "spiral", "hidden": [16, 16],
        "finish": {"steps": 2000}, "lanes": ["cpu:simd", "gpu:naive"]}}}' >"$folder/short_race.json"
    start "$folder/short_race.json" --run
    wait_for '^trained [1-9]'
    wait_for '^paused$'
    [ "$(grep '^trained' "$folder/log" | tail -1 | awk '{ print $2 }')" -gt 20000 ] || fail "only one lane has trained"
    quit
    no_misuse
}

lose_the_surface 21 # at vkAcquireNextImageKHR
lose_the_surface 40 # at vkQueuePresentKHR
hang 30
presents_that_block
presents_that_need_not_block
goes_on_while parked
goes_on_while stuck-present
echo "passed ($SECONDS s)"
