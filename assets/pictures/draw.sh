#!/bin/sh
# Draws the README's pictures: assets/pictures/draw.sh PROGRAM [FOLDER]
# Each begins with a preset and does what the script of its name does; it goes into FOLDER, or beside the script.
# Times and rates are those of this machine: nothing else should be running.
set -eu

program=$(realpath "${1:?usage: assets/pictures/draw.sh PROGRAM [FOLDER]}")
here=$(dirname "$(realpath "$0")")
folder=$(realpath "${2:-$here}")

draw() {
    name=$1
    preset=$2
    shift 2
    "$program" show "$here/../presets/$preset.json" --headless --size 1280x800 --script "$here/$name.txt" \
        --png "$folder/$name.png" "$@"
}

draw race race-fashion-mnist
draw playground playground-spiral
draw playground-circle playground-circle --light
draw inside inside-a-step
draw ladder ladder-all-rungs
draw memory memory-184-into-80
draw precision precision-small-steps
draw mosaic mosaic-learning-rates
draw map map-edge
draw devices devices-slow-rank
draw parallelism parallelism-lost-updates

# Smaller, to the pixel the same, where there is a tool for it.
for name in race playground playground-circle inside ladder memory precision mosaic map devices parallelism; do
    if command -v oxipng >/dev/null; then
        oxipng --quiet --opt max --strip safe "$folder/$name.png"
    elif command -v optipng >/dev/null; then
        optipng -quiet -o5 -strip all "$folder/$name.png"
    fi
done
