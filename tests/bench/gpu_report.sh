#!/usr/bin/env bash
# The whole report on a machine's GPU, unattended: which device, are its results right, how fast are kernels and whole steps,
# its card, what does a race say; and, with a python3 that has PyTorch, how PyTorch on the processor and on the card compares, step by step
# and as CUDA graphs, with cuBLAS alone and a copy as roofs. Needs the built tree or an unpacked bundle, and a Vulkan driver.
#
#   tests/bench/gpu_report.sh [--quick | --minutes N] [--device DEVICE] [--json FOLDER] [BUILD_FOLDER | BUNDLE_FOLDER]
#
# The report goes to standard output, JSON results into FOLDER where one is named. --quick only sees that everything runs. The last
# line says what is wrong, and counts the checks of results; the exit code is 1 when one of them failed. Takes about an hour, most of
# it for the widest network. --minutes 8 is for a card that can be had for a short while: what matters most comes first, nothing runs
# beyond the time, and the last line names what was left out.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree= device= json= quick= minutes=
while [ $# -gt 0 ]; do
    case $1 in
        --quick) quick=1 ;;
        --device | --json | --minutes) [ $# -gt 1 ] || { echo "$1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"; shift ;;
        -*) echo "unknown option $1 (see the top of $0)" >&2; exit 2 ;;
        *) tree=$1 ;;
    esac
    shift
done
lockstep=
for place in ${tree:+"$tree"} "$here/../.." "$here/../../build/release"; do
    for file in demos/lockstep bin/lockstep; do
        [ -n "$lockstep" ] || { [ -f "$place/$file" ] && [ -x "$place/$file" ] && lockstep=$(realpath "$place/$file") tree=$(realpath "$place"); }
    done
done
[ -n "$lockstep" ] || { echo "no program in ${tree:-$here/../..}: build it first, or name a build or bundle folder" >&2; exit 1; }
[[ $minutes =~ ^[0-9]*$ ]] || { echo "--minutes needs a whole number" >&2; exit 2; }
chosen=()
[ -z "$device" ] || chosen=(--device "$device")
[ -z "$json" ] || mkdir -p "$json"

right=0 wrong=() without=()
seconds_left() { echo $((${minutes:-600} * 60 - SECONDS)); }
# Runs a program for as long as there is time; 124 when that was too short.
within() { [ "$(seconds_left)" -gt 0 ] || return 124; timeout "$(seconds_left)" "$@"; }
section() {
    local name=$1 code=0
    shift
    printf '\n## %s\n\n$ %s\n\n' "$name" "$*"
    if declare -F "$1" >/dev/null; then "$@" 2>&1; else within "$@" 2>&1; fi || code=$?
    if [ $code = 124 ]; then printf 'left out: no time is left\n'; without+=("$name"); elif [ $code != 0 ]; then printf '(exit code %d)\n' $code; fi
    return $code
}
# A section whose success is a check of results.
checked() {
    section "$@"
    case $? in 0) right=$((right + 1)) ;; 124) ;; *) wrong+=("$1") ;; esac
}
json_file() { [ -z "$json" ] || printf -- '--json %s/%s.json' "$json" "$1"; }

# Every GPU rung that computes in 32 bits against the plain loops: the program says so itself where losses agree.
rungs_agree() { # the lanes left out, options of race
    local except=$1 output lanes=() lane
    shift
    for lane in $("$lockstep" race --help | grep -o 'gpu:[a-z-]*' | grep -vE "^gpu:($except)$" | sort -u); do lanes+=(--lane "$lane"); done
    output=$(within "$lockstep" race --quick --lane cpu:scalar "${lanes[@]}" "${chosen[@]}" --evaluate-every 0 --quiet "$@" 2>&1)
    local code=$?
    printf '%s\n' "$output" | grep -v '^ ' | tail -n 20
    [ $code != 124 ] || return 124
    [ $code = 0 ] && printf '%s\n' "$output" | grep -q '^same mathematics'
}

# What reading the kernels let expect of some cards, before any had been tried: milliseconds per step of gpu:best.
expectations='RTX 3060|W|0.050|0.110
RTX 3060|W-big|2.3|2.9
GTX 1060|W|0.080|0.120
GTX 1060|W-big|7|9
Iris.*Xe|W|0.150|0.250
Iris.*Xe|W-big|14|20'

