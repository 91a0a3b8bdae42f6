# Sourced by scripts that drive the real window: an X server of their own (Xvfb) on a free display, a window manager
# (openbox) on it, and the program with --log, whose lines are waited for. Nothing sleeps for a guessed time.
# Before sourcing: `program`, the path of lockstep, and `script`, the name that messages begin with.
# Sets `folder`, which is gone at the end, as are all processes in `children`.
folder=$(mktemp -d)
children=()
finish() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    wait 2>/dev/null || true
    rm -rf "$folder"
}
trap finish EXIT
fail() {
    echo "$script: $*" >&2
    if [ -s "$folder/log" ]; then
        echo "--- log of the window ---" >&2
        tail -40 "$folder/log" >&2
    fi
    exit 1
}
# Seconds, without starting a process.
pause() { read -rt "$1" <> <(:) || true; }

export LC_ALL=C # the window speaks the language of the environment

for tool in Xvfb xdotool openbox; do
    command -v "$tool" >/dev/null || fail "$tool is missing (packages xvfb, xdotool, openbox)"
done
# The server writes its display's number once it listens.
Xvfb -displayfd 3 -screen 0 1600x1000x24 -nolisten tcp -noreset 3>"$folder/display" 2>/dev/null &
children+=($!)
for ((i = 0; i < 300; i++)); do
    [ -s "$folder/display" ] && break
    pause 0.1
done
[ -s "$folder/display" ] || fail "Xvfb did not start"
export DISPLAY=:$(<"$folder/display")
openbox >/dev/null 2>&1 &
children+=($!)
for ((i = 0; i < 300; i++)); do
    xdotool get_desktop >/dev/null 2>&1 && break # it manages windows
    pause 0.1
done
export LOCKSTEP_STATE_FILE=$folder/last.json

# wait_for PATTERN: until a line that matches has been logged since the last wait. `line` is that line then.
seen=0
wait_for() {
    local i found
    for ((i = 0; i < 600; i++)); do
        if found=$(tail -n "+$((seen + 1))" "$folder/log" | grep -nE -m1 -- "$1"); then
            seen=$((seen + ${found%%:*}))
            line=${found#*:}
            return 0
        fi
        kill -0 "$window_process" 2>/dev/null || fail "the program ended while '$1' was waited for"
        pause 0.1
    done
    fail "'$1' was never logged ($seen lines were seen before)"
}
# What was logged so far is not waited for any more.
forget_log() { seen=$(wc -l <"$folder/log"); }

# start ARGUMENTS of `lockstep show`: opens the window, waits until it is drawn, and gives it the keyboard.
start() {
    : >"$folder/log"
    seen=0
    "$program" show "$@" --log >>"$folder/log" 2>&1 &
    window_process=$!
    children+=("$window_process")
    wait_for '^size 1280x800$'
    local i # a search fails where a window goes while it looks, as the window manager's do at its start
    for ((i = 0; i < 100; i++)); do
        window=$(xdotool search --onlyvisible --pid "$window_process" --name '^Lockstep$' 2>/dev/null | head -1) || true
        [ -z "$window" ] || break
        pause 0.1
    done
    [ -n "$window" ] || fail "no window is shown"
    focus
    seen=0 # what the first frame said may be asked for, too
}
# A window that was minimised comes back by that, too. The window manager may move the keyboard once more after it has
# said that it is there, so it counts once it has stayed; and while the window is not shown, asking for it fails.
focus() {
    local i j
    for ((i = 0; i < 50; i++)); do
        xdotool windowactivate --sync "$window" windowfocus "$window" >/dev/null 2>&1 || true
        for ((j = 0; j < 5; j++)); do
            pause 0.04
            [ "$(xdotool getwindowfocus 2>/dev/null)" = "$window" ] || continue 2
        done
        return 0
    done
    fail "the window manager does not give the window the keyboard"
}
minimise() { xdotool windowminimize --sync "$window"; }
quit() {
    xdotool key ctrl+q
    local code=0
    wait "$window_process" || code=$?
    [ "$code" = 0 ] || fail "the program ended with $code"
}
