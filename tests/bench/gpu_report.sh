#!/usr/bin/env bash
# Measures a machine's GPU with the built tree (or an unpacked bundle) alone: which device, are its results right, how fast are
# kernels and whole steps, what does a race say. With PyTorch installed, its numbers stand beside them.
#   tests/bench/gpu_report.sh [BUILD_FOLDER | BUNDLE_FOLDER] [DEVICE]        the report goes to standard output
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tree=${1:-$here/../../build/release}
device=${2:-}
lockstep=$tree/demos/lockstep
[ -x "$lockstep" ] || lockstep=$tree/bin/lockstep
[ -x "$lockstep" ] || { echo "no program in $tree: build it first, or name a build or bundle folder" >&2; exit 1; }
chosen=()
[ -z "$device" ] || chosen=(--device "$device")

section() { printf '\n## %s\n\n$ %s\n' "$1" "${*:2}"; shift; "$@" 2>&1 || printf '(exit code %d)\n' $?; }

echo "# Report of $(date -u +%Y-%m-%d), $("$lockstep" --version)"
section "Devices" "$lockstep" devices "${chosen[@]}"
# The suite's own checks of every kernel and of whole runs, where the build folder has them.
for test in gpu_device_test gpu_products_test gpu_trainer_test validation_test; do
    [ -x "$tree/tests/$test" ] && section "Right? $test" env LOCKSTEP_TEST_DEVICE="$device" "$tree/tests/$test"
done
section "W: 784-256-128-10, batch 128" "$lockstep" bench "${chosen[@]}"
section "W-big: 784-2048-2048-10, batch 512" "$lockstep" bench --widths 784,2048,2048,10 --batch 512 "${chosen[@]}" \
    --lane cpu:best --lane gpu:best
section "W-wide: 4096-4096-4096-10, batch 4096" "$lockstep" bench --widths 4096,4096,4096,10 --batch 4096 "${chosen[@]}" \
    --lane gpu:best
section "A race" "$lockstep" race --epochs 3 "${chosen[@]}"
if python3 -c 'import torch' 2>/dev/null; then
    for workload in W W-big; do
        for optimizer in sgd adam; do
            section "PyTorch on the processor: $workload, $optimizer" python3 "$here/pytorch_cpu.py" "$workload" "$optimizer" "$(nproc)" 5
        done
    done
fi
