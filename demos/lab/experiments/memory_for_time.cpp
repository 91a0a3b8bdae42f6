// A deep network's step, keeping less and less of what the backward pass needs.
#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "demos/lab/experiment.h"
#include "demos/words/text.h"
#include "engine/plan/rewrites.h"
#include "engine/plan/tensor_table.h"
#include "engine/run/make_trainer.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t layers = 32;
constexpr const char* again = "computing layers again";
constexpr const char* inParts = "in parts";
constexpr const char* atHost = "in the host's memory";

/// As deep on every machine, and beyond what cpu:best has kernels of its own for. On a card, layers are wide
/// enough for arithmetic to count, not launches.
TrainJob deepJob(const Dataset& data, bool software, bool rough) {
    TrainJob job;
    job.data = &data;
    const std::size_t width = rough ? 72 : software ? 128 : 512;
    job.shape.widths.assign(layers + 1, width);
    job.shape.widths.front() = data.inputs;
    job.shape.widths.back() = data.classes;
    job.shape.activation = Activation::tanh;
    job.settings.batch = rough ? 32 : software ? 256 : 1024;
    job.settings.optimizer.kind = Optimizer::momentum;
    job.settings.optimizer.learningRate = 0.01;
    return job;
}

/// One remedy with each of these numbers: what keeps the least first, and last what keeps all.
std::vector<MemorySettings> remedies(std::size_t MemorySettings::*remedy,
                                     std::initializer_list<std::size_t> numbers) {
    std::vector<MemorySettings> all(numbers.size());
    for (std::size_t at = 0; at < all.size(); ++at) all[at].*remedy = std::data(numbers)[at];
    return all;
}

std::vector<MemorySettings> recomputing(bool rough) {
    return rough ? remedies(&MemorySettings::recompute, {6, 1})
                 : remedies(&MemorySettings::recompute, {6, 4, 3, 2, 1});
}

std::vector<MemorySettings> accumulating(bool rough) {
    return rough ? remedies(&MemorySettings::accumulate, {4, 1})
                 : remedies(&MemorySettings::accumulate, {16, 8, 4, 2, 1});
}

/// A device's: a processor computes in the host's memory.
std::vector<MemorySettings> offloading() { return {{.offload = Offload::activations}, {}}; }

/// MiB of what a step keeps of its examples where it computes. Both machines keep the same; what evaluations
/// take besides does not count.
double activationMebibytes(const TrainJob& job) {
    const MemorySettings& memory = job.settings.memory;
    StepPlan plan = trainStep(job.shape);
    saveMemory(plan, job.shape, memory);
    const std::size_t rows = job.pieceRows();
    const TensorTable step(job.shape, job.settings.optimizer, plan,
                           {.rows = rows, .gradientRows = rows, .reuse = memory.shareMemory()});
    std::uint64_t bytes = 0;
    for (const TensorArena arena : {TensorArena::activations, TensorArena::sums, TensorArena::dSums})
        bytes += step.arenaBytes(arena);
    return static_cast<double>(bytes) / (1 << 20);
}

/// A machine's trainers, by the memory that each takes for its activations. Why there are none is what a
/// sample fails with, so that it is a note of its series.
class Trainers {
  public:
    Trainers(LabBench& bench, const TrainJob& job, bool gpu) : bench_(bench), job_(job), gpu_(gpu) {}

    /// Makes those with these settings, and returns what they take, the least first.
    std::vector<double> make(const std::vector<MemorySettings>& remedies) {
        made_.clear();
        failure_ = failureOf([&] {
            if (gpu_ ? bench_.device() == nullptr : !bench_.measuresCpu()) return; // a note says so
            if (right_.empty()) right_ = lossesOf(*trainer({}));
            for (const MemorySettings& memory : remedies) add(memory);
        });
        std::vector<double> mebibytes;
        for (const auto& [takes, trainer] : made_) mebibytes.push_back(takes);
        return failure_.empty() && !made_.empty() ? mebibytes : std::vector<double>{1};
    }

