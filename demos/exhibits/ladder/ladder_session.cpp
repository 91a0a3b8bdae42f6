#include "demos/exhibits/ladder/ladder_session.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "engine/gpu/error.h"
#include "engine/tune/kernel_choice.h"

namespace lockstep::demos {

namespace {

const LaneSpec plainLane{false, Rung::scalar, {}};
const LaneSpec cpuLane{false, Rung::best, {}};
const LaneSpec gpuLane{true, Rung::best, {}};

/// What `action` fails with, for people; empty where it succeeds. A lost device is everybody's matter.
template <class Action> std::string failureOf(Action action) {
    try {
        action();
    } catch (const gpu::DeviceLostError&) {
        throw;
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return {};
}

struct PictureKernel {
    ProductKernel kernel;
    DenseShape shape; ///< of the product it is for
};

/// The kernel of a rung as the pictures have it: small tiles, so that a workgroup can be looked at. Throws
/// std::runtime_error for a rung that the device cannot run or that has no kernel of its own.
PictureKernel pictureKernel(gpu::Device& device, Kernels& kernels, const LaneSpec& spec, Product product) {
    constexpr std::uint32_t k = 16;
    constexpr std::uint32_t side = 32;
    if (!spec.gpu) throw std::runtime_error("CPU rungs have no workgroups.");
    if (!spec.row().unrecorded.empty()) throw std::runtime_error(std::string(spec.row().unrecorded));
    const NetShape net{.widths = {side, side, side}};
    const LayerKernels layer =
        chooseKernels(device, kernels, spec.rung, net, Optimizer::sgd, side).layers.back();
    ProductKernel how = product == Product::forward          ? layer.forward
                        : product == Product::backwardInputs ? layer.backwardInputs
                                                             : layer.backwardWeights;
    how.tileM = std::min(how.tileM, 4u);
    how.tileN = std::min(how.tileN, 4u);
    if (how.slabK > 0) { // shared memory: a group that shares along both
        how.tileM = std::min(how.tileN, 2u);
        how.tileN = how.half ? 4 : how.tileM; // halves are stored in fours
        how.groupM = how.groupN = std::min(how.groupN, 8u);
        how.slabK = 8;
    }
    const std::size_t m = std::max(side, how.groupM * how.tileM);
    const std::size_t n = std::max(side, how.groupN * how.tileN);
    // C[m][n] = sum over k, in the words of a layer.
    DenseShape shape;
    if (product == Product::forward) shape = {m, k, n, k, n};
    if (product == Product::backwardInputs) shape = {m, n, k, n, k};
    if (product == Product::backwardWeights) shape = {k, n, m, n, m};
    return {how, shape};
}

/// Adds to a rung's result what one of its steps does.
void describeStep(Trainer& trainer, const TrainJob& job, gpu::Device& device, AccessRecorder& recorder,
                  RungResult& result) {
    result.operations = trainer.traceStep({.tensors = false}).operations;
    for (const TracedOperation& operation : result.operations) {
        if (isProduct(operation) || isWholeStep(operation)) {
            result.productFlops += operation.flops;
            result.leastProductBytes += operation.bytes;
        } else {
            result.otherBytes += operation.bytes;
        }
    }
    if (!result.spec.gpu) {
        result.uncounted = "what a CPU's caches fetch is not counted";
        return;
    }
    const std::size_t batch = std::min(job.settings.batch, job.data->train.count);
    result.uncounted = failureOf([&] {
        result.productBytes = countProductBytes(result.operations, job.shape, batch, device, recorder);
    });
}

/// Measures one size on both machines.
void measurePoint(SweepPoint& point, const TrainJob& job, const Lane::MakeTrainer& makeCpu,
                  const Lane::MakeTrainer& makeGpu, gpu::Device& device, double seconds,
                  const std::atomic<bool>& cancelled) {
    constexpr int stepsByThemselves = 20;
    const LaneMeasure cpu = measureLane(*makeCpu(), job, {}, Agreement::floatTolerance, seconds, &cancelled);
    point.cpu = cpu.machine;
    point.cpuSamples = cpu.samplesPerSecond;
    const std::uint64_t bytes = device.counters().bytesUploaded;
    const std::uint64_t uploading = device.counters().uploadNanoseconds;
    const auto trainer = makeGpu();
    point.uploadBytes = device.counters().bytesUploaded - bytes;
    point.uploadOnce = static_cast<double>(device.counters().uploadNanoseconds - uploading) * 1e-9;
    const LaneMeasure gpu =
        measureLane(*trainer, job, cpu.losses, Agreement::floatTolerance, seconds, &cancelled);
    point.gpu = gpu.machine;
    if (gpu.right()) {
        point.gpuSamples = gpu.samplesPerSecond;
        if (!cancelled) point.parts = measureStepParts(*trainer, device, stepsByThemselves);
    } else { // one of them is wrong, and there is no telling which
        point.cpuSamples = 0;
        point.failure = "the losses of the two lanes differ, so neither is timed";
    }
}

} // namespace

LadderSession::LadderSession(const RunOptions& settings, std::shared_ptr<const Dataset> data,
                             Machines& machines, gpu::Device& device)
    : settings_(settings), data_(std::move(data)), job_(makeJob(settings, *data_)), machines_(machines),
      device_(device), recorder_(device) {}

LadderNews LadderSession::takeNews() {
    const std::lock_guard lock(mutex_);
    return std::exchange(news_, {});
}

void LadderSession::measureRoof(bool rough) {
    queue_.post("the roof", [this, rough](const std::atomic<bool>& cancelled) {
        Kernels kernels(device_);
        Roof roof = demos::measureRoof(device_, kernels, rough);
        roof.productGflops = fastestProduct(device_, kernels, &cancelled, rough);
        if (!cancelled) tell([&](LadderNews& news) { news.roof = roof; });
    });
}

void LadderSession::measure(const LaneSpec& spec, double seconds) {
    const Lane::MakeTrainer make = machines_.maker(job_, spec);
    const Lane::MakeTrainer makePlain = machines_.maker(job_, plainLane);
    queue_.post(spec.text(), [this, spec, seconds, make, makePlain](const std::atomic<bool>& cancelled) {
        if (expected_.empty()) {
            expected_ = firstLosses(*makePlain(), job_, &cancelled);
            if (cancelled) expected_.clear();
        }
        if (cancelled) return;
        RungResult result;
        result.spec = spec;
        std::unique_ptr<Trainer> trainer;
        result.refusal = failureOf([&] { trainer = make(); });
        if (trainer) {
            result.measure = measureLane(*trainer, job_, expected_, lossTolerance(spec), seconds, &cancelled);
            if (result.measure.right() && !cancelled)
                describeStep(*trainer, job_, device_, recorder_, result);
        }
        if (!cancelled) tell([&](LadderNews& news) { news.results.push_back(std::move(result)); });
    });
}

void LadderSession::takePicture(const LaneSpec& spec, Product product) {
    queue_.post("the accesses of " + spec.text(), [this, spec, product](const std::atomic<bool>&) {
        RungPicture picture{spec.text(), product, {}, {}};
        picture.reason = failureOf([&] {
            Kernels kernels(device_);
            const PictureKernel small = pictureKernel(device_, kernels, spec, product);
            picture.record =
                alignedAtBarriers(recorder_.record(product, small.kernel, small.shape, Recording::events));
        });
        tell([&](LadderNews& news) { news.pictures.push_back(std::move(picture)); });
    });
}

void LadderSession::requireTrainer(const LaneSpec& spec, const Lane::MakeTrainer& make) {
    if (trainer_ && trainerLane_ == spec.text()) return;
    std::optional<TrainerState> state;
    if (trainer_) state = trainer_->state();
    std::unique_ptr<Trainer> next = make(); // may be refused: then training stands where it stood
    if (state) next->restore(*state);
    trainer_ = std::move(next);
    trainerLane_ = spec.text();
}

void LadderSession::train(const LaneSpec& spec, std::uint64_t steps) {
    queue_.post("", [this, spec, steps, make = machines_.maker(job_, spec)](const std::atomic<bool>&) {
        const std::string refusal = failureOf([&] { requireTrainer(spec, make); });
        if (!refusal.empty()) {
            tell([&](LadderNews& news) { news.refusal = refusal; });
            return;
        }
        const double before = trainer_->trainingSeconds();
        trainer_->run(steps);
        trainer_->finish();
        TrainedPiece piece{spec.text(), {}, trainer_->trainingSeconds() - before};
        trainer_->takeLosses(piece.losses);
        tell([&](LadderNews& news) { news.trained.push_back(std::move(piece)); });
    });
}

void LadderSession::sweep(SweepBy by, double seconds) {
    for (const std::size_t value : sweepValues(by, data_->train.count)) {
        const TrainJob job = makeJob(settingsFor(settings_, by, value), *data_);
        const Lane::MakeTrainer makeCpu = machines_.maker(job, cpuLane);
        const Lane::MakeTrainer makeGpu = machines_.maker(job, gpuLane);
        SweepPoint size;
        size.by = by;
        size.value = value;
        queue_.post(fmt::format("{} {}", by == SweepBy::batch ? "batch" : "width", value),
                    [this, size, job, seconds, makeCpu, makeGpu](const std::atomic<bool>& cancelled) {
                        SweepPoint point = size;
                        const std::string failure = failureOf(
                            [&] { measurePoint(point, job, makeCpu, makeGpu, device_, seconds, cancelled); });
                        if (!failure.empty()) point.failure = failure;
                        if (!cancelled)
                            tell([&](LadderNews& news) { news.sweep.push_back(std::move(point)); });
                    });
    }
}

void LadderSession::resetTraining() {
    queue_.post("", [this](const std::atomic<bool>&) { trainer_.reset(); });
}

} // namespace lockstep::demos
