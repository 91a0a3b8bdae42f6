#!/usr/bin/env bash
# Builds Lockstep for Windows (x86-64) on Debian 12, in build/windows, and packs it: lockstep-VERSION-windows-x86_64.zip. The
# libraries that it uses are built from Debian's sources the first time, and kept in $XDG_CACHE_HOME/lockstep-windows (by
# default ~/.cache/lockstep-windows).
#   scripts/windows.sh [-DNAME=VALUE...] [TARGET...]   ends with 3 where the sources cannot be had
# With LOCKSTEP_KEPT_ONLY set, it ends with 3, too, where the libraries are not kept.
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/packages.sh

toolchain_packages=(g++-mingw-w64-x86-64-posix libz-mingw-w64-dev dpkg-dev xz-utils python3)
kept=${XDG_CACHE_HOME:-$HOME/.cache}/lockstep-windows

# Source archives: package, version, file, SHA-256.
archives=(
    "fmtlib 9.1.0+ds1-2 fmtlib_9.1.0+ds1.orig.tar.gz 84ce1c2d0be3a9863935137969dcec6970125caac032f82474640bfc81463583"
    "glfw3 3.3.8-1 glfw3_3.3.8.orig.tar.gz f30f42e05f11e5fc62483e513b0488d5bceeab7d9c5da0ffe2252ad81816c713"
    "glslang 12.0.0-2 glslang_12.0.0.orig.tar.gz 7cb45842ec1d4b6ea775d624c3d2d8ba9450aa416b0482b0cc7e4fdd399c3d75"
    "imgui 1.86+ds-1 imgui_1.86+ds.orig.tar.xz 0dace0e8e57d298eb6e93af12dc19420cb96330832f6495c733b90aeeef11f64"
    "libwebp 1.2.4-0.2+deb12u1 libwebp_1.2.4.orig.tar.gz 7bf5a8a28cc69bcfa8cb214f2c3095703c6b73ac5fba4d5480c205331d9494df"
    "md4c 0.4.8-1 md4c_0.4.8.orig.tar.gz 4a457df853425b6bb6e3457aa1d1a13bccec587a04c38c622b1013a0da41439f"
    "shaderc 2023.2-1 shaderc_2023.2.orig.tar.gz 06c4e2fdd63d62b73450d7011b72e7720b416182fb883fb0aac0afe6db2df3f6"
    "spirv-tools 2023.1-2 spirv-tools_2023.1.orig.tar.gz f3d8245aeb89f098c01dddaa566f9c0f2aab4a3d62a9020afaeb676b5e7e64d4"
    "yaml-cpp 0.7.0+dfsg-8 yaml-cpp_0.7.0+dfsg.orig.tar.xz dc63708605404e0b963e0ca3a9619d1c8270eda2839603e6fa0384e5e51e5312"
)
# Libraries of headers alone: Debian's packages have them as they are.
header_folders=(nlohmann CLI glm doctest stb vulkan vk_video spirv)
header_packages=(nlohmann_json CLI11 glm doctest)

# What the kept libraries are made of; another sum builds them anew.
recipe_sum() {
    { declare -p archives && declare -f library build_libraries && cat cmake/WindowsToolchain.cmake cmake/windows-imgui/CMakeLists.txt; } |
        sha256sum | cut -c1-16
}

# download FOLDER: the archives, by apt from where this machine has its Debian packages, with lists of their own.
download() {
    local lists=$1/apt line package version file sum
    mkdir -p "$lists/lists/partial" "$1"
    apt-get indextargets --format 'deb-src $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        grep -E ' bookworm main$' | sort -u >"$lists/sources.list"
    local options=(-qq -o "Dir::Etc::sourcelist=$lists/sources.list" -o Dir::Etc::sourceparts=/dev/null
        -o "Dir::State::Lists=$lists/lists" -o APT::Get::List-Cleanup=0 -o APT::Sandbox::User=root)
    apt-get "${options[@]}" update || return 3
    for line in "${archives[@]}"; do
        read -r package version file sum <<<"$line"
        if ! echo "$sum  $1/$file" | sha256sum --check --status 2>/dev/null; then
            # A part of a package's own that is not needed may be missing from a mirror.
            (cd "$1" && apt-get "${options[@]}" source --download-only --only-source "$package=$version") || true
            [ -f "$1/$file" ] || return 3
            echo "$sum  $1/$file" | sha256sum --check --quiet || return 1
        fi
        mkdir -p "$1/$package" && tar -xf "$1/$file" -C "$1/$package" --strip-components=1 || return 1
    done
}

