#!/usr/bin/env bash
# The real window, as a person uses it: window_test.sh PROGRAM [REPEATS]
# With LOCKSTEP_BY_WINE set, the program is one for Windows: its windows have a smallest size, and no signals end it.
# xdotool is the hand; every step waits for the line that the program logs when it has happened (tests/window/display.sh),
# and what it did is read from the state that Ctrl+S saves.
set -euo pipefail
program=$(realpath "$1")
repeats=${2:-1}
here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")
script=window_test
. "$here/display.sh"
cd "$folder"
state=$folder/lockstep-state.json # what Ctrl+S writes

save() {
    xdotool key ctrl+s
    wait_for '^message State saved to '
}
# field NAME...: of the state saved last, without blanks.
field() {
    local IFS=';'
    cmake -DFILE="$state" -DFIELD="$*" -P "$here/json_field.cmake" | tr -d ' \n'
}
# expect VALUE NAME...: that the saved state's field is that.
expect() {
    local value
    value=$(field "${@:2}")
    [ "$value" = "$1" ] || fail "${*:2} is '$value' instead of '$1'"
}
# expect_soon VALUE NAME...: saves until it is, for what lanes do at their own pace.
expect_soon() {
    local i value
    for ((i = 0; i < 200; i++)); do
        save
        value=$(field "${@:2}")
        [ "$value" = "$1" ] && return 0
        pause 0.05
    done
    fail "${*:2} stays '$value' instead of '$1'"
}

