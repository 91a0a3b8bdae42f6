#!/usr/bin/env bash
# The program on another Vulkan driver: second_driver_test.sh BUILD MANIFEST NAME runs what was built in the folder BUILD
# on the driver of that manifest, whose device has NAME in its name. Every rung, a population and a map have to agree with
# the processor, and an exhibit's pictures with the stored ones. Sizes are small: such a driver may be slow.
set -euo pipefail
build=$(realpath "$1")
export VK_DRIVER_FILES=$2 VK_ICD_FILENAMES=$2 # the second name is that of older loaders
name=$3
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LOCKSTEP_CACHE_DIR=$folder

fail() {
    echo "second_driver_test: $*" >&2
    exit 1
}

# agrees VERDICT COMMAND...: the program's output has a line that begins with the verdict, and names the device.
agrees() {
    local verdict=$1
    shift
    "$build/demos/lockstep" "$@" --quiet >"$folder/out" 2>&1 || { cat "$folder/out"; fail "lockstep $1 failed"; }
    grep -q "$name" "$folder/out" || { cat "$folder/out"; fail "lockstep $1 does not run on $name"; }
    grep "^$verdict" "$folder/out" || { cat "$folder/out"; fail "lockstep $1: no agreement"; }
}

race=(race --quick --data circle --layers 8 --steps 20 --lane cpu:scalar)
rungs=()
for rung in one naive-strided naive tiled pipelined blocked texel subgroup fused whole-step best; do rungs+=(--lane "gpu:$rung"); done
agrees 'same mathematics: ' "${race[@]}" "${rungs[@]}"
agrees 'same mathematics in different precision: ' "${race[@]}" --lane gpu:half
agrees 'same mathematics: ' population --size 8x4 --layers 4 --steps 20 --lane cpu:best --lane gpu:best
agrees 'same mathematics: ' map --network 2-4-1 --examples 6 --steps 40 --size 24x16 --lane cpu:best --lane gpu:best
"$build/tests/show_test" --test-case='stored pictures' --subcase=inside

# Of two devices the first, which nobody asked for, offers the window a surface and fails to show anything there, as a laptop's
# discrete GPU may: the window takes the next one, and says so.
(
    here=$(dirname "$(realpath "${BASH_SOURCE[0]}")")/window
    program=$build/demos/lockstep script=second_driver_test
    . "$here/display.sh"
    system=$(ls /usr/share/vulkan/icd.d/lvp_icd.*json | head -1)
    export VK_DRIVER_FILES=$system:$2 VK_ICD_FILENAMES=$system:$2 NODEVICE_SELECT=1
    export VK_LAYER_PATH=$build/tests/faults VK_INSTANCE_LAYERS=VK_LAYER_LOCKSTEP_faults
    for fault in first-shows-nothing first-has-no-formats; do
        export LOCKSTEP_FAULT=$fault
        rm -f "$LOCKSTEP_STATE_FILE"
        start "$here/playground.json"
        wait_for "^message '.*' cannot show this window: "
        quit
        ! "$program" show playground --device 0 >"$folder/asked" 2>&1 || fail "a device that was asked for is replaced"
        cat "$folder/asked"
    done
)
