# Sourced by run.sh and test.sh: what has to be installed, and how. Debian 12 and Ubuntu 24.04 (apt).

build_packages=(
    g++ cmake ninja-build pkg-config                       # compiler and build system
    libvulkan-dev spirv-headers glslc mesa-vulkan-drivers  # Vulkan headers and loader, shader compiler, software driver
    libdnnl-dev libcli11-dev nlohmann-json3-dev libfmt-dev # products on the processor, options, JSON, text
    zlib1g-dev libstb-dev libwebp-dev                      # gzip, PNG, animated pictures
    libglfw3-dev libimgui-dev libglm-dev                   # window
    libopenal-dev                                          # its sound
    libmd4c-dev libmd4c-html0-dev libyaml-cpp-dev          # lessons: Markdown (its CMake files name both), YAML
    libshaderc-dev glslang-dev spirv-tools                 # shaders compiled by the running program
    fonts-inter fonts-dejavu-core                          # its letters
    dataset-fashion-mnist                                  # 70,000 pictures of clothes
)
test_packages=(
    doctest-dev vulkan-validationlayers                    # test framework, Vulkan's own checks
    xvfb xdotool openbox                                   # a display, a hand and a window manager for the window
    openmpi-bin libopenmpi-dev                             # ranks as processes
    python3                                                # opens the shared library
    desktop-file-utils appstream                           # check what a desktop is told
    clang clang-format clang-tidy libclang-rt-dev lld      # sanitizers, fuzzing, formatting, linting
)

say() {
    if [ -t 1 ]; then printf '\n\033[1m== %s\033[0m\n' "$*"; else printf '\n== %s\n' "$*"; fi
}

# The names among "$@" that dpkg does not have installed.
missing_packages() {
    local name
    for name in "$@"; do
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$name" 2>/dev/null)" = installed ] || printf '%s\n' "$name"
    done
}

# Runs a command as root: directly, or by sudo.
as_root() {
    if [ "$(id -u)" = 0 ]; then
        "$@"
    elif command -v sudo >/dev/null; then
        sudo "$@"
    else
        echo "This needs root, and there is no sudo. As root, run: $*" >&2
        return 1
    fi
}

# Installs what is missing among "$@"; returns at once, without touching the network, when nothing is.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "This system has no apt. What is needed, by the names of Debian's packages: $*"
        echo "Going on with what is there."
        return 0
    fi
    local missing
    mapfile -t missing < <(missing_packages "$@")
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing with apt: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    as_root apt-get update -qq
    as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" </dev/null
}

# build PRESET [-DNAME=VALUE...] [TARGET...]: configures and builds; the configuration's log is shown only when it fails.
build() {
    local preset=$1 log=build/$1-configure.log options=()
    shift
    while [[ ${1:-} == -D* ]]; do options+=("$1"); shift; done
    mkdir -p build
    cmake --preset "$preset" "${options[@]}" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
    cmake --build --preset "$preset" ${1:+--target "$@"}
}
