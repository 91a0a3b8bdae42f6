// What narrow numbers gain on this processor, where it has instructions for them: training in bf16 (cpu:bf16)
// against fp32, and inference in integers of 8 bits against fp32 and against plain loops. Both sides are
// compared first: losses of 20 steps within 5 %, integers bit for bit. Then they run in turn.
//
//   narrow_speed [--rounds N] [--seconds S]       11 rounds, 0.3 s for each side of each
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cpu/cpu_info.h"
#include "engine/net/param_layout.h"
#include "engine/net/random.h"
#include "engine/run/int8_inference.h"
#include "engine/run/make_trainer.h"

using namespace lockstep;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
    std::size_t rounds = 11;
    double seconds = 0.3;
};

Options optionsFrom(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2)
        if (arguments[i] == "--rounds")
            options.rounds = std::stoul(arguments[i + 1]);
        else if (arguments[i] == "--seconds")
            options.seconds = std::stod(arguments[i + 1]);
        else
            throw std::invalid_argument("unknown option '" + arguments[i] + "' (known: --rounds, --seconds)");
    if (arguments.size() % 2 != 0 || options.rounds == 0)
        throw std::invalid_argument("usage: narrow_speed [--rounds N] [--seconds S]");
    return options;
}

Dataset randomData(std::size_t inputs, std::size_t count) {
    Dataset data;
    data.name = "random";
    data.inputs = inputs;
    data.classes = 10;
    data.train.count = count;
    for (std::size_t at = 0; at < count * inputs; ++at)
        data.train.values.push_back(static_cast<float>(uniform01(randomWords(1, RandomStream::data, at).x)));
    for (std::size_t example = 0; example < count; ++example)
        data.train.labels.push_back(static_cast<std::uint32_t>(example % 10));
    return data;
}

TrainJob jobFor(const Dataset& data, std::vector<std::size_t> widths) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = std::move(widths);
    job.settings.batch = 128;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 0.01;
    return job;
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

/// How often `work` is done in a second.
double rateOf(const std::function<void()>& work, double seconds) {
    std::size_t times = 0;
    double passed = 0;
    for (const Clock::time_point start = Clock::now(); passed < seconds; ++times) {
        work();
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return static_cast<double>(times) / passed;
}

struct Side {
    std::string name;
    std::function<void()> work; ///< `items` of them
    std::vector<double> rates{};
};

/// Runs all sides in turn; prints their median rates, and ratios to the first.
void compare(const std::string& what, std::vector<Side> sides, double items, const Options& options) {
    for (Side& side : sides) side.work();
    for (std::size_t round = 0; round < options.rounds; ++round)
        for (Side& side : sides) side.rates.push_back(items * rateOf(side.work, options.seconds));
    for (const Side& side : sides) {
        std::vector<double> ratios;
        for (std::size_t round = 0; round < options.rounds; ++round)
            ratios.push_back(side.rates[round] / sides.front().rates[round]);
        const auto [least, most] = std::ranges::minmax(ratios);
        fmt::print("{:<34} {:<28} {:>12.0f} examples/s   x {:.2f} ({:.2f}-{:.2f})\n", what, side.name,
                   median(side.rates), median(ratios), least, most);
    }
}

std::vector<LossPoint> firstLosses(Trainer& trainer) {
    std::vector<LossPoint> losses;
    trainer.run(20);
    trainer.takeLosses(losses);
    return losses;
}

void compareTraining(const Dataset& data, const std::vector<std::size_t>& widths, Rung other,
                     std::size_t threads, const Options& options) {
    const TrainJob job = jobFor(data, widths);
    const std::string what =
        fmt::format("train {}, {}", job.shape.describeWidths(), threads == 1 ? "1 thread" : "all cores");
    const std::shared_ptr<Trainer> exact = makeCpuTrainer(job, other, threads);
    const std::shared_ptr<Trainer> narrow = makeCpuTrainer(job, Rung::bf16, threads);
    const std::vector<LossPoint> expected = firstLosses(*exact);
    const std::vector<LossPoint> found = firstLosses(*narrow);
    for (std::size_t step = 0; step < expected.size(); ++step)
        if (!(std::abs(found[step].loss - expected[step].loss) < 0.05f * expected[step].loss))
            throw std::runtime_error(
                fmt::format("{}: losses {} and {}", what, expected[step].loss, found[step].loss));
    constexpr std::uint64_t steps = 16;
    compare(what,
            {{std::string(rowOf(other, false).lane), [exact] { exact->run(steps); }},
             {std::string(rowOf(Rung::bf16).lane), [narrow] { narrow->run(steps); }}},
            static_cast<double>(steps * job.settings.batch), options);
}

void compareInference(const Dataset& data, const std::vector<std::size_t>& widths, const Options& options) {
    NetShape shape;
    shape.widths = widths;
    const std::vector<float> parameters = initialWeights(shape, 1);
    constexpr std::size_t rows = 256;
    const std::vector<float> inputs = inputsOf(data, Split::train, 0, rows);
    const std::shared_ptr<Inference> exact = makeInference(shape, parameters, laneSpecFromText("cpu:simd"));
    const std::shared_ptr<Inference> plain = makeInt8Inference(shape, parameters, inputs, Int8Kernels::plain);
    const std::shared_ptr<Inference> native =
        makeInt8Inference(shape, parameters, inputs, Int8Kernels::native);
    if (plain->outputs(inputs) != native->outputs(inputs)) throw std::runtime_error("integers differ");
    const auto work = [inputs](const std::shared_ptr<Inference>& network) {
        return [network, inputs] { network->outputs(inputs); };
    };
    compare(fmt::format("predict {}, 1 thread", shape.describeWidths()),
            {{"fp32, cpu:simd", work(exact)},
             {plain->machine().kernels, work(plain)},
             {native->machine().kernels, work(native)}},
            rows, options);
}

void measure(const Options& options) {
    const Dataset data = randomData(784, 4096);
    const std::vector<std::size_t> w{784, 256, 128, 10};
    const std::vector<std::size_t> wide{784, 1024, 1024, 10};
    fmt::print("{}, {} cores, medians of {} rounds\n", cpuName(), usablePhysicalCores().physical,
               options.rounds);
    if (hasBf16Instructions())
        for (const std::vector<std::size_t>& widths : {w, wide}) {
            compareTraining(data, widths, Rung::simd, 1, options);
            compareTraining(data, widths, Rung::best, 0, options);
        }
    else
        fmt::print("not measured: this processor has no AVX-512 BF16\n");
    if (hasInt8Instructions())
        for (const std::vector<std::size_t>& widths : {w, wide}) compareInference(data, widths, options);
    else
        fmt::print("not measured: this processor has no AVX-512 VNNI\n");
}

} // namespace

int main(int count, char** arguments) {
    try {
        measure(optionsFrom({arguments + 1, arguments + count}));
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 1;
    }
}
