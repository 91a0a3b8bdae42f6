#!/usr/bin/env bash
# Installs what is missing, builds the program, and opens its window; without a display, races the processor against the
# graphics card on Fashion-MNIST in the terminal. With arguments, runs `lockstep` with them instead: ./run.sh devices
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. scripts/packages.sh

install_packages "${build_packages[@]}"
say "Building (Release) in build/release"
build release lockstep
if [ $# = 0 ] && [ -z "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then set -- race; fi
say "lockstep $*"
exec build/release/demos/lockstep "$@"
