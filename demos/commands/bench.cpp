// `lockstep bench`: verifies kernels and rungs, then times them.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/kit/lane_measure.h"
#include "demos/kit/machines.h"
#include "demos/kit/roof.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/gpu/error.h"
#include "engine/plan/work.h"
#include "engine/tune/kernel_cache.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr const char* benchAbout =
    "Times every kernel for a network's matrix products on a Vulkan device, and whole training steps on "
    "every\nrung. Each result is first checked against plain loops on the CPU; a wrong one is not timed.";
constexpr const char* benchExamples = R"(examples:
  lockstep bench                                       784-256-128-10, batch 128, on random pixels
  lockstep bench --widths 784,2048,2048,10 --batch 512
  lockstep bench --lane gpu:best --lane cpu:best       only these rungs, whole steps
)";

struct BenchOptions : MachineOptions {
    std::vector<std::size_t> widths{784, 256, 128, 10};
    std::size_t batch = 128;
    double seconds = 0.5;
};

/// What is printed and what is written: a row and an entry for everything that was timed.
struct Timings {
    std::vector<std::vector<std::string>> rows; // the first is the heading
    ordered_json entries = ordered_json::array();
};

void benchProduct(gpu::Device& device, Kernels& kernels, const Roof& roof, Product product,
                  const DenseShape& shape, Timings& timings) {
    ProductTrial trial(device, product, shape, Activation::relu);
    ProductTrial halfTrial(device, product, shape, Activation::relu, simdKernels(), true);
    std::vector<ProductKernel> all = candidates(device, product, shape);
    std::ranges::copy(halfCandidates(device, product, shape), std::back_inserter(all));
    const std::string size = fmt::format("{}x{}x{}", shape.rows, shape.inputs, shape.outputs);
    for (const ProductKernel& candidate : all) {
        const std::string kernel = candidate.describe();
        const Work work =
            candidate.half ? halfDenseWork(shape, product == Product::backwardWeights) : denseWork(shape);
        // A single invocation executes roughly ten million operations per second.
        if (candidate.rung == Rung::one && work.flops > 5e8) {
            timings.rows.push_back(
                {std::string(name(product)), size, kernel, "too long", "-", "-", "-", "-"});
            continue;
        }
        const TrialResult result = (candidate.half ? halfTrial : trial)
                                       .measure(kernels.dense(product, candidate, Activation::relu), 5);
        const bool right = result.verified();
        const double gflops = right ? work.flops / result.milliseconds * 1e-6 : NAN;
        const double bandwidth = right ? work.bytes / result.milliseconds * 1e-6 : NAN;
        const double share = gflops / roof.gflopsFor(candidate.rung);
        timings.rows.push_back({std::string(name(product)), size, kernel,
                                right ? fixed(result.milliseconds, 3) : "wrong", fixed(gflops, 2),
                                fixed(bandwidth, 2), percent(share),
                                fmt::format("{:.0e}", result.largestDifference)});
        timings.entries.push_back({{"product", name(product)},
                                   {"rows", shape.rows},
                                   {"inputs", shape.inputs},
                                   {"outputs", shape.outputs},
                                   {"kernel", kernel},
                                   {"verified", right},
                                   {"largest_difference", result.largestDifference},
                                   {"milliseconds", result.milliseconds},
                                   {"gflops", gflops},
                                   {"gigabytes_per_second", bandwidth},
                                   {"share_of_roof", share}});
    }
}

ordered_json roofJson(const Roof& roof) {
    ordered_json json = {{"gflops", roof.gflops}, {"gigabytes_per_second", roof.gigabytesPerSecond}};
    if (roof.matrixGflops > 0) json["matrix_gflops"] = roof.matrixGflops;
    return json;
}

struct NamedRoof {
    std::string machine; ///< with its threads
    Roof roof;
};

/// The roof of every machine that a lane runs on, by device (or null) and threads (or 0); measured once.
using Roofs = std::map<std::pair<gpu::Device*, std::size_t>, NamedRoof>;

