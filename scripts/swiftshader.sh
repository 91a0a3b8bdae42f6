#!/usr/bin/env bash
# Fetches SwiftShader, a second software Vulkan driver, once per checkout, and prints the path of its manifest for
# VK_DRIVER_FILES. It is taken out of Debian's Chromium, without installing that.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/packages.sh
folder=$PWD/build/swiftshader

# Debian has moved the driver from `chromium` to `chromium-common`.
fetch_into() {
    local package
    for package in chromium-common chromium; do
        (cd "$1" && apt-get download -qq -o APT::Sandbox::User=root "$package") || continue
        dpkg-deb --fsys-tarfile "$1/$package"_*.deb |
            tar -x -C "$1" --strip-components=4 --wildcards '*swiftshader*' && return
    done
    return 1
}

if [ ! -s "$folder/vk_swiftshader_icd.json" ]; then
    fresh=$(mktemp -d)
    trap 'rm -rf "$fresh"' EXIT
    {
        fetch_into "$fresh" || { as_root apt-get update -qq && fetch_into "$fresh"; } || {
            echo "SwiftShader cannot be had: apt-get brings no chromium-common or chromium with *swiftshader* in it."
            exit 1
        }
    } >&2
    mkdir -p "$folder"
    cp "$fresh/libvk_swiftshader.so" "$fresh/vk_swiftshader_icd.json" "$folder"
fi
echo "$folder/vk_swiftshader_icd.json"
