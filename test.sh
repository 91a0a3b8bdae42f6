#!/usr/bin/env bash
# Installs what is missing, builds, and passes every check; the last lines are the test suite's summary. Any check that
# fails makes the exit code 1. With CI set, fuzzing takes 10 s per target instead of 5.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. scripts/packages.sh

sources() { find engine demos tests -name '*.cpp' -o -name '*.h' | sort; }

check_format() { sources | xargs clang-format --dry-run -Werror; }

# What the build compiles of the library and the program: mostly batches of a room's files. clang-tidy looks at every line of the
# headers, too, so all batches of a room are checked as one. A clean one is checked again only if one of its files, a header or
# the configuration has changed.
units() {
    local all first joined
    all=$(sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/tidy/compile_commands.json |
        grep -E "^$PWD/(engine|demos)/|/build/release/(engine|demos)/.*/Unity/" | grep -v 'shown_sources\|lockstep_shaders' | sort)
    for first in $(grep '_0_cxx[.]cxx$' <<<"$all"); do
        joined=${first#*/build/release/} joined=$PWD/build/tidy/${joined//\//_}
        grep -E "^${first%0_cxx.cxx}[0-9]+_cxx[.]cxx$" <<<"$all" | xargs cat >"$joined.new"
        cmp -s "$joined.new" "$joined" || cp "$joined.new" "$joined" # its time counts
        sed -i "s|$first|$joined|g" build/tidy/compile_commands.json
        echo "$joined"
    done
    grep -v '/Unity/' <<<"$all"
}

tidy_unit() {
    local stamp=build/tidy/${1//\//_} parts
    parts=$(sed -n 's/^#include "\(.*[.]cpp\)"$/\1/p' "$1")
    [ -n "$(find "$1" .clang-tidy $parts $(find engine demos shaders -name '*.h' -o -name '*.inl') -newer "$stamp" 2>&1 | head -1)" ] || return 0
    local checks= # beyond .clang-tidy
    [[ $1 == */engine[/_]* ]] || checks=-clang-analyzer-* # the path-sensitive analyzer only where memory is managed: half the time
    clang-tidy -p build/tidy --quiet --checks="$checks" --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-shadow "$1" 2> >(grep -v ' generated\.$' >&2) && touch "$stamp"
}

check_tidy() {
    mkdir -p build/tidy
    # Without GCC's precompiled headers, which clang cannot read: every file has to name what it uses.
    sed 's/ -Winvalid-pch -include [^ ]*cmake_pch[.]hxx//; s/ --param ggc[^ ]*//' build/release/compile_commands.json >build/tidy/compile_commands.json
    export -f tidy_unit
    units >build/tidy/units # complete before the first is looked at: it changes the commands
    xargs -P "$(nproc)" -I{} bash -c 'tidy_unit {}' <build/tidy/units
}

# Everything except tests marked slow. Leak detection is off because drivers never free everything; of freed memory 16 MiB are
# held back to catch late uses, for with the usual 256 the kernel spends more time on fresh pages than the tests on themselves.
check_asan() {
    build asan "$shaders" &&
        ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1 \
            ctest --test-dir build/asan --output-on-failure --label-exclude slow --timeout 300 -j "$at_once"
}

# Whatever has threads of its own; of the long table of trainers, the case that resumes on several; and the program, every
# exhibit of which trains beside what draws.
check_tsan() {
    export TSAN_OPTIONS="suppressions=$PWD/tests/tsan.supp"
    local exhibit
    build tsan "$shaders" lockstep cpu_threads_test exchange_test team_sizing_test cpu_trainer_test lane_test lane_post_test map_machines_test map_model_test mosaic_model_test race_test rank_team_test &&
        ctest --test-dir build/tsan --output-on-failure --timeout 300 -j "$(nproc)" -R '^(cpu_threads|exchange|team_sizing|lane|lane_post|map_machines|map_model|mosaic_model|race|rank_team)_test$' || return
    {
        echo "build/tsan/tests/cpu_trainer_test --test-case='*bit-identical*'"
        for exhibit in mosaic:8 race:24 playground:24 map:24 inside:24; do # a mosaic's frame trains 64 networks twice
            echo "build/tsan/demos/lockstep show tests/window/${exhibit%:*}.json --headless --run --frames ${exhibit#*:} >/dev/null && echo '${exhibit%:*}: no race'"
        done
        for experiment in demos/lab/experiments/*.cpp; do
            experiment=$(basename "${experiment//_/-}" .cpp)
            echo "build/tsan/demos/lockstep lab $experiment --quick --quiet >/dev/null && echo '$experiment: no race'"
        done
    } | xargs -P "$(nproc)" -d '\n' -I{} bash -c '{}'
}

check_fuzz() {
    build fuzz -DLOCKSTEP_FUZZ_SECONDS="$([ -n "${CI:-}" ] && echo 10 || echo 5)" fuzz &&
        ctest --test-dir build/fuzz --output-on-failure --label-regex fuzz -j "$(nproc)"
}

# A driver of other makers than the one that everything else runs on.
check_second_driver() {
    local manifest
    manifest=$(scripts/swiftshader.sh) && tests/second_driver_test.sh build/release "$manifest" SwiftShader
}

# The program for Windows and a dozen of its tests, by Wine: in CI, and wherever scripts/windows.sh has been run. Left out where
# the libraries' sources or Wine cannot be had, and on a machine that has been too slow to build libraries before CI ends.
check_windows() {
    local tests=(cpu_trainer csv draw gzip half inference lane map plain_ops race reference safetensors) started=(cli cli_data)
    [ -f "${XDG_CACHE_HOME:-$HOME/.cache}/lockstep-windows/recipe" ] || [ -n "${CI:-}" ] || { echo "scripts/windows.sh has not been run"; return 3; }
    [ $SECONDS -lt 1900 ] || export LOCKSTEP_KEPT_ONLY=1
    scripts/windows.sh "$shaders" -DLOCKSTEP_BUILD_TESTS=ON lockstep lockstep_start "${tests[@]/%/_test}" &&
        tests/windows.sh "^($(IFS='|' && echo "${tests[*]}|${started[*]}"))_test\$"
}

end_windows() {
    local code=0
    wait "$windows" || code=$?
    windows= # its number may be another process's from now on
    cat build/windows-check.log
    return $code
}

# Tests wait for a sixth of their time: for processes that end, clocks, and a driver's threads.
at_once=$(($(nproc) + 1))
# The same for every compiler: compiled once.
shaders=-DLOCKSTEP_SHADERS_FROM=$PWD/build/release

failed=()
check() {
    local title=$1 start=$SECONDS
    shift
    say "$title"
    local code=0
    "$@" || code=$?
    case $code in
        0) echo "$title: passed ($((SECONDS - start)) s)" ;;
        3) echo "$title: left out (see the line above)" ;;
        *) failed+=("$title") ;;
    esac
}

install_packages "${build_packages[@]}" "${test_packages[@]}"
say "Building (Release) in build/release"
build release -DLOCKSTEP_BUILD_TESTS=ON
check "Format" check_format
check "Lint (clang-tidy)" check_tidy
check "Address and undefined-behaviour sanitizers" check_asan
check_windows >build/windows-check.log 2>&1 & # it waits a good deal for Wine: the next three run beside it
windows=$!
trap '[ -z "$windows" ] || kill "$windows" 2>/dev/null || true' EXIT
check "Thread sanitizer" check_tsan
check "Fuzzing the file readers" check_fuzz
check "Second Vulkan driver (SwiftShader)" check_second_driver
check "Windows, by Wine" end_windows
for title in "${failed[@]}"; do printf 'FAILED: %s (see above)\n' "$title" >&2; done

say "Test suite (Release)"
if ! ctest --test-dir build/release --output-on-failure -j "$at_once"; then
    say "The tests that failed, once more and alone: what they say stands at the end, and the run has failed"
    ctest --test-dir build/release --output-on-failure --rerun-failed
    exit 8
fi
[ ${#failed[@]} = 0 ]