const Roof& roofOf(gpu::Device* device, const MachineInfo& machine, Roofs& known) {
    const std::size_t threads = device != nullptr ? 0 : machine.threads;
    const auto [found, isNew] = known.try_emplace({device, threads}, NamedRoof{honestDevice(machine), {}});
    Roof& roof = found->second.roof;
    if (!isNew) return roof;
    if (device == nullptr) return roof = measureCpuRoof(threads);
    Kernels kernels(*device);
    return roof = measureRoof(*device, kernels);
}

std::string roofText(const Roof& roof) {
    return fmt::format(
        "{:.1f} GFLOP/s (multiply-adds in registers), {}{:.1f} GB/s (copy)", roof.gflops,
        roof.matrixGflops > 0 ? fmt::format("{:.1f} GFLOP/s (matrix units), ", roof.matrixGflops) : "",
        roof.gigabytesPerSecond);
}

ordered_json benchKernels(gpu::Device& device, const BenchOptions& options) {
    const gpu::DeviceReport& report = device.report();
    Kernels kernels(device);
    const Roof roof = measureRoof(device, kernels);
    const double fastest = fastestProduct(device, kernels);
    std::FILE* people = peopleStream(options);
    printTo(people, "kernels on {} ({}), {}\n", report.name, gpu::describe(report.type), report.driver);
    printTo(people, "roof: {}\nfastest product (large, square): {:.1f} GFLOP/s\n\n", roofText(roof), fastest);
    Timings timings{
        {{"product", "rows x in x out", "kernel", "ms", "GFLOP/s", "GB/s", "of roof", "difference"}}};
    for (std::size_t layer = 0; layer + 1 < options.widths.size(); ++layer) {
        const std::size_t inputs = options.widths[layer];
        const std::size_t outputs = options.widths[layer + 1];
        const DenseShape shape{options.batch, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
        for (const Product product : {Product::forward, Product::backwardInputs, Product::backwardWeights})
            if (layer > 0 || product != Product::backwardInputs)
                benchProduct(device, kernels, roof, product, shape, timings);
    }
    printTo(people, "{}\n", table(timings.rows, 3));
    return {{"device", report.name},  {"driver", report.driver},           {"software", device.software()},
            {"roof", roofJson(roof)}, {"fastest_product_gflops", fastest}, {"products", timings.entries}};
}

void benchLane(const TrainJob& job, const LaneSpec& lane, Machines& machines,
               const std::vector<float>& expected, double seconds, Roofs& roofs, Timings& timings) {
    const auto trainer = machines.maker(job, lane)();
    const LaneMeasure measure = measureLane(*trainer, job, expected, lossTolerance(lane), seconds);
    const bool right = measure.right();
    const double perStep = right ? measure.secondsPerStep : NAN;
    const double samples = right ? measure.samplesPerSecond : NAN;
    const double gflops = right ? measure.gflops : NAN;
    const Roof& roof = roofOf(machines.deviceOf(lane), measure.machine, roofs);
    const double share = gflops / roof.gflopsFor(lane.rung);
    timings.rows.push_back({lane.text(), honestDevice(measure.machine, 50),
                            right ? fixed(perStep * 1e3, 3) : "wrong", right ? shortRate(samples) : "-",
                            fixed(gflops, 2), percent(share),
                            fmt::format("{:.0e}", measure.agreement.largestDifference)});
    timings.entries.push_back({{"lane", lane.text()},
                               {"device", measure.machine.device},
                               {"software", measure.machine.software},
                               {"threads", measure.machine.threads},
                               {"kernels", measure.machine.kernels},
                               {"verified", right},
                               {"largest_difference", measure.agreement.largestDifference},
                               {"milliseconds_per_step", perStep * 1e3},
                               {"samples_per_second", samples},
                               {"gflops", gflops},
                               {"share_of_roof", share}});
}

ordered_json benchLanes(const TrainJob& job, const std::vector<LaneSpec>& lanes, Machines& machines,
                        const BenchOptions& options) {
    std::FILE* people = peopleStream(options);
    printTo(people, "whole training steps, {}, batch {}, {}\n\n", job.shape.describeWidths(),
            job.settings.batch, name(job.settings.optimizer.kind));
    Timings timings{{{"lane", "device", "ms per step", "samples/s", "GFLOP/s", "of roof", "difference"}}};
    const std::vector<float> expected =
        firstLosses(*machines.maker(job, laneSpecFromText("cpu:scalar"))(), comparedSteps(job));
    Roofs roofs;
    std::string failures;
    for (const LaneSpec& lane : lanes) {
        try {
            benchLane(job, lane, machines, expected, options.seconds, roofs, timings);
        } catch (const std::exception& error) { // a lane that fails must not end the others
            failures += fmt::format("{}: {}\n", lane.text(), error.what());
            timings.entries.push_back({{"lane", lane.text()}, {"error", error.what()}});
        }
    }
    printTo(people, "{}{}\n\"of roof\" compares GFLOP/s with what the machine reaches at best:\n",
            table(timings.rows, 2), failures);
    ordered_json roofList = ordered_json::array();
    for (const auto& [key, machine] : roofs) {
        if (!machine.roof.measured()) continue; // its lane failed before
        printTo(people, "{}: {}\n", machine.machine, roofText(machine.roof));
        roofList.push_back(roofJson(machine.roof));
        roofList.back()["device"] = machine.machine;
    }
    return {{"lanes", timings.entries}, {"roofs", roofList}};
}

int bench(const BenchOptions& options) {
    requireResultFiles(options);
    if (options.widths.size() < 2)
        throw std::invalid_argument("--widths: give at least inputs and outputs, such as 784,10");
    const Dataset data = randomPixels(options.widths.front(), options.widths.back(), 16 * options.batch);
    TrainJob job;
    job.data = &data;
    job.shape.widths = options.widths;
    job.settings.batch = options.batch;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.optimizer.learningRate = 0.01;
    job.validate();
    ordered_json result = {{"gpu", nullptr}, {"lanes", nullptr}};
    std::vector<LaneSpec> lanes = options.lanes;
    if (lanes.empty()) {
        try {
            gpu::DeviceOptions deviceOptions;
            deviceOptions.select = options.device;
            useCache(deviceOptions);
            gpu::Device device(deviceOptions);
            result["gpu"] = benchKernels(device, options);
        } catch (const gpu::GpuError& error) {
            if (!options.device.empty()) throw;
            printTo(peopleStream(options), "{}\nOnly the CPU rungs are timed.\n\n", error.what());
        }
        for (const std::string_view lane : knownLanes())
            if (!result["gpu"].is_null() || !lane.starts_with("gpu")) lanes.push_back(laneSpecFromText(lane));
    }

    Machines machines(options.threads, options.device);
    result.update(benchLanes(job, lanes, machines, options));
    writeResult(options.jsonFile, result.dump(1) + "\n");
    return 0;
}

} // namespace

Action addBench(CLI::App& command) {
    const auto options = std::make_shared<BenchOptions>();
    addManual(command, benchAbout, benchExamples);
    addText(command, "--widths", "N,N,...", options->widths, widthsFromText,
            "layer widths, including inputs and outputs [784,256,128,10]");
    addNumber(command, "--batch", "N", options->batch, atLeastOne(), "examples per step [128]");
    command.add_option("--seconds", options->seconds, "time spent on each rung [0.5]")
        ->check(aboveZero())
        ->type_name("S");
    addText(
        command, "--lane", "LANE",
        [options](std::string_view text) { options->lanes.push_back(laneOption(text, knownLanes())); },
        "time only whole steps of this rung (repeatable) [kernels and all rungs]")
        ->take_all()
        ->trigger_on_parse();
    addNumber(command, "--threads", "N", options->threads, notNegative(),
              "threads for cpu:best [one per core]");
    command.add_option("--device", options->device, "Vulkan device: number, part of its name, or UUID")
        ->type_name("DEVICE");
    addValue(command, "--json", "FILE", options->jsonFile,
             "write all results as JSON; - for standard output");
    return [options] { return bench(*options); };
}

} // namespace lockstep::demos