# learn_controls STATE [SCRIPT LINES]: where everything is, in a window of 1280x800 with that state, once what the lines say
# has been done. The program itself is asked; the same question is asked once.
learn_controls() {
    local key
    key=$(printf '%s\n' "${@:2}" | cat "$1" - | cksum | tr ' ' -)
    controls=$folder/controls-$key
    [ ! -s "$controls" ] || return 0
    printf '%s\n' 'frames 2' "${@:2}" controls >"$folder/controls.txt"
    "$program" show "$1" --headless --mask --script "$folder/controls.txt" | grep '^control ' >"$controls" ||
        fail "the program does not say where its controls are"
}
# to NAME [RIGHT [DOWN]]: moves the mouse there, some pixels off its middle.
to() {
    local x y
    read -r x y < <(awk -v name="$1" '{ at = $2 " " $3; $1 = $2 = $3 = ""; sub(/^ +/, ""); if ($0 == name) { print at; exit } }' \
        "$controls") || fail "no control is called '$1'"
    xdotool mousemove --window "$window" $((x + ${2:-0})) $((y + ${3:-0}))
}
click() { to "$@" && xdotool click 1; }
# drag NAME FROM TO: with the left button, from one place beside its middle to the other, pixels. Where it is let go counts:
# the state saved in between is proof that the window has followed the mouse there.
drag() {
    to "$1" "$2"
    xdotool mousedown 1
    to "$1" "$3"
    save
    xdotool mouseup 1
}
# drag_field NAME FROM TO FIELD...: drags until the field of the saved state has changed. Now and then a press soon after Ctrl+S
# counts as Ctrl+click, which opens the slider for typing; why is not known yet. A person would press Escape and drag again.
drag_field() {
    local before i
    before=$(field "${@:4}")
    for ((i = 0; i < 3; i++)); do
        drag "$1" "$2" "$3"
        save
        [ "$(field "${@:4}")" = "$before" ] || return 0
        xdotool key Escape
    done
    fail "${*:4} is still '$before'"
}
# fill_in NAME TEXT: into a text field, instead of what is there.
fill_in() {
    click "$1"
    xdotool key ctrl+a type "$2"
    xdotool key Return
}
# Waits until the window says how much has been trained, and keeps it in `examples`.
wait_for_training() {
    wait_for '^trained [0-9]+ at '
    line=${line#trained }
    examples=${line%% *}
}

set_up_a_race() {
    learn_controls "$here/lesson.json" 'click Settings' 'click ##race data'
    click Settings
    save # by then they are unfolded
    click '##race data'
    save # by then the list is open
    click '##race data/moons'
    save
    expect 'moons' exhibits race data
    learn_controls "$state" 'click Settings'
    fill_in '##race layers' '8,4'
    fill_in '##race seed' '77'
    drag_field '##race rate' 0 20 exhibits race settings lr
    expect '[8,4]' exhibits race hidden
    expect '77' exhibits race settings seed
}

# A key that is held goes on, although nothing else happens in the window.
hold_a_key() {
    local number=7712345678901234 shorter
    fill_in '##race seed' "$number"
    click '##race seed'
    xdotool key End
    save # by then all keys before have been taken in
    xdotool keydown BackSpace
    pause 0.9 # long enough to repeat, too short to empty the field
    xdotool keyup BackSpace key Return
    save
    shorter=$(field exhibits race settings seed)
    [ ${#shorter} -le $((${#number} - 2)) ] || fail "Backspace was held, and of $number $shorter is left"
    fill_in '##race seed' '77'
    save
    expect '77' exhibits race settings seed
}

run_the_race() {
    learn_controls "$state"
    click Run
    wait_for '^running$'
    xdotool key space
    wait_for '^paused$'
    xdotool key r
    xdotool key space
    wait_for '^running$'
}

set_up_the_playground() {
    save
    learn_controls "$state"
    click 'data/xor'
    save
    expect 'xor' exhibits playground data
    click '+##layers'
    save
    expect '[4,2,2]' exhibits playground hidden
    learn_controls "$state"
    click '+##neurons 2'
    click '-##layers'
    save
    expect '[4,3]' exhibits playground hidden
    # A slider by the mouse, then by the keyboard.
    learn_controls "$state"
    click 'Settings##playground'
    save
    learn_controls "$state"
    drag_field '##rate' 0 10 exhibits playground settings lr
    to '##rate'
    xdotool keydown ctrl click 1 keyup ctrl
    xdotool type 0.5
    xdotool key Return
    save
    expect '0.5' exhibits playground settings lr
}

draw_points() {
    click 'Draw##draw'
    xdotool key 2
    click '##map' -40 -40
    save
    expect '1' exhibits playground own 0 2
    xdotool key 3
    to '##map' 30 30
    xdotool mousedown 1
    for off in 55 80; do
        to '##map' "$off" 30
        save
    done
    xdotool mouseup 1
    save
    for point in 1 2 3; do expect '2' exhibits playground own "$point" 2; done
    expect 'own' exhibits playground data
}

# choose_speed NAME: from the list in the bar above.
choose_speed() {
    learn_controls "$state" 'click ##speed'
    click '##speed'
    save # by then the list is open
    click "##speed/$1"
    save
}

trains_while_minimised() {
    minimise
    forget_log
    wait_for_training
    local before=$examples
    wait_for_training
    [ "$examples" -gt "$before" ] || fail "a minimised window does not train $1"
    focus
}

# Sizes, down to almost nothing and back, minimised and back, while it trains.
change_the_window() {
    local smallest="1 1"
    [ -z "${LOCKSTEP_BY_WINE:-}" ] || smallest="300 200"
    for size in "900 600" "$smallest" "1500 900" "1280 800"; do
        read -r width height <<<"$size"
        xdotool windowsize "$window" "$width" "$height"
        wait_for "^size ${width}x${height}\$"
    done
    trains_while_minimised "at the playground's usual speed"
    choose_speed '10 steps/s'
    trains_while_minimised 'in slow motion'
    choose_speed 'flat out'
    trains_while_minimised 'flat out'
    xdotool key p
    wait_for '^presenter on$'
    xdotool key p
    wait_for '^presenter off$'
}

step_by_hand() {
    xdotool key space
    wait_for '^paused$'
    xdotool key r
    expect_soon 0 exhibits playground step
    xdotool key s s s
    expect_soon 3 exhibits playground step
}

reload() {
    cp "$state" saved.json
    click Race # while points are drawn, the keys choose classes
    wait_for '^exhibit race$'
    quit
    # The file brings everything back: saved again, it is the same.
    start saved.json
    wait_for '^exhibit playground$'
    save
    cmp "$state" saved.json || fail "a state that was saved does not come back"
    xdotool key 1
    wait_for '^exhibit race$'
    quit
    # Without one, the last state comes back.
    start
    wait_for '^exhibit race$'
    save
    expect '77' exhibits race settings seed
    expect '[4,3]' exhibits playground hidden
    quit
    # A file changes what it is about, and the rest stays.
    start "$here/../../assets/presets/race-tiny.json"
    wait_for '^exhibit race$'
    quit
    start
    save
    expect 'circle' exhibits race data
    expect '[4,3]' exhibits playground hidden
    quit
}

# By the key and by the sign: what is saved begins as a WebP file does, and is a moving one.
record_the_window() {
    local stop file
    for stop in key sign; do
        xdotool key shift+F12
        if [ "$stop" = key ]; then # the first one asks for a file, and proposes a name
            pause 0.5
            xdotool key Return
            pause 0.5
        fi
        xdotool key space
        wait_for '^running$'
        wait_for_training
        xdotool key space
        wait_for '^paused$'
        case $stop in
        key) xdotool key shift+F12 ;;
        sign)
            xdotool mousemove --window "$window" 1240 13 # the right end of the menus
            xdotool click 1
            ;;
        esac
        wait_for '^message Recording saved to '
        file=${line#message Recording saved to }
        file=${file%% (*}
        [[ $file != Z:* ]] || file=${file#Z:} file=${file//\\//} # as Windows names it
        [ "$(head -c 4 "$file")" = RIFF ] && grep -qa ANIM "$file" || fail "$file is no animated WebP"
        rm "$file"
    done
}

# A closed terminal, a logout or a shutdown ends the window as a person would: the last state is kept, and a recording saved.
end_by_signals() {
    local signal code
    for signal in TERM INT HUP; do
        start --record "$folder/signalled.webp"
        xdotool key 2
        wait_for '^exhibit playground$'
        xdotool key p
        wait_for '^presenter o'
        local presenter=${line#presenter }
        kill -s "$signal" "$window_process"
        code=0
        wait "$window_process" || code=$?
        [ "$code" = $((128 + $(kill -l "$signal"))) ] || fail "SIG$signal ended the window with $code"
        [ "$(head -c 4 "$folder/signalled.webp")" = RIFF ] || fail "SIG$signal lost the recording"
        rm "$folder/signalled.webp"
        start
        wait_for '^exhibit playground$'
        wait_for "^presenter $presenter\$"
        xdotool key 1
        wait_for '^exhibit race$'
        quit
    done
}

for ((round = 1; round <= repeats; round++)); do
    rm -f "$LOCKSTEP_STATE_FILE"
    start "$here/lesson.json"
    wait_for '^paused$'
    set_up_a_race
    hold_a_key
    run_the_race
    xdotool key 2 # switching exhibits pauses the one that is left
    wait_for '^exhibit playground$'
    set_up_the_playground
    draw_points
    xdotool key space
    wait_for '^running$'
    change_the_window
    step_by_hand
    record_the_window
    reload
    [ -n "${LOCKSTEP_BY_WINE:-}" ] || end_by_signals
    echo "round $round of $repeats passed ($SECONDS s)"
done
