#include "engine/tune/product_trial.h"

#include <algorithm>
#include <cmath>

#include "engine/net/activation.h"
#include "engine/net/float_formats.h"
#include "engine/step/dense_kernel.h"
#include "engine/step/work.h"
#include "engine/tune/trial_numbers.h"

namespace lockstep {

namespace {

std::size_t sumLength(Product product, const DenseShape& shape) {
    switch (product) {
    case Product::forward: return shape.inputs;
    case Product::backwardInputs: return shape.outputs;
    case Product::backwardWeights: return shape.rows;
    }
    return 1;
}

std::size_t bytesOf(const std::vector<float>& values) { return values.size() * sizeof(float); }

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
    TrialResult result;
    result.tolerance = 1e-6 * (1 + std::sqrt(static_cast<double>(sumLength(product_, shape_))));
    if (resultsAreHalves()) result.tolerance += (1 + 1.13) / 2048;
    recorder_.begin();
    // NaN, as a float and as two halves: an output that is not written is a difference.
    recorder_.fill(result_.view(), 0x7FC07FC0u);
    recorder_.fill(second_.view(), 0x7FC07FC0u);
    dispatch(kernel);
    recorder_.submit();
    recorder_.finish();
    recorder_.takeFinished();
    result.largestDifference = compare();
    if (result.verified())
        result.milliseconds = bestMilliseconds(recorder_, rounds, [&] { dispatch(kernel); });
    return result;
}

double ProductTrial::flops() const { return denseWork(shape_).flops; }

} // namespace lockstep