# expected WORKLOAD: of the table of `bench` on standard input, which passes through; then how gpu:best compares.
expected() {
    awk -F '  +' -v workload="$1" -v table="$expectations" '
        { print }
        $1 == "gpu:best" { device = $2; took = $3 }
        END {
            if (took !~ /^[0-9.]+$/) exit
            print ""
            rows = split(table, lines, "\n")
            for (i = 1; i <= rows; i++) {
                split(lines[i], field, "|")
                if (field[2] != workload || device !~ field[1]) continue
                verdict = took + 0 < field[3] + 0 ? "faster than expected" : took + 0 > field[4] + 0 ? "slower than expected" : "in order"
                printf "gpu:best, %s: %s ms per step; expected of this card: %s to %s: %s\n", workload, took, field[3], field[4], verdict
                exit
            }
            printf "gpu:best, %s: %s ms per step; nothing was expected of this device\n", workload, took
        }'
}
bench_w() { within "$lockstep" bench "$@" | expected W; return "${PIPESTATUS[0]}"; }
bench_w_big() {
    within "$lockstep" bench --widths 784,2048,2048,10 --batch 512 --lane cpu:best --lane gpu:best "$@" | expected W-big
    return "${PIPESTATUS[0]}"
}

echo "# Report of $(date -u +%Y-%m-%d), $("$lockstep" --version), load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null)"
section "Devices" "$lockstep" devices "${chosen[@]}"

for optimizer in sgd momentum rmsprop adam adamw; do
    checked "Right? all rungs, $optimizer, awkward widths" rungs_agree "half|matrix" --data circle --layers 33,17 --activation tanh --batch 48 --steps 100 --optimizer $optimizer
    [ -z "$quick$minutes" ] || break
done
# Those of half precision, each by itself: not every device has both.
for lane in half matrix; do
    section "Right? gpu:$lane, within the tolerance of half precision" "$lockstep" race --quick --lane cpu:scalar --lane gpu:$lane "${chosen[@]}" --evaluate-every 0 --quiet --data circle --layers 33,17 --activation tanh --batch 48 --steps 100 || :
done
[ -n "$quick$minutes" ] || checked "Right? all rungs, a wide network" rungs_agree "half|matrix|one|whole-step" --data spiral --layers 384,256 --activation gelu --batch 128 --steps 100
# The suite's own checks of every kernel and of whole runs, where the build folder has them.
tests=(gpu_device_test gpu_products_test gpu_trainer_test validation_test)
[ -z "$minutes" ] || tests=(validation_test gpu_device_test)
for test in "${tests[@]}"; do
    [ -x "$tree/tests/$test" ] && [ -z "$quick" ] && checked "Right? $test" env LOCKSTEP_TEST_DEVICE="$device" "$tree/tests/$test"
done

seconds=0.5
[ -z "$quick" ] || seconds=0.01
if [ -n "$quick" ]; then
    section "Kernels and rungs, a small network" "$lockstep" bench --widths 12,8,4 --batch 16 --seconds $seconds "${chosen[@]}"
elif [ -n "$minutes" ]; then
    section "W: 784-256-128-10, batch 128" bench_w "${chosen[@]}" --lane cpu:best --lane gpu:best $(json_file bench-w)
else
    section "W: 784-256-128-10, batch 128" bench_w "${chosen[@]}" $(json_file bench-w)
    section "W-big: 784-2048-2048-10, batch 512" bench_w_big "${chosen[@]}" $(json_file bench-w-big)
