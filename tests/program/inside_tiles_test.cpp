// "Inside a step": which outputs each workgroup of a product computes.
#include <array>

#include <doctest/doctest.h>

#include "demos/exhibits/inside/workgroup_tiles.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

constexpr TensorId output{.kind = TensorKind::activations, .layer = 1};

/// A forward pass that writes 10 x 6 outputs, with a grid of workgroups that have noted their times.
StepTrace traceOf(std::array<std::size_t, 2> itemsPerGroup, std::uint32_t across, std::uint32_t down) {
    StepTrace trace;
    trace.tensors[output] = {.id = output, .rows = 10, .columns = 6, .values = {}};
    TracedOperation& operation = trace.operations.emplace_back();
    operation.operation = Operation::dense;
    operation.itemsPerGroup = itemsPerGroup;
    operation.writes = {output};
    for (std::uint32_t y = 0; y < down; ++y)
        for (std::uint32_t x = 0; x < across; ++x)
            operation.workgroups.push_back({.group = {x, y, 0}, .begin = 0, .end = 0});
    return trace;
}

std::optional<GroupTiles> tilesIn(const StepTrace& trace) { return tilesOf(trace, trace.operations.front()); }

/// How often each output is in a tile.
std::vector<int> covered(const GroupTiles& tiles) {
    std::vector<int> times(tiles.rows * tiles.columns);
    for (std::size_t group = 0; group < tiles.across() * tiles.down(); ++group) {
        const MatrixPart part = tiles.tile(group);
        for (std::size_t row = part.row; row < part.row + part.rows; ++row)
            for (std::size_t column = part.column; column < part.column + part.columns; ++column) {
                ++times[row * tiles.columns + column];
                CHECK(tiles.groupOf(row, column) == group);
            }
    }
    return times;
}

} // namespace

TEST_CASE("tiles are as large as the kernel says, and end where the matrix ends") {
    const auto tiles = tilesIn(traceOf({4, 4}, 2, 3));
    REQUIRE(tiles);
    CHECK(tiles->tileRows == 4);
    CHECK(tiles->tileColumns == 4);
    CHECK(tiles->tile(0) == MatrixPart{0, 0, 4, 4});
    CHECK(tiles->tile(5) == MatrixPart{8, 4, 2, 2});
    CHECK(covered(*tiles) == std::vector<int>(60, 1));
}

TEST_CASE("there are no tiles where it is not known what workgroups compute") {
    const std::array<std::size_t, 2> items{4, 4};
    CHECK(tilesIn(traceOf(items, 2, 3)));
    CHECK_FALSE(tilesIn(traceOf(items, 3, 2)));  // another grid
    CHECK_FALSE(tilesIn(traceOf({1, 1}, 1, 1))); // one that takes the outputs one after another
    CHECK_FALSE(tilesIn(traceOf({0, 0}, 0, 0))); // of a CPU
    StepTrace trace = traceOf(items, 2, 3);
    trace.operations.front().workgroups.erase(trace.operations.front().workgroups.begin());
    CHECK_FALSE(tilesIn(trace)); // one has noted no time
    trace = traceOf(items, 2, 3);
    trace.operations.front().replaced = true;
    CHECK_FALSE(tilesIn(trace));
    trace = traceOf(items, 2, 3);
    trace.operations.front().operation = Operation::update;
    CHECK_FALSE(tilesIn(trace));
}

TEST_CASE("on every rung, the tiles of a product's workgroups are its outputs, each once") {
    const Dataset data = test::classData();
    const TrainJob job = test::jobFor(data, {37, 18});
    for (const char* rung : {"naive-strided", "naive", "tiled", "pipelined", "blocked", "texel", "fused"}) {
        CAPTURE(rung);
        const StepTrace trace = makeGpuTrainer(job, rung, testDevice())->traceStep({.workgroups = true});
        if (!trace.noWorkgroups.empty()) {
            MESSAGE(trace.noWorkgroups);
            return;
        }
        std::size_t products = 0;
        for (const TracedOperation& each : trace.operations) {
            const auto tiles = tilesOf(trace, each);
            if (!tiles) continue;
            ++products;
            CHECK(covered(*tiles) == std::vector<int>(tiles->rows * tiles->columns, 1));
        }
        CHECK(products == 8); // 3 forward, 2 for inputs, 3 for weights
    }
}
