// PyTorch's training runs in bf16 and fp16 (tests/reference/make_traces.py), repeated by the engine: products
// read operands that PyTorch's own conversions have rounded, forward and backward.
#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/reference_traces.h"
#include "tests/trainers_by_name.h"

using namespace lockstep;

namespace {

std::vector<double> lossesOf(std::string_view lane, const ReferenceTrace& trace,
                             const PrecisionSettings& precision) {
    TrainJob job{trace.data.get(), trace.shape, trace.settings};
    job.settings.precision = precision;
    const auto trainer = makeCpuTrainer(job, laneSpecFromText(lane).rung, 2);
    TrainerState state = trainer->state();
    state.parameters = trace.initial;
    trainer->restore(state);
    trainer->run(trace.losses.size());
    std::vector<LossPoint> points;
    trainer->takeLosses(points);
    std::vector<double> losses;
    for (const LossPoint& point : points) losses.push_back(static_cast<double>(point.loss));
    return losses;
}

} // namespace

// Most agree to the last digit of a float, 1.2e-7. Of a thousand operands in fp16, one lies so near to the
// middle between two numbers that PyTorch's double and the engine's float round it differently: 1.9e-5.
TEST_CASE("losses in bf16 and fp16 are PyTorch's") {
    const std::vector<ReferenceTrace> traces = readReferenceTraces("precision_traces.json");
    CHECK(traces.size() == 8);
    for (const ReferenceTrace& trace : traces) {
        CAPTURE(trace.name);
        const double exact = largestRelativeDifference(lossesOf("cpu:scalar", trace, {}), trace.losses);
        for (const std::string_view lane : {"cpu:scalar", "cpu:best"}) {
            const double found =
                largestRelativeDifference(lossesOf(lane, trace, trace.settings.precision), trace.losses);
            MESSAGE(trace.name, " on ", lane, ": ", found, "; in fp32 ", exact);
            CHECK(found < 3e-5);
            CHECK(exact > 10 * found);
        }
    }
}
