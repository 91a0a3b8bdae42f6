#include "engine/tune/kernel_trial.h"

#include <cmath>
#include <span>

#include "engine/gpu/error.h"
#include "engine/net/activation.h"
#include "engine/net/float_formats.h"
#include "engine/net/random.h"
#include "engine/plan/work.h"

namespace lockstep {

namespace {

// [rows][stride] of uniform numbers in [-1, 1), padding 0. A large one takes a tenth of a second.
std::vector<float> randomMatrix(std::size_t rows, std::size_t width, std::size_t stride, std::uint64_t seed,
                                const std::atomic<bool>* cancelled) {
    std::vector<float> matrix(rows * stride);
    for (std::size_t row = 0; row < rows; ++row) {
        gpu::throwIfSet(cancelled);
        for (std::size_t column = 0; column < width; ++column) {
            const std::uint32_t word = randomWords(seed, RandomStream::test, row * width + column).x;
            matrix[row * stride + column] = static_cast<float>(2 * uniform01(word) - 1);
        }
    }
    return matrix;
}

// The largest absolute value, at least 1e-30.
double largestOf(std::span<const float> values) {
    double largest = 1e-30;
    for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    return largest;
}

// The largest difference between two equally long arrays, divided by `scale`; infinite where a value is NaN.
double largestDifference(std::span<const float> expected, std::span<const float> actual, double scale) {
    double difference = 0;
    for (std::size_t at = 0; at < expected.size(); ++at) {
        const double here = std::abs(static_cast<double>(expected[at]) - static_cast<double>(actual[at]));
        if (!(here <= difference)) difference = std::isnan(here) ? INFINITY : here;
    }
    return difference / scale;
}

// Device time of what `record` records, per call: the best of `rounds` rounds of calls that take long enough
// for a clock. The first call is timed by itself; a slow kernel is not called again.
template <class Record> double bestMilliseconds(gpu::Recorder& recorder, int rounds, Record record) {
    constexpr double roundMilliseconds = 2; // long enough for a clock, short enough for many candidates
    constexpr double slow = 30;             // not worth a second look
    const auto timeOf = [&](int calls) {
        recorder.begin();
        for (int call = 0; call < calls; ++call) record();
        return recorder.submitAndTime() / calls;
    };
    double best = timeOf(1);
    if (best > slow) return best;
    const int calls = std::clamp(static_cast<int>(roundMilliseconds / std::max(best, 1e-3)), 1, 64);
    for (int round = 0; round < rounds; ++round) best = std::min(best, timeOf(calls));
    return best;
}

// Runs the kernel once, in the submission that has begun, and compares; then, if it is right, times it.
template <class Record, class Compare>
TrialResult checkedThenTimed(gpu::Recorder& recorder, double tolerance, int rounds, double limit,
                             Record record, Compare compare) {
    recorder.giveUpBeyond(limit);
    record();
    recorder.submitAndTime();
    recorder.giveUpBeyond(0);
    if (recorder.gaveUp()) return {.hopeless = true};
    TrialResult result{.milliseconds = 0, .largestDifference = compare(), .tolerance = tolerance};
    if (result.verified()) result.milliseconds = bestMilliseconds(recorder, rounds, record);
    return result;
}

// How far rounding takes a sum of that many products from another order of them.
double sumTolerance(std::size_t length) { return 1e-6 * (1 + std::sqrt(static_cast<double>(length))); }

// [outputs][inputs] weights and a bias, as they lie in an arena: parameters (0), or a state of the optimizer.
std::vector<float> randomArena(const DenseShape& shape, const LayerLayout& layout, std::size_t arena,
                               const std::atomic<bool>* cancelled) {
    std::vector<float> values =
        randomMatrix(shape.outputs, shape.inputs, shape.inputStride, 3 + arena, cancelled);
    values.resize(layout.biasOffset);
    const std::vector<float> bias = randomMatrix(1, shape.outputs, layout.biasCount(), 7 + arena, cancelled);
    values.insert(values.end(), bias.begin(), bias.end());
    if (arena > 0) // mean squares are not negative, and a small one would blow rounding up
        for (float& value : values) value = 0.5f + std::abs(value);
    return values;
}

// By which the recorder cuts what would hold the device for long.
gpu::Cost costOf(const DenseShape& shape) {
    const Work work = denseWork(shape);
    return {work.flops, work.bytes};
}

// Every term of the formulas counts, and rates are large enough for a wrong gradient to be seen.
shared::UpdateParams stepOf(Optimizer optimizer) {
    shared::UpdateParams step{};
    const bool ratio = infoOf(optimizer).has(usesEpsilon); // of g to its size
    step.learningRate = ratio ? 0.1f : 1.0f;
    step.momentum = 0.9f;
    step.secondDecay = 0.99f;
    step.epsilon = 1e-3f;
    step.secondScale = 1;
    step.weightKeep = infoOf(optimizer).has(decouplesDecay) ? 0.9f : 1.0f;
    step.l1 = 0.001f;
    step.l2 = 0.01f;
    step.nesterov = 1;
    return step;
}

} // namespace

TrialOperand::TrialOperand(gpu::Device& device, std::vector<float> numbers, bool asHalves)
    : values(std::move(numbers)), bytes(values.size() * (asHalves ? 2 : sizeof(float))),
      buffer(device, bytes, gpu::Memory::device, "trial operand") {
    if (!asHalves) {
        buffer.uploadValues<float>(values);
        return;
    }
    std::vector<std::uint16_t> halves;
    for (float& value : values) {
        halves.push_back(toFloat16(value));
        value = fromFloat16(halves.back());
    }
    buffer.uploadValues<std::uint16_t>(halves);
}

ProductTrial::ProductTrial(gpu::Device& device, Product product, const DenseShape& shape,
                           Activation activation, const CpuKernels& reference, bool half,
                           const std::atomic<bool>* cancelled)
    : product_(product), shape_(shape), activation_(activation), half_(half),
      a_(device,
         product == Product::forward
             ? randomMatrix(shape.rows, shape.inputs, shape.inputStride, 1, cancelled)
             : randomMatrix(shape.rows, shape.outputs, shape.outputStride, 1, cancelled),
         half),
      b_(device,
         product == Product::backwardWeights
             ? randomMatrix(shape.rows, shape.inputs, shape.inputStride, 2, cancelled)
             : randomMatrix(shape.outputs, shape.inputs, shape.inputStride, 2, cancelled),
         half),
      third_(device,
             product == Product::forward
                 ? randomMatrix(1, shape.outputs, roundUpToFour(shape.outputs), 3, cancelled)
                 : randomMatrix(shape.rows, shape.inputs, shape.inputStride, 3, cancelled),
             half && product == Product::backwardInputs), // a bias is of floats
      result_(device,
              4 * std::max({shape.rows * shape.outputStride, shape.rows * shape.inputStride,
                            shape.outputs * shape.inputStride}),
              gpu::Memory::device, "trial result"),
      second_(device, 4 * std::max(shape.rows * shape.outputStride, roundUpToFour(shape.outputs)),
              gpu::Memory::device, "trial second result"),
      recorder_(device) {
    recorder_.endWhen(cancelled);
    computeExpected(reference);
}

std::vector<float> ProductTrial::download(const gpu::Buffer& buffer, std::size_t count) const {
    if (!resultsAreHalves()) return buffer.downloadValues<float>(count);
    std::vector<float> values;
    for (const std::uint16_t half : buffer.downloadValues<std::uint16_t>(count))
        values.push_back(fromFloat16(half));
    return values;
}

void ProductTrial::computeExpected(const CpuKernels& cpu) {
    if (product_ == Product::forward) {
        expected_.resize(shape_.rows * shape_.outputStride);
        expectedSecond_.resize(expected_.size());
        cpu.dense(shape_, a_.values.data(), b_.values.data(), third_.values.data(), activation_,
                  expected_.data(), expectedSecond_.data());
        if (!derivativeNeedsSum(activation_)) expectedSecond_.clear();
    } else if (product_ == Product::backwardInputs) {
        expected_.resize(shape_.rows * shape_.inputStride);
        cpu.denseBackwardInputs(shape_, a_.values.data(), b_.values.data(), activation_, third_.values.data(),
                                expected_.data());
    } else {
        expected_.resize(shape_.outputs * shape_.inputStride);
        expectedSecond_.resize(roundUpToFour(shape_.outputs));
        cpu.denseBackwardWeights(shape_, a_.values.data(), b_.values.data(), 0, shape_.outputs, 0, 1,
                                 expected_.data(), expectedSecond_.data());
        expectedSecond_.resize(shape_.outputs);
    }
}

void ProductTrial::dispatch(const DenseKernel& kernel) {
    const gpu::BufferView result =
        result_.view(0, expected_.size() * (resultsAreHalves() ? 2 : sizeof(float)));
    const gpu::Cost cost = costOf(shape_);
    if (product_ == Product::forward)
        dispatchProduct(recorder_, kernel, shape_,
                        {a_.view(), b_.view(), third_.view(), result,
                         derivativeNeedsSum(activation_) ? second_.view() : result},
                        cost);
    else if (product_ == Product::backwardInputs)
        dispatchProduct(recorder_, kernel, shape_, {a_.view(), b_.view(), third_.view(), result}, cost);
    else
        dispatchProduct(recorder_, kernel, shape_,
                        {a_.view(), b_.view(), result, second_.view(0, 4 * roundUpToFour(shape_.outputs))},
                        cost);
}

double ProductTrial::compare() const {
    const double difference =
        largestDifference(expected_, download(result_, expected_.size()), largestOf(expected_));
    if (expectedSecond_.empty()) return difference;
    const std::vector<float> second = download(second_, expectedSecond_.size());
    return std::max(difference, largestDifference(expectedSecond_, second, largestOf(expectedSecond_)));
}

TrialResult ProductTrial::measure(const DenseKernel& kernel, int rounds, double limit) {
    double tolerance = sumTolerance(extentsOf(product_, shape_).k);
    if (resultsAreHalves()) tolerance += (1 + 1.13) / 2048;
    recorder_.begin();
    // NaN, as a float and as two halves: an output that is not written is a difference.
    recorder_.fill(result_.view(), 0x7FC07FC0u);
    recorder_.fill(second_.view(), 0x7FC07FC0u);
    return checkedThenTimed(
        recorder_, tolerance, rounds, limit, [&] { dispatch(kernel); }, [&] { return compare(); });
}

UpdateTrial::UpdateTrial(gpu::Device& device, const DenseShape& shape, Optimizer optimizer,
                         const std::atomic<bool>* cancelled)
    : shape_(shape), layout_(ParamLayout(NetShape{{shape.inputs, shape.outputs}}).layer(0)),
      optimizer_(optimizer), step_(stepOf(optimizer)),
      dSums_(device, randomMatrix(shape.rows, shape.outputs, shape.outputStride, 1, cancelled)),
      inputs_(device, randomMatrix(shape.rows, shape.inputs, shape.inputStride, 2, cancelled)),
      gradients_(device, randomArena(shape, layout_, 0, cancelled)),
      status_(device, sizeof(std::uint32_t), gpu::Memory::device, "trial status"), recorder_(device) {
    recorder_.endWhen(cancelled);
    for (std::size_t arena = 0; arena < 1 + infoOf(optimizer).states; ++arena)
        arenas_.emplace_back(device, randomArena(shape, layout_, arena, cancelled));
    const std::uint32_t none = shared::noStep;
    status_.uploadValues<std::uint32_t>({&none, 1});
    computeExpected();
}

// Only what the network has counts: padding may hold anything that an optimizer makes of a gradient of 0.
template <class Work> void UpdateTrial::forNumbers(Work work) const {
    for (std::size_t row = 0; row < shape_.outputs; ++row) work(row * shape_.inputStride, shape_.inputs);
    work(layout_.biasOffset, shape_.outputs);
}

void UpdateTrial::computeExpected() {
    std::vector<float> gradients(arenas_[0].values.size());
    simdKernels().denseBackwardWeights(shape_, dSums_.values.data(), inputs_.values.data(), 0, shape_.outputs,
                                       0, 1, gradients.data(), gradients.data() + layout_.biasOffset);
    for (const TrialOperand& arena : arenas_) expected_.push_back(arena.values);
    const auto state = [&](std::size_t at) { return expected_.size() > at ? expected_[at].data() : nullptr; };
    forNumbers([&](std::size_t begin, std::size_t count) {
        plain::update(optimizer_, step_, begin, begin + count, gradients.data(), expected_[0].data(),
                      state(1), state(2));
    });
}

double UpdateTrial::compare() const {
    double largest = 0;
    for (std::size_t arena = 0; arena < arenas_.size(); ++arena) {
        const std::span<const float> expected = expected_[arena];
        const std::vector<float> actual = arenas_[arena].buffer.downloadValues<float>(expected.size());
        const double scale = largestOf(expected);
        forNumbers([&](std::size_t begin, std::size_t count) {
            largest = std::max(largest, largestDifference(expected.subspan(begin, count),
                                                          std::span(actual).subspan(begin, count), scale));
        });
    }
    return largest;
}

void UpdateTrial::uploadParameters() {
    for (TrialOperand& arena : arenas_) arena.buffer.uploadValues<float>(arena.values);
}

// The parameters again, where the optimizer keeps fewer.
gpu::BufferView UpdateTrial::arena(std::size_t at) const {
    return arenas_[at < arenas_.size() ? at : 0].view();
}

TrialResult UpdateTrial::measureFolded(const DenseUpdateKernel& kernel, int rounds, double limit) {
    const FoldedBuffers buffers{dSums_.view(), inputs_.view(), status_.view(), arena(0), arena(1), arena(2)};
    const auto record = [&] {
        dispatchDenseUpdate(recorder_, kernel, shape_, step_, buffers, costOf(shape_));
    };
    uploadParameters();
    recorder_.begin();
    return checkedThenTimed(recorder_, sumTolerance(shape_.rows), rounds, limit, record,
                            [&] { return compare(); });
}

double UpdateTrial::measureUpdate(const gpu::Kernel<shared::UpdateParams>& kernel, int rounds) {
    uploadParameters();
    shared::UpdateParams step = step_;
    step.count = gpu::asUint(gradients_.values.size());
    step.stride = (step.count / 4 + 63) / 64 * 64; // whole workgroups
    return bestMilliseconds(recorder_, rounds, [&] {
        recorder_.dispatch(kernel, {step.stride, 1, 1}, step,
                           {status_.view(), gradients_.view(), arena(0), arena(1), arena(2)});
    });
}

} // namespace lockstep
