// How training goes in every number format, as it was when this was stored: on the spiral and on
// Fashion-MNIST, mean losses of stretches of steps. Rounding that became another one would show here, also
// where both machines round alike. To store the curves anew after a change that was meant:
// LOCKSTEP_GOLDEN=write build/release/tests/format_curves_test.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/data/data_source.h"
#include "engine/plan/rounding.h"
#include "engine/run/make_trainer.h"
#include "tests/test_device.h"

using namespace lockstep;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::size_t stretches = 6;
constexpr std::uint64_t stretch = 20; ///< steps

// Lanes round sums in other orders, and a sum beside the middle of two numbers of a format then goes the
// other way.
constexpr double tolerance = 0.005; // of a mean loss; 0.0021 was the most

std::vector<PrecisionSettings> everyWay() {
    std::vector<PrecisionSettings> ways;
    for (const OperandFormat format : allOperandFormats) ways.push_back({.format = format});
    for (const OperandFormat format : {OperandFormat::fp16, OperandFormat::fp8})
        ways.push_back({.format = format, .lossScaling = false});
    for (const RoundingMode rounding : allRoundingModes)
        for (const OperandFormat format : {OperandFormat::bf16, OperandFormat::fp16})
            ways.push_back({.format = format, .masterWeights = false, .rounding = rounding});
    return ways;
}

std::string nameOf(const PrecisionSettings& precision) {
    const std::string emulated = emulationText(precision);
    return emulated.empty() ? std::string(name(precision.format)) : emulated;
}

std::vector<double> curveOf(std::string_view lane, const TrainJob& job) {
    const LaneSpec spec = laneSpecFromText(lane);
    const auto made = makeTrainer(job, spec, {.threads = 2}, spec.gpu ? &testDevice() : nullptr);
    Trainer& trainer = *made;
    trainer.run(stretches * stretch);
    trainer.finish();
    std::vector<LossPoint> losses;
    trainer.takeLosses(losses);
    REQUIRE(losses.size() == stretches * stretch);
    std::vector<double> means(stretches);
    for (std::size_t at = 0; at < losses.size(); ++at)
        means[at / stretch] += static_cast<double>(losses[at].loss) / static_cast<double>(stretch);
    return means;
}

TrainJob spiralJob(const Dataset& data) {
    TrainJob job;
    job.data = &data;
    job.shape = {.widths = {2, 32, 32, data.classes}, .activation = Activation::tanh};
    job.settings.batch = 64;
    job.settings.optimizer.learningRate = 0.005;
    return job;
}

TrainJob fashionJob(const Dataset& data) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = {784, 32, 10};
    job.settings.batch = 128;
    return job;
}

} // namespace

TEST_CASE("training in every number format goes as it went when it was stored") {
    const std::string file = std::string(LOCKSTEP_SOURCE_DIR) + "/tests/reference/format_curves.json";
    const char* const mode = std::getenv("LOCKSTEP_GOLDEN");
    const bool write = mode != nullptr && std::string(mode) == "write";
    Json stored = Json::object();
    if (!write) std::ifstream(file) >> stored;
    const Dataset spiral = loadDataset("spiral", {.samples = 1024});
    const Dataset fashion = loadDataset("fashion-mnist", {});
    double most = 0;
    for (const TrainJob& plain : {spiralJob(spiral), fashionJob(fashion)}) {
        const std::string dataset = plain.data == &spiral ? "spiral" : "fashion-mnist";
        for (const PrecisionSettings& precision : everyWay()) {
            CAPTURE(dataset);
            CAPTURE(nameOf(precision));
            TrainJob job = plain;
            job.settings.precision = precision;
            Json& curve = stored[dataset][nameOf(precision)];
            for (const std::string_view lane : {"cpu:simd", "cpu:threads", "gpu:tiled"}) {
                if (lane == "gpu:tiled" && dataset != "spiral") continue; // the same kernels, for longer
                CAPTURE(lane);
                const std::vector<double> means = curveOf(lane, job);
                if (write && lane == "cpu:simd") curve = means;
                REQUIRE(curve.size() == stretches);
                for (std::size_t at = 0; at < stretches; ++at) {
                    const double off = std::abs(means[at] / curve[at].get<double>() - 1);
                    most = std::max(most, off);
                    CHECK(off < tolerance);
                }
            }
        }
    }
    MESSAGE("the largest difference is ", 100 * most, " %");
    if (write) std::ofstream(file) << stored.dump(1) << "\n";
}
