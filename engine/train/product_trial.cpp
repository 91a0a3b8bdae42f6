#include "engine/train/product_trial.h"

#include <algorithm>
#include <cmath>

#include "engine/net/activation.h"
#include "engine/net/random.h"
#include "engine/train/work.h"

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

std::size_t sumLength(Product product, const DenseShape& shape) {
    switch (product) {
    case Product::forward: return shape.inputs;
    case Product::backwardInputs: return shape.outputs;
    case Product::backwardWeights: return shape.rows;
    }
    return 1;
}

double largestDifference(std::span<const float> expected, std::span<const float> actual, double largest) {
    double difference = 0;
    for (std::size_t at = 0; at < expected.size(); ++at) {
        const double here = std::abs(static_cast<double>(expected[at]) - static_cast<double>(actual[at]));
        if (!(here <= difference)) difference = std::isnan(here) ? INFINITY : here;
    }
    return difference / largest;
}

double largestOf(std::span<const float> values) {
    double largest = 1e-30;
    for (const float value : values) largest = std::max(largest, std::abs(static_cast<double>(value)));
    return largest;
}

std::size_t bytesOf(const std::vector<float>& values) { return values.size() * sizeof(float); }

} // namespace

ProductTrial::ProductTrial(gpu::Device& device, Product product, const DenseShape& shape,
                           Activation activation, const CpuKernels& reference)
    : product_(product), shape_(shape), activation_(activation),
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
    computeExpected(reference);
    aBuffer_.uploadValues<float>(a_);
    bBuffer_.uploadValues<float>(b_);
    thirdBuffer_.uploadValues<float>(third_);
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

void ProductTrial::dispatch(const Kernels::Dense& kernel) {
    const auto number = [](std::size_t value) { return static_cast<std::uint32_t>(value); };
    const shared::DenseParams params{number(shape_.rows), number(shape_.inputs), number(shape_.outputs),
                                     number(shape_.inputStride), number(shape_.outputStride)};
    const gpu::BufferView result = result_.view(0, bytesOf(expected_));
    const gpu::BufferView a = aBuffer_.view();
    const gpu::BufferView b = bBuffer_.view();
    if (product_ == Product::forward) {
        const bool sums = derivativeNeedsSum(activation_);
        recorder_.dispatch(kernel, {params.outputStride, params.rows, 1}, params,
                           {a, b, thirdBuffer_.view(), result, sums ? second_.view() : result});
    } else if (product_ == Product::backwardInputs) {
        recorder_.dispatch(kernel, {params.inputStride, params.rows, 1}, params,
                           {a, b, thirdBuffer_.view(), result});
    } else {
        recorder_.dispatch(kernel, {params.inputStride, params.outputs, 1}, params,
                           {a, b, result, second_.view(0, 4 * roundUpToFour(shape_.outputs))});
    }
}

double ProductTrial::compare() const {
    const double difference =
        largestDifference(expected_, result_.downloadValues<float>(expected_.size()), largestOf(expected_));
    if (expectedSecond_.empty()) return difference;
    const std::vector<float> second = second_.downloadValues<float>(expectedSecond_.size());
    return std::max(difference, largestDifference(expectedSecond_, second, largestOf(expectedSecond_)));
}

TrialResult ProductTrial::measure(const Kernels::Dense& kernel, int rounds) {
    constexpr double roundMilliseconds = 2; // long enough for a clock, short enough for many candidates
    constexpr double slow = 30;             // not worth a second look
    const auto runOnce = [&](int calls) {
        recorder_.begin();
        for (int call = 0; call < calls; ++call) dispatch(kernel);
        recorder_.submit();
        recorder_.finish();
        return recorder_.takeFinished().back().milliseconds / calls;
    };

    TrialResult result;
    result.tolerance = 1e-6 * (1 + std::sqrt(static_cast<double>(sumLength(product_, shape_))));
    recorder_.begin();
    // NaN: an output that is not written is a difference.
    recorder_.fill(result_.view(), 0x7FC00000u);
    recorder_.fill(second_.view(), 0x7FC00000u);
    recorder_.submit();
    runOnce(1);
    result.largestDifference = compare();
    if (!result.verified()) return result;
    result.milliseconds = runOnce(1);
    if (result.milliseconds > slow) return result;
    const int calls =
        std::clamp(static_cast<int>(roundMilliseconds / std::max(result.milliseconds, 1e-3)), 1, 64);
    for (int round = 0; round < rounds; ++round)
        result.milliseconds = std::min(result.milliseconds, runOnce(calls));
    return result;
}

double ProductTrial::flops() const { return denseWork(shape_).flops; }

} // namespace lockstep
