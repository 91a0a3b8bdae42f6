// What kernels read and write, recorded by themselves: every operand that the mathematics asks for, every
// output once.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "demos/exhibits/ladder/access_record.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/kit/source_text.h"
#include "engine/gpu/loop_watch.h"
#include "engine/step/lane_spec.h"
#include "engine/tune/product_candidates.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;

constexpr std::size_t rows = 32;
constexpr std::size_t inputs = 16;
constexpr std::size_t outputs = 32;
constexpr DenseShape shape{rows, inputs, outputs, inputs, outputs};

/// Words, whatever the size of an element: "array, first word, number of words".
template <class Visit> void eachWord(const AccessRecord& record, const AccessEvent& event, Visit visit) {
    if (event.barrier) return;
    const std::uint32_t words = record.array(event.array).bytes / 4;
    for (std::uint32_t word = 0; word < words; ++word) visit(event.at * words + word);
}

struct Seen {
    std::map<std::uint32_t, std::set<std::uint32_t>> read;         // words by array
    std::map<std::uint32_t, std::map<std::uint32_t, int>> written; // how often
    double bytesRead = 0;                                          // of the recorded workgroup
};

Seen seenIn(const AccessRecord& record) {
    Seen seen;
    for (const auto& events : record.invocations)
        for (const AccessEvent& event : events) {
            if (!event.barrier && !event.write && !record.array(event.array).shared)
                seen.bytesRead += record.array(event.array).bytes;
            eachWord(record, event, [&](std::uint32_t word) {
                if (event.write)
                    ++seen.written[event.array][word];
                else
                    seen.read[event.array].insert(word);
            });
        }
    return seen;
}

std::vector<ProductKernel> everyKernel(gpu::Device& device, Product product) {
    return candidates(device, product, shape);
}

} // namespace

TEST_CASE("the record of a workgroup holds all that its outputs need, and each output once") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    std::set<Rung> rungs;
    for (const ProductKernel& how : everyKernel(device, Product::forward)) {
        CAPTURE(how.describe());
        rungs.insert(how.rung);
        const AccessRecord record = recorder.record(Product::forward, how, shape, Recording::events);
        REQUIRE(record.whole);
        CHECK(record.invocations.size() == how.groupM * how.groupN);
        const Seen seen = seenIn(record);
        REQUIRE(seen.written.contains(3));
        CHECK_FALSE(seen.written.contains(0));
        CHECK_FALSE(seen.written.contains(1));
        for (const auto& [word, times] : seen.written.at(3)) {
            CHECK(times == 1);
            const std::size_t row = word / outputs;
            const std::size_t output = word % outputs;
            for (std::size_t k = 0; k < inputs; ++k) {
                CHECK(seen.read.at(0).contains(static_cast<std::uint32_t>(row * inputs + k)));
                CHECK(seen.read.at(1).contains(static_cast<std::uint32_t>(output * inputs + k)));
            }
        }
    }
    CHECK(rungs.contains(Rung::naive));
    CHECK(rungs.contains(Rung::tiled));
    CHECK(rungs.contains(Rung::pipelined));
    CHECK(rungs.contains(Rung::blocked));
}

TEST_CASE("the naive kernel reads both operands anew for every product, and larger tiles read less") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    const ProductKernel naive{Rung::naive, 8, 8, 1, 1, 0};
    const AccessRecord record = recorder.record(Product::forward, naive, shape, Recording::events);
    for (const auto& events : record.invocations) {
        std::map<std::uint32_t, std::size_t> reads;
        for (const AccessEvent& event : events)
            if (!event.write) ++reads[event.array];
        CHECK(reads[0] == inputs);
        CHECK(reads[1] == inputs);
        CHECK(reads[2] == 1); // the bias
    }
    CHECK(record.bytesRead == 4.0 * rows * outputs * (2 * inputs + 1));
    CHECK(record.bytesWritten == 4.0 * rows * outputs);

    const ProductKernel blocked{Rung::blocked, 8, 1, 4, 4, 0};
    const double fewer = recorder.record(Product::forward, blocked, shape, Recording::bytes).bytesRead;
    CHECK(fewer == 4.0 * rows * outputs * (2.0 * inputs / 4 + 1.0 / 4));
    const ProductKernel tiled{Rung::tiled, 8, 8, 2, 2, 8}; // a workgroup shares what 16 x 16 outputs need
    const AccessRecord shared = recorder.record(Product::forward, tiled, shape, Recording::events);
    CHECK(shared.bytesRead == 4.0 * rows * outputs * (2.0 * inputs / 16 + 1));
    // Two barriers for each of the two slabs, met by all.
    for (const auto& events : shared.invocations)
        CHECK(std::ranges::count(events, true, &AccessEvent::barrier) == 4);
    // One for the first slab, and one for each that was computed from.
    const ProductKernel pipelined{Rung::pipelined, 4, 4, 4, 4, 8};
    const AccessRecord both = recorder.record(Product::forward, pipelined, shape, Recording::events);
    CHECK(both.bytesRead == 4.0 * rows * outputs * (2.0 * inputs / 16 + 1.0 / 4));
    for (const auto& events : both.invocations)
        CHECK(std::ranges::count(events, true, &AccessEvent::barrier) == 3);
}

