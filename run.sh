#!/usr/bin/env bash
# Installs what is missing, builds the program, and races the processor against the graphics card on Fashion-MNIST.
# With arguments, runs `lockstep` with them instead: ./run.sh devices
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. scripts/packages.sh

install_packages "${build_packages[@]}"
say "Building (Release) in build/release"
build release lockstep
[ $# -gt 0 ] || set -- race
say "lockstep $*"
exec build/release/demos/lockstep "$@"