    /// Milliseconds of a step.
    double milliseconds(double mebibytes) {
        if (!failure_.empty()) throw std::runtime_error(failure_);
        Trainer& trainer = *made_.at(mebibytes);
        constexpr std::uint64_t steps = 2;
        const double begin = trainer.trainingSeconds();
        trainer.run(steps);
        trainer.finish();
        return 1e3 * (trainer.trainingSeconds() - begin) / steps;
    }

  private:
    TrainJob jobWith(const MemorySettings& memory) const {
        TrainJob job = job_;
        job.settings.memory = memory;
        return job;
    }
    std::vector<float> lossesOf(Trainer& trainer) const { return firstLosses(trainer, 3, &bench_.stop()); }

    /// Only a trainer that computes the same may be sold as one that needs less memory.
    void add(const MemorySettings& memory) {
        auto made = trainer(memory);
        if (!compareLosses(right_, lossesOf(*made), 1e-4).same())
            throw std::runtime_error("wrong losses, so it is not timed");
        made_[activationMebibytes(jobWith(memory))] = std::move(made);
    }

    /// The GPU's kernels are the same whatever is kept, and store gradients; gpu:best would choose others.
    std::unique_ptr<Trainer> trainer(const MemorySettings& memory) const {
        gpu::throwIfSet(&bench_.stop());
        return makeTrainer(jobWith(memory), {gpu_, gpu_ ? Rung::texel : Rung::best, {}},
                           {bench_.threads(), 0}, bench_.device(), &bench_.stop());
    }

    LabBench& bench_;
    const TrainJob& job_;
    const bool gpu_;
    std::vector<float> right_; ///< first losses of steps that keep all
    std::map<double, std::unique_ptr<Trainer>> made_;
    std::string failure_;
};

/// A step that keeps the least, and one that keeps all.
struct Bargain {
    LabPoint least, all;

    double times() const { return least.median / all.median; }
    /// The rounds say which takes longer, or that it makes little difference.
    bool decided() const { return apart(least, all) || times() < 1.1; }
};

std::optional<Bargain> bargain(const LabResult& result, bool gpu, std::string_view series) {
    const LabSeries* found = result.find(gpu, series);
    if (found == nullptr || found->points.size() < 2) return std::nullopt;
    return Bargain{found->points.front(), found->points.back()};
}

/// The GPU's, else the CPU's.
std::optional<Bargain> shownBargain(const LabResult& result) {
    const auto gpu = bargain(result, true, again);
    return gpu ? gpu : bargain(result, false, again);
}

void note(LabResult& result, bool gpu, std::string_view series, const std::string& prefix) {
    const auto found = bargain(result, gpu, series);
    if (!found) return;
    result.numbers[prefix + "_mebibytes"] = found->least.x;
    result.numbers[prefix + "_of_mebibytes"] = found->all.x;
    result.numbers[prefix + "_times"] = found->times();
    result.numbers[prefix + "_too_busy"] = found->decided() ? 0 : 1;
}

void measure(LabBench& bench, LabResult& result) {
    const bool software = bench.device() == nullptr || bench.software();
    const Dataset data = randomPixels(784, 10, software ? 1024 : 4096);
    const TrainJob job = deepJob(data, software, bench.rough());
    for (const bool gpu : {true, false}) {
        Trainers trainers(bench, job, gpu);
        const auto sweep = [&](const char* name, const std::vector<MemorySettings>& remedies) {
            const std::vector<double> values = trainers.make(remedies);
            bench.sweep(result, {gpu, name, values,
                                 [&](double mebibytes) { return trainers.milliseconds(mebibytes); },
                                 [](double) { return 1.0; }});
        };
        sweep(again, recomputing(bench.rough()));
        if (!bench.stopped()) sweep(inParts, accumulating(bench.rough()));
        if (gpu && !bench.stopped()) sweep(atHost, offloading());
        if (bench.stopped()) return;
        note(result, gpu, again, gpu ? "gpu_again" : "cpu_again");
        note(result, gpu, inParts, gpu ? "gpu_parts" : "cpu_parts");
        if (gpu) note(result, gpu, atHost, "gpu_host");
    }
    result.numbers["most_parts"] = static_cast<double>(accumulating(bench.rough()).front().accumulate);
}

