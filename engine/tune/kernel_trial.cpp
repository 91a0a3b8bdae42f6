#include "engine/tune/kernel_trial.h"

#include <cmath>
#include <span>

#include "engine/net/activation.h"
#include "engine/net/float_formats.h"
#include "engine/net/param_layout.h"
#include "engine/net/random.h"
#include "engine/step/work.h"

namespace lockstep {

namespace {

// [rows][stride] of uniform numbers in [-1, 1), padding 0.
std::vector<float> randomMatrix(std::size_t rows, std::size_t width, std::size_t stride, std::uint64_t seed) {
    std::vector<float> matrix(rows * stride);
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < width; ++column) {
            const std::uint32_t word = randomWords(seed, RandomStream::test, row * width + column).x;
            matrix[row * stride + column] = static_cast<float>(2 * uniform01(word) - 1);
        }
    return matrix;
}

// Of all sizes; at least 1e-30.
double largestOf(std::span<const float> values) {
    double largest = 1e-30;
    for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    return largest;
}

// Of two equally long arrays, divided by `scale`; infinite where a value is NaN.
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
TrialResult checkedThenTimed(gpu::Recorder& recorder, double tolerance, int rounds, Record record,
                             Compare compare) {
    record();
    recorder.submitAndTime();
    TrialResult result{.milliseconds = 0, .largestDifference = compare(), .tolerance = tolerance};
    if (result.verified()) result.milliseconds = bestMilliseconds(recorder, rounds, record);
    return result;
}

// How far rounding takes a sum of that many products from another order of them.
double sumTolerance(std::size_t length) { return 1e-6 * (1 + std::sqrt(static_cast<double>(length))); }

std::size_t bytesOf(const std::vector<float>& values) { return values.size() * sizeof(float); }

std::size_t sumLength(Product product, const DenseShape& shape) {
    switch (product) {
    case Product::forward: return shape.inputs;
    case Product::backwardInputs: return shape.outputs;
    case Product::backwardWeights: return shape.rows;
    }
    return 1;
}

LayerLayout layoutOf(const DenseShape& shape) {
    return ParamLayout(NetShape{{shape.inputs, shape.outputs}}).layer(0);
}

std::size_t floatsOf(const DenseShape& shape) {
    const LayerLayout layout = layoutOf(shape);
    return layout.biasOffset + layout.biasCount();
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

ProductTrial::ProductTrial(gpu::Device& device, Product product, const DenseShape& shape,
                           Activation activation, const CpuKernels& reference, bool half)
    : product_(product), shape_(shape), activation_(activation), half_(half),
      a_(product == Product::forward ? randomMatrix(shape.rows, shape.inputs, shape.inputStride, 1)
                                     : randomMatrix(shape.rows, shape.outputs, shape.outputStride, 1)),
      b_(product == Product::backwardWeights
             ? randomMatrix(shape.rows, shape.inputs, shape.inputStride, 2)
             : randomMatrix(shape.outputs, shape.inputs, shape.inputStride, 2)),
      third_(product == Product::forward ? randomMatrix(1, shape.outputs, roundUpToFour(shape.outputs), 3)
                                         : randomMatrix(shape.rows, shape.inputs, shape.inputStride, 3)),
      aBuffer_(device, bytesOf(a_), gpu::Memory::device, "trial A"),
      bBuffer_(device, bytesOf(b_), gpu::Memory::device, "trial B"),
      thirdBuffer_(device, bytesOf(third_), gpu::Memory::device, "trial third"),
      result_(device,
              4 * std::max({shape.rows * shape.outputStride, shape.rows * shape.inputStride,
                            shape.outputs * shape.inputStride}),
              gpu::Memory::device, "trial result"),
      second_(device, 4 * std::max(shape.rows * shape.outputStride, roundUpToFour(shape.outputs)),
              gpu::Memory::device, "trial second result"),
      recorder_(device) {
    upload(aBuffer_, a_, half);
    upload(bBuffer_, b_, half);
    upload(thirdBuffer_, third_, half && product == Product::backwardInputs); // a bias is of floats
    computeExpected(reference);
}

// As halves: the values become what is left of them.
void ProductTrial::upload(gpu::Buffer& buffer, std::vector<float>& values, bool asHalves) const {
    if (!asHalves) return buffer.uploadValues<float>(values);
    std::vector<std::uint16_t> halves;
    for (float& value : values) {
        halves.push_back(toFloat16(value));
        value = fromFloat16(halves.back());
    }
    buffer.uploadValues<std::uint16_t>(halves);
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
        cpu.dense(shape_, a_.data(), b_.data(), third_.data(), activation_, expected_.data(),
                  expectedSecond_.data());
        if (!derivativeNeedsSum(activation_)) expectedSecond_.clear();
    } else if (product_ == Product::backwardInputs) {
        expected_.resize(shape_.rows * shape_.inputStride);
        cpu.denseBackwardInputs(shape_, a_.data(), b_.data(), activation_, third_.data(), expected_.data());
    } else {
        expected_.resize(shape_.outputs * shape_.inputStride);
        expectedSecond_.resize(roundUpToFour(shape_.outputs));
        cpu.denseBackwardWeights(shape_, a_.data(), b_.data(), 0, shape_.outputs, expected_.data(),
                                 expectedSecond_.data());
        expectedSecond_.resize(shape_.outputs);
    }
}

void ProductTrial::dispatch(const DenseKernel& kernel) {
    const std::size_t smaller = half_ ? 2 : 1; // halves take half the bytes of the floats they came from
    const gpu::BufferView result = result_.view(0, bytesOf(expected_) / (resultsAreHalves() ? 2 : 1));
    const gpu::BufferView a = aBuffer_.view(0, bytesOf(a_) / smaller);
    const gpu::BufferView b = bBuffer_.view(0, bytesOf(b_) / smaller);
    if (product_ == Product::forward)
        dispatchProduct(
            recorder_, kernel, shape_,
            {a, b, thirdBuffer_.view(), result, derivativeNeedsSum(activation_) ? second_.view() : result});
    else if (product_ == Product::backwardInputs)
        dispatchProduct(recorder_, kernel, shape_,
                        {a, b, thirdBuffer_.view(0, bytesOf(third_) / smaller), result});
    else
        dispatchProduct(recorder_, kernel, shape_,
                        {a, b, result, second_.view(0, 4 * roundUpToFour(shape_.outputs))});
}

double ProductTrial::compare() const {
    const double difference =
        largestDifference(expected_, download(result_, expected_.size()), largestOf(expected_));
    if (expectedSecond_.empty()) return difference;
    const std::vector<float> second = download(second_, expectedSecond_.size());
    return std::max(difference, largestDifference(expectedSecond_, second, largestOf(expectedSecond_)));
}

TrialResult ProductTrial::measure(const DenseKernel& kernel, int rounds) {
    double tolerance = sumTolerance(sumLength(product_, shape_));
    if (resultsAreHalves()) tolerance += (1 + 1.13) / 2048;
    recorder_.begin();
    // NaN, as a float and as two halves: an output that is not written is a difference.
    recorder_.fill(result_.view(), 0x7FC07FC0u);
    recorder_.fill(second_.view(), 0x7FC07FC0u);
    return checkedThenTimed(
        recorder_, tolerance, rounds, [&] { dispatch(kernel); }, [&] { return compare(); });
}

double ProductTrial::flops() const { return denseWork(shape_).flops; }

UpdateTrial::UpdateTrial(gpu::Device& device, const DenseShape& shape, Optimizer optimizer)
    : shape_(shape), optimizer_(optimizer), step_(stepOf(optimizer)),
      dSums_(randomMatrix(shape.rows, shape.outputs, shape.outputStride, 1)),
      inputs_(randomMatrix(shape.rows, shape.inputs, shape.inputStride, 2)),
      dSumsBuffer_(device, bytesOf(dSums_), gpu::Memory::device, "trial dZ"),
      inputsBuffer_(device, bytesOf(inputs_), gpu::Memory::device, "trial inputs"),
      status_(device, sizeof(std::uint32_t), gpu::Memory::device, "trial status"),
      gradients_(device, floatsOf(shape) * sizeof(float), gpu::Memory::device, "trial gradients"),
      recorder_(device) {
    OptimizerSettings settings;
    settings.kind = optimizer;
    const LayerLayout layout = layoutOf(shape);
    for (std::size_t arena = 0; arena < 1 + settings.stateArrays(); ++arena) {
        std::vector<float> values = randomMatrix(shape.outputs, shape.inputs, shape.inputStride, 3 + arena);
        values.resize(layout.biasOffset);
        const std::vector<float> bias = randomMatrix(1, shape.outputs, layout.biasCount(), 7 + arena);
        values.insert(values.end(), bias.begin(), bias.end());
        if (arena > 0) // mean squares are not negative, and a small one would blow rounding up
            for (float& value : values) value = 0.5f + std::abs(value);
        before_.push_back(std::move(values));
        arenas_.emplace_back(device, bytesOf(before_.back()), gpu::Memory::device, "trial parameters");
    }
    const std::uint32_t none = shared::noStep;
    status_.uploadValues<std::uint32_t>({&none, 1});
    dSumsBuffer_.uploadValues<float>(dSums_);
    inputsBuffer_.uploadValues<float>(inputs_);
    gradients_.uploadValues<float>(before_.front());
    computeExpected();
}

void UpdateTrial::computeExpected() {
    const LayerLayout layout = layoutOf(shape_);
    std::vector<float> gradients(before_.front().size());
    simdKernels().denseBackwardWeights(shape_, dSums_.data(), inputs_.data(), 0, shape_.outputs,
                                       gradients.data(), gradients.data() + layout.biasOffset);
    expected_ = before_;
    const auto state = [&](std::size_t at) { return expected_.size() > at ? expected_[at].data() : nullptr; };
    const auto step = [&](std::size_t begin, std::size_t count) {
        plain::update(optimizer_, step_, begin, begin + count, gradients.data(), expected_[0].data(),
                      state(1), state(2));
    };
    for (std::size_t row = 0; row < shape_.outputs; ++row) step(row * shape_.inputStride, shape_.inputs);
    step(layout.biasOffset, shape_.outputs);
}

// Only what the network has counts: padding may hold anything that an optimizer makes of a gradient of 0.
double UpdateTrial::compare() const {
    const LayerLayout layout = layoutOf(shape_);
    double largest = 0;
    for (std::size_t arena = 0; arena < arenas_.size(); ++arena) {
        const std::vector<float>& expected = expected_[arena];
        const std::vector<float> actual = arenas_[arena].downloadValues<float>(expected.size());
        const double scale = largestOf(expected);
        const auto compareRange = [&](std::size_t begin, std::size_t count) {
            const std::span<const float> right(expected.data() + begin, count);
            const std::span<const float> got(actual.data() + begin, count);
            largest = std::max(largest, largestDifference(right, got, scale));
        };
        for (std::size_t row = 0; row < shape_.outputs; ++row)
            compareRange(row * shape_.inputStride, shape_.inputs);
        compareRange(layout.biasOffset, shape_.outputs);
    }
    return largest;
}

void UpdateTrial::uploadParameters() {
    for (std::size_t arena = 0; arena < arenas_.size(); ++arena)
        arenas_[arena].uploadValues<float>(before_[arena]);
}

TrialResult UpdateTrial::measureFolded(const DenseUpdateKernel& kernel, int rounds) {
    const gpu::BufferView parameters = arenas_[0].view();
    const auto state = [&](std::size_t at) { return arenas_.size() > at ? arenas_[at].view() : parameters; };
    const FoldedBuffers buffers{
        dSumsBuffer_.view(), inputsBuffer_.view(), status_.view(), parameters, state(1), state(2)};
    const auto record = [&] { dispatchDenseUpdate(recorder_, kernel, shape_, step_, buffers); };
    uploadParameters();
    recorder_.begin();
    return checkedThenTimed(recorder_, sumTolerance(shape_.rows), rounds, record, [&] { return compare(); });
}

double UpdateTrial::measureUpdate(const gpu::Kernel<shared::UpdateParams>& kernel, int rounds) {
    uploadParameters();
    const gpu::BufferView parameters = arenas_[0].view();
    const auto state = [&](std::size_t at) { return arenas_.size() > at ? arenas_[at].view() : parameters; };
    shared::UpdateParams step = step_;
    step.count = static_cast<std::uint32_t>(before_.front().size());
    step.stride = (step.count / 4 + 63) / 64 * 64; // whole workgroups
    return bestMilliseconds(recorder_, rounds, [&] {
        recorder_.dispatch(kernel, {step.stride, 1, 1}, step,
                           {status_.view(), gradients_.view(), parameters, state(1), state(2)});
    });
}

} // namespace lockstep