# library SOURCE [CMake options]: configures, builds and installs one into $libraries.
library() {
    local source=$1 folder
    folder=$kept/build-$(basename "$source")
    shift
    say "$(basename "$source")"
    cmake -S "$source" -B "$folder" -G Ninja -Wno-dev -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=OFF \
        -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/WindowsToolchain.cmake" -DLOCKSTEP_WINDOWS_LIBRARIES="$libraries" \
        -DCMAKE_INSTALL_PREFIX="$libraries" "$@" >"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; return 1; }
    cmake --build "$folder" ${target:+--target "$target"} >>"$folder.log" 2>&1 || { tail -20 "$folder.log" >&2; return 1; }
    [ -n "${target:-}" ] || cmake --install "$folder" >>"$folder.log"
}

build_libraries() {
    local sources=$kept/sources name
    download "$sources" || { code=$?; echo "the sources of the libraries cannot be had" >&2; exit $code; }
    rm -rf "$kept/recipe" "$libraries" "$kept"/build-*
    mkdir -p "$libraries/include" "$libraries/lib" "$libraries/share/cmake"
    for name in "${header_folders[@]}"; do cp -r "/usr/include/$name" "$libraries/include/"; done
    for name in "${header_packages[@]}"; do
        cp -r "$(dirname "$(ls /usr/share/cmake/"$name"/*onfig.cmake /usr/lib/cmake/"$name"/*onfig.cmake 2>/dev/null | head -1)")" \
            "$libraries/share/cmake/"
    done
    sed -i "s|_IMPORT_PREFIX \"/usr\"|_IMPORT_PREFIX \"$libraries\"|" "$libraries"/share/cmake/*/*.cmake # doctest's knows where it was
    library "$sources/fmtlib" -DFMT_TEST=OFF -DFMT_DOC=OFF
    library "$sources/glfw3" -DGLFW_BUILD_EXAMPLES=OFF -DGLFW_BUILD_TESTS=OFF -DGLFW_BUILD_DOCS=OFF
    library "$sources/md4c"
    library "$sources/yaml-cpp" -DYAML_CPP_BUILD_TESTS=OFF -DYAML_CPP_BUILD_TOOLS=OFF
    library "$sources/libwebp" -DWEBP_BUILD_ANIM_UTILS=OFF -DWEBP_BUILD_CWEBP=OFF -DWEBP_BUILD_DWEBP=OFF \
        -DWEBP_BUILD_GIF2WEBP=OFF -DWEBP_BUILD_IMG2WEBP=OFF -DWEBP_BUILD_VWEBP=OFF -DWEBP_BUILD_WEBPINFO=OFF \
        -DWEBP_BUILD_WEBPMUX=OFF -DWEBP_BUILD_EXTRAS=OFF -DWEBP_BUILD_LIBWEBPMUX=ON
    library cmake/windows-imgui -DIMGUI_SOURCE="$sources/imgui"
    target=shaderc_combined_genfile library "$sources/shaderc" -DSHADERC_SKIP_TESTS=ON -DSHADERC_SKIP_EXAMPLES=ON \
        -DSHADERC_SKIP_COPYRIGHT_CHECK=ON -DSHADERC_SPIRV_TOOLS_DIR="$sources/spirv-tools" \
        -DSHADERC_GLSLANG_DIR="$sources/glslang" -DSPIRV-Headers_SOURCE_DIR="$libraries" -DSPIRV_SKIP_EXECUTABLES=ON \
        -DENABLE_GLSLANG_BINARIES=OFF -DENABLE_CTEST=OFF
    cp "$kept/build-shaderc/libshaderc/libshaderc_combined.a" "$libraries/lib/"
    cp -r "$sources/shaderc/libshaderc/include/shaderc" "$sources/spirv-tools/include/spirv-tools" "$libraries/include/"
}

install_packages "${build_packages[@]}" "${toolchain_packages[@]}" doctest-dev
libraries=$kept/libraries
if [ "$(cat "$kept/recipe" 2>/dev/null)" != "$(recipe_sum)" ]; then
    [ -z "${LOCKSTEP_KEPT_ONLY:-}" ] || { echo "its libraries have to be built" >&2; exit 3; }
    build_libraries
    recipe_sum >"$kept/recipe"
fi
say "Lockstep for Windows"
LOCKSTEP_WINDOWS_LIBRARIES=$libraries build windows "$@"
if [ -f build/windows/demos/lockstep.exe ] && [ -f build/windows/demos/lockstep_start.exe ]; then
    SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null)} scripts/windows_zip.py build/windows build/windows
fi