std::optional<std::size_t> answer(const LabResult& result) {
    const auto found = shownBargain(result);
    if (!found || !found->decided()) return std::nullopt;
    const double times = found->times();
    return times < 1.1 ? 0 : times < 1.6 ? 1 : times < 2.5 ? 2 : 3;
}

LabVerdict verdict(const LabResult& result) {
    const auto found = shownBargain(result);
    if (!found) return {};
    const std::string figure = bargain(result, true, again)
                                   ? gpuFactor(found->times(), {&found->least, &found->all})
                                   : fmt::format("CPU {}×", twoDigits(found->times()));
    return ratioVerdict(found->times(), figure, {"as long", "Just as long"},
                        translatedFormat("with {} MiB of activations instead of {}",
                                         threeDigits(found->least.x), threeDigits(found->all.x)));
}

/// Above, a step that keeps every layer's outputs until its backward pass; below, one that keeps every third.
LabScene scene() {
    LabScene scene{.beats = 30,
                   .labels = {{0, 1.1f, "keep all"}, {0, 4.2f, "keep every third, compute the rest again"}}};
    const auto layer = [](int at) { return 2.6f * static_cast<float>(at); };
    for (int at = 0; at < 6; ++at) {
        const float x = layer(at);
        scene.blocks.push_back({x, 1.3f, 2.2f, 1.2f, 1.0 * at, at + 1.0});
        const bool kept = at % 3 == 2;
        scene.blocks.push_back(
            {x, 4.4f, 2.2f, 1.2f, 1.0 * at, at + 1.0, kept ? LabTone::gpu : LabTone::pale});
        scene.dots.push_back({x + 2.2f, 2.9f, x, 2.9f, 8.0 + (5 - at), 9.0 + (5 - at), LabTone::good});
    }
    for (int at = 0; at < 2; ++at) // before the backward pass gets there
        scene.blocks.push_back({layer(at), 4.4f, 2.2f, 1.2f, 14.0 + at, 15.0 + at, LabTone::other});
    for (int at = 3; at < 5; ++at)
        scene.blocks.push_back({layer(at), 4.4f, 2.2f, 1.2f, 6.0 + at, 7.0 + at, LabTone::other});
    return scene;
}

} // namespace

extern const Experiment memoryForTime{
    .place = 75,
    .name = "memory-for-time",
    .title = "Memory for time",
    .idea =
        "A network of 32 layers keeps every layer's outputs until the backward pass has used them. It may "
        "keep some of them and compute the others again, or take its batch in parts. The results are the "
        "same, with parts up to rounding.",
    .group = LabGroup::memory,
    .scene = scene,
    .question = "Of every six layers, only one layer's outputs are kept, and the others are computed again "
                "when they are needed. How long does a step take?",
    .choices = {"about as long", "up to 1.6 times as long", "1.6 to 2.5 times", "more than 2.5 times"},
    .x = {.title = "memory for activations", .unit = "MiB"},
    .y = {.title = "one step", .unit = "ms"},
    .lines = {"GPU computing layers again", "CPU computing layers again"},
    .sources = {"memory_for_time.cpp", "rewrite_recompute.cpp", "rewrite_micro_batches.cpp",
                "rewrite_offload.cpp"},
    .link = {"See the layers of a deep network", "inside",
             R"({"data": "spiral", "hidden": [8, 8, 8, 8, 8, 8]})"},
    .measure = measure,
    .answer = answer,
    .verdict = verdict};

} // namespace lockstep::demos