fi
data=(--data spiral --layers 256,128 --batch 128 --steps 2000)
[ -d /usr/share/datasets/fashion-mnist ] && data=(--data fashion-mnist --epochs 3)
[ -z "$minutes" ] || data=(--data spiral --layers 256,128 --batch 128 --steps 500)
[ -z "$quick" ] || data=(--data circle --layers 8 --epochs 2)
card_seconds=$(($(seconds_left) / 3))
[ $card_seconds -lt 150 ] || card_seconds=150
[ $card_seconds -gt 0 ] || card_seconds=1
section "The card" "$lockstep" card --quiet --seconds $card_seconds ${quick:+--quick} "${chosen[@]}" $(json_file card) ${json:+--png "$json/card.png"}
section "A race" "$lockstep" race "${data[@]}" "${chosen[@]}" $(json_file race)
[ -n "$json" ] && [ -z "$quick$minutes" ] && section "Experiments on parallelism" "$lockstep" lab --quiet --all "$json/lab" "${chosen[@]}"
[ -x "$tree/tests/bench/cpu_roof" ] && [ -z "$quick$minutes" ] && checked "The processor's roof" "$tree/tests/bench/cpu_roof" $(json_file cpu-roof)

population=("$tree/tests/bench/population_speed" ${device:+--device "$device"})
if [ ! -x "${population[0]}" ]; then
    printf '\n## Populations\n\nnot measured: no %s\n' "${population[0]}"
elif [ -n "$quick" ]; then
    checked "A population, small" "${population[@]}" --members 64 --rounds 1 --seconds 0.05
else
    checked "A population: 1,024 networks 2-8-8-1, batch 10" "${population[@]}" $(json_file population)
    if [ -z "$minutes" ]; then
        checked "A population: seeds of their own" "${population[@]}" --seeds different $(json_file population-seeds)
        checked "A population: 1,024 networks 2-16-16-1, batch 32" "${population[@]}" --widths 2,16,16,1 --batch 32 $(json_file population-wider)
        checked "A population: 16,384 networks" "${population[@]}" --members 16384 --lanes cpu:best,gpu:invocation,gpu:subgroup,gpu:workgroup,gpu:best --steps 20 $(json_file population-many)
    fi
fi

python=
for file in python3 /usr/bin/python3; do
    [ -n "$python" ] || { "$file" -c 'import torch' 2>/dev/null && python=$file; }
done
[ -z "$quick$minutes" ] && python3 -c '' 2>/dev/null &&
    section "The processor's lane while another process takes a core" python3 "$here/contention.py" --program "$lockstep" $(json_file contention)
small=()
[ -z "$minutes" ] || small=(--workloads W --rounds 1)
[ -z "$quick" ] || small=(--small --workloads W-tiny --rounds 1 --seconds 0.05)
if [ -z "$python" ]; then
    printf '\n## PyTorch\n\nnot measured: no python3 with PyTorch (import torch)\n'
else
    [ -n "$minutes" ] || checked "PyTorch on the processor" "$python" "$here/pytorch_cpu.py" --program "$lockstep" "${small[@]}" $(json_file pytorch-cpu)
    [ ! -x "${population[0]}" ] || checked "A population against batched PyTorch" "$python" "$here/pytorch_population.py" --program "${population[0]}" --cuda ${device:+--device "$device"} ${quick:+--small} $(json_file pytorch-population)
    if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
        checked "PyTorch on the card" "$python" "$here/pytorch_cuda.py" --program "$lockstep" "${chosen[@]}" "${small[@]}" $(json_file pytorch-cuda)
        [ -n "$quick$minutes" ] || checked "cuBLAS alone" "$python" "$here/products_cuda.py" --program "$lockstep" "${chosen[@]}" $(json_file products-cuda)
    else
        printf '\n## PyTorch on the card\n\nnot measured: PyTorch sees no CUDA card\n'
    fi
fi
# Last, because plain loops, which everything is checked against, take their time on it.
[ -n "$quick$minutes" ] || section "W-wide: 4096-4096-4096-10, batch 4096" timeout 3600 "$lockstep" bench --widths 4096,4096,4096,10 --batch 4096 \
    "${chosen[@]}" --lane gpu:best $(json_file bench-w-wide)

joined() { local IFS=';'; printf '%s' "$*" | sed 's/;/; /g'; }
printf '\n%s: %d of %d checks of results passed%s%s\n' "$([ ${#wrong[@]} = 0 ] && echo Nothing || echo Something) is wrong" $right $((right + ${#wrong[@]})) \
    "${wrong:+; failed: $(joined "${wrong[@]}")}" "${without:+; left out for want of time: $(joined "${without[@]}")}"
[ ${#wrong[@]} = 0 ]
