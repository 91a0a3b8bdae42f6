#!/usr/bin/env bash
# Makes every file that a person downloads, in build/release-files, and tries each: the bundle for Linux, the zip for Windows if
# scripts/windows.sh has made it, and their SHA-256. The same commit gives the same bytes with the same compiler and libraries.
#   scripts/release.sh [-DNAME=VALUE...]   options for CMake
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/packages.sh

version=$(sed -n 's/^project(lockstep VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
linux=lockstep-$version-linux-$(uname -m)
windows=lockstep-$version-windows-x86_64
files=$PWD/build/release-files

grep -q "^## \[$version\] - [0-9-]*$" CHANGELOG.md || { echo "CHANGELOG.md has no section '## [$version] - DATE'" >&2; exit 1; }
[ -z "$(git status --porcelain)" ] || echo "note: what is not committed is inside, too"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

install_packages "${build_packages[@]}" unzip
say "The bundle for Linux"
build release "$@" bundle
rm -rf "$files"
mkdir -p "$files"
cp "build/release/$linux.tar.gz" "$files/"
# The zip's times are those of the commit that it was made from.
made_now() {
    python3 -c 'import sys, time, zipfile
made = time.gmtime(int(sys.argv[2]) // 2 * 2)[:6]
sys.exit(zipfile.ZipFile(sys.argv[1]).infolist()[0].date_time != made)' "build/windows/$windows.zip" "$SOURCE_DATE_EPOCH"
}
if [ -f "build/windows/$windows.zip" ] && made_now; then
    cp "build/windows/$windows.zip" "$files/"
else
    echo "no $windows.zip: scripts/windows.sh has not made it from this commit in build/windows"
fi
(cd "$files" && sha256sum lockstep-* >SHA256SUMS && cat SHA256SUMS)

# try EXPECTED COMMAND...: runs it with no environment but another home, and looks for a text in what it prints.
try() {
    local expected=$1 output
    shift
    output=$(cd / && env -i "HOME=$home" "$@" 2>&1) && grep -q -- "$expected" <<<"$output" || {
        printf 'failed: %s\nexpected: %s\n%s\n' "$*" "$expected" "$output" >&2
        return 1
    }
    echo "ok: $(basename "$1") ${*:2}"
}

# try_program PROGRAM: what a person does first.
try_program() {
    try "^lockstep $version" "$@" --version
    try "Vulkan" "$@" devices
    try "cpu:best .*100 %.*finished" "$@" race --quick --data circle --layers 8 --steps 50
    try "" "$@" show playground --headless --frames 3 --png "$home/picture.png"
    [ "$(head -c 4 "$home/picture.png" | tail -c 3)" = PNG ] || { echo "no picture: $home/picture.png" >&2; return 1; }
}

say "Trying them in an empty environment"
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
unpacked="$place/Entpackt für alle"
home="$place/Zuhause"
mkdir -p "$unpacked" "$home"
tar -xzf "$files/$linux.tar.gz" -C "$unpacked"
if grep -rqaF "$PWD/" "$unpacked/$linux"; then
    echo "these files name the folder that they were built in:" >&2
    grep -rlaF "$PWD/" "$unpacked/$linux" >&2
    exit 1
fi
try_program "$unpacked/$linux/bin/lockstep"
if [ -f "$files/$windows.zip" ]; then
    unzip -q "$files/$windows.zip" -d "$unpacked"
    program=$(find "$unpacked" -name lockstep.exe)
    if command -v wine >/dev/null; then
        # Without a locale, wine finds no folder with an umlaut.
        try "^lockstep $version" env LANG=C.UTF-8 WINEDEBUG=-all wine "$program" --version
    else
        echo "the zip for Windows was unpacked, but not started: there is no wine"
    fi
fi
say "$files"
ls -l "$files"
