// A program that is killed while it writes checkpoints, a hundred times at random moments: the file is always
// one that can be gone on with.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

#include "engine/net/param_layout.h"
#include "engine/net/random.h"
#include "engine/run/checkpoint.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t savesPerWriter = 1'000'000;

// Every number of the checkpoint tells its step, so that a mixture of two files would show.
Checkpoint checkpointOf(std::uint64_t step) {
    Checkpoint checkpoint;
    checkpoint.dataSpec = "circle";
    checkpoint.lane = "cpu:best";
    checkpoint.shape.widths = {64, 256, 8};
    checkpoint.settings.optimizer.kind = Optimizer::momentum;
    checkpoint.state.step = step;
    const ParamLayout layout(checkpoint.shape);
    std::vector<float> arena(layout.size(), 0.0f);
    for (std::size_t i = 0; i < layout.layers(); ++i) {
        const LayerLayout& layer = layout.layer(i);
        std::fill_n(arena.begin() + static_cast<std::ptrdiff_t>(layer.weightOffset), layer.weightCount(),
                    static_cast<float>(step % 100'000));
    }
    checkpoint.state.parameters = arena;
    checkpoint.state.optimizerState = {arena};
    return checkpoint;
}

// Starts a process that saves steps first, first + 1, ... until it is killed.
::pid_t startWriter(const fs::path& path, std::uint64_t first) {
    const ::pid_t child = ::fork();
    if (child != 0) return child;
    for (std::uint64_t i = 0; i < savesPerWriter; ++i) saveCheckpoint(path, checkpointOf(first + i));
    ::_exit(0);
}

std::size_t filesIn(const fs::path& folder) {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

} // namespace

TEST_CASE("kill -9 during a write leaves the previous checkpoint or the new one, whole") {
    const fs::path folder = fs::temp_directory_path() / ("lockstep-kill-test-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const fs::path path = folder / "run.safetensors";
    // Kills come within a few times what a save takes here, or a slow machine would never see one end.
    const auto start = std::chrono::steady_clock::now();
    for (int save = 0; save < 3; ++save) saveCheckpoint(path, checkpointOf(0));
    const auto aSave =
        std::chrono::duration_cast<std::chrono::microseconds>((std::chrono::steady_clock::now() - start) / 3)
            .count();
    const auto range = static_cast<std::uint32_t>(std::clamp<std::int64_t>(6 * aSave, 20'000, 200'000));

    std::uint64_t last = 0;
    std::size_t interrupted = 0;
    std::size_t advanced = 0;
    for (std::uint64_t round = 1; round <= 100; ++round) {
        const ::pid_t writer = startWriter(path, round * savesPerWriter);
        REQUIRE(writer > 0);
        const std::uint32_t word = randomWords(7, RandomStream::test, round).x;
        std::this_thread::sleep_for(std::chrono::microseconds(500 + word % range));
        REQUIRE(::kill(writer, SIGKILL) == 0);
        int status = 0;
        REQUIRE(::waitpid(writer, &status, 0) == writer);
        REQUIRE(WIFSIGNALED(status));

        const Checkpoint found = loadCheckpoint(path);
        const Checkpoint expected = checkpointOf(found.state.step);
        REQUIRE(found.state.step >= last);
        REQUIRE(found.state.parameters[0] == expected.state.parameters[0]);
        REQUIRE(std::ranges::count(found.state.parameters, found.state.parameters[0]) >= 64 * 256);
        REQUIRE(found.state.optimizerState[0] == found.state.parameters);
        REQUIRE(filesIn(folder) <= 2);
        interrupted += filesIn(folder) == 2 ? 1 : 0;
        advanced += found.state.step > last ? 1 : 0;
        last = found.state.step;
    }
    MESSAGE(interrupted << " of 100 kills came during a write; " << advanced << " writers had saved before");
    CHECK(interrupted > 0);
    CHECK(advanced > 0);
    saveCheckpoint(path, checkpointOf(last + 1));
    CHECK(filesIn(folder) == 1);
    fs::remove_all(folder);
}