TEST_CASE("the naive kernels of the backward products read what their sums need, and no word more") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    const ProductKernel naive{Rung::naive, 8, 8, 1, 1, 0};
    const AccessRecord toInputs = recorder.record(Product::backwardInputs, naive, shape, Recording::events);
    // A sum over the outputs, and the input that the activation's derivative is taken at.
    CHECK(toInputs.bytesRead == 4.0 * rows * inputs * (2 * outputs + 1));
    CHECK(toInputs.bytesWritten == 4.0 * rows * inputs);
    for (const auto& events : toInputs.invocations) CHECK(events.size() == 2 * outputs + 1 + 1);
    // A sum over the rows for each weight. A bias's sum takes what one of its output's weights has read.
    const AccessRecord toWeights = recorder.record(Product::backwardWeights, naive, shape, Recording::events);
    CHECK(toWeights.bytesRead == 4.0 * outputs * inputs * 2 * rows);
    CHECK(toWeights.bytesWritten == 4.0 * outputs * (inputs + 1));
}

TEST_CASE("the tiled kernel moves each slab through shared memory once, and every access is an event") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    const ProductKernel tiled{Rung::tiled, 8, 8, 2, 2, 8};
    const AccessRecord record = recorder.record(Product::forward, tiled, shape, Recording::events);
    std::size_t stored = 0;
    for (const auto& events : record.invocations) {
        std::size_t loaded = 0;
        for (const AccessEvent& event : events)
            if (event.access() && record.array(event.array).shared) ++(event.write ? stored : loaded);
        CHECK(loaded == inputs * (2 + 2)); // its two rows and its two columns, for every k
    }
    CHECK(stored == inputs * (16 + 16)); // by all: the workgroup's rows and columns
}

TEST_CASE("recording stops no loop that the kernel itself could finish") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    // The unrolled loops have 1 + 4 + 4 + 4 * (1 + 4) rounds for each k: counted, more than an invocation may
    // spend (loop_limit.h).
    const ProductKernel tiled{Rung::tiled, 8, 8, 4, 4, 16};
    constexpr std::size_t side = 32; // of one workgroup's outputs
    constexpr std::size_t deep = 4096;
    const AccessRecord record =
        recorder.record(Product::forward, tiled, {side, deep, side, deep, side}, Recording::bytes);
    CHECK(record.bytesRead == 4.0 * (side * deep + side * deep + side * side)); // inputs, weights, biases
    CHECK(record.bytesWritten == 4.0 * side * side);
    CHECK_NOTHROW(device.loopWatch().check());
}

TEST_CASE("shared memory is written before it is read, word for word") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    for (const auto& [kernel, slabs] : {std::pair{ProductKernel{Rung::tiled, 8, 8, 2, 2, 8}, 1},
                                        {ProductKernel{Rung::pipelined, 4, 4, 4, 4, 8}, 2}}) {
        const ProductKernel& how = kernel; // clang captures no structured bindings
        CAPTURE(how.describe());
        const AccessRecord record = recorder.record(Product::forward, how, shape, Recording::events);
        Seen seen = seenIn(record);
        std::size_t operands = 0;
        for (const RecordedArray& array : record.arrays) {
            if (!array.shared) continue;
            ++operands;
            CHECK(seen.read[array.id].size() == slabs * 8 * 16);
            for (const std::uint32_t word : seen.read[array.id]) CHECK(seen.written[array.id].contains(word));
        }
        CHECK(operands == 2);
    }
}

TEST_CASE("all three products of every kernel can be recorded, and write each result once") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    int number = 0;
    for (const Product product : {Product::backwardInputs, Product::backwardWeights})
        for (const ProductKernel& how : everyKernel(device, product)) {
            if (test::sanitized && number++ % 4 != 0) continue; // minutes there, and the same code
            CAPTURE(shaderName(name(product), how));
            const AccessRecord record = recorder.record(product, how, shape, Recording::events);
            const std::uint32_t result = product == Product::backwardInputs ? 3 : 2;
            const Seen seen = seenIn(record);
            for (const auto& [word, times] : seen.written.at(result)) CHECK(times == 1);
        }
}

TEST_CASE("the picture of every rung shows a workgroup that writes its outputs") {
    gpu::Device& device = testDevice();
    AccessRecorder recorder(device);
    for (const RungRow& row : rungTable) {
        if (!row.gpu() || !row.trains || !row.unrecorded.empty()) continue;
        CAPTURE(row.lane);
        const AccessRecord record =
            recordOfRung(laneSpecFromText(row.lane), Product::forward, device, recorder);
        CHECK(record.whole);
        const Seen seen = seenIn(record);
        REQUIRE(seen.written.contains(3));
        for (const auto& [word, times] : seen.written.at(3)) CHECK(times == 1);
    }
}

TEST_CASE("what cannot be recorded says why") {
    const auto recorded = [](const std::string& text) {
        const CompiledShader compiled = compileShader("odd", {{"odd.comp", "#version 450\n" + text}});
        REQUIRE(compiled.errors.empty());
        recordingShaderOf(compiled.words, "odd", Recording::bytes, 16);
    };
    CHECK_THROWS_WITH(recorded("void main() {}\n"), doctest::Contains("'odd' has no buffer"));
    CHECK_THROWS_WITH(recorded("layout(set = 0, binding = 0) buffer B { mat4 matrices[]; };\n"
                               "void main() { matrices[0][0][0] = 1.0; }\n"),
                      doctest::Contains("'matrices'"));
}
