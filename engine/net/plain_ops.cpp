// The batch and the products: gather, dense forward, and the two products of its backward pass.
#include "engine/net/plain_ops.h"

#include <bit>

#include "engine/net/activation.h"

namespace lockstep::plain {

namespace {

/// Where the padding of a row of `width` columns ends. Rows without padding are allowed.
std::size_t paddedWidth(std::size_t width, std::size_t stride) {
    return std::min(roundUpToFour(width), stride);
}

template <class T> void clearPadding(T* row, std::size_t width, std::size_t stride) {
    std::fill(row + width, row + paddedWidth(width, stride), T(0));
}

template <class T>
void copyInputs(const Examples& examples, std::size_t inputs, std::size_t example, T* row) {
    const std::size_t first = example * inputs;
    if (!examples.pixels.empty()) {
        for (std::size_t i = 0; i < inputs; ++i) row[i] = T(examples.pixels[first + i]) * T(1.0 / 255.0);
    } else {
        for (std::size_t i = 0; i < inputs; ++i) row[i] = T(examples.values[first + i]);
    }
}

void copyTarget(const Examples& examples, std::size_t targetWidth, std::size_t example, TargetWord* words) {
    if (!examples.labels.empty()) {
        words[0] = examples.labels[example];
    } else {
        for (std::size_t j = 0; j < targetWidth; ++j)
            words[j] = std::bit_cast<TargetWord>(examples.targets[example * targetWidth + j]);
    }
}

} // namespace

template <class T>
void gatherBatch(const Dataset& data, const Examples& examples, const BatchOrder& order,
                 const BatchRange& batch, std::size_t rowBegin, std::size_t rowEnd, std::size_t stride,
                 T* inputs, TargetWord* targets) {
    for (std::size_t r = rowBegin; r < rowEnd; ++r) {
        const std::size_t example = order.example(batch.epoch, batch.first + r);
        copyInputs(examples, data.inputs, example, inputs + r * stride);
        clearPadding(inputs + r * stride, data.inputs, stride);
        copyTarget(examples, data.targetWidth, example, targets + r * data.targetWidth);
    }
}

template <class T>
void dense(const DenseShape& shape, const T* inputs, const T* weights, const T* bias, Activation activation,
           T* outputs, T* sums) {
    for (std::size_t r = 0; r < shape.rows; ++r) {
        const T* x = inputs + r * shape.inputStride;
        T* y = outputs + r * shape.outputStride;
        T* z = sums == nullptr ? nullptr : sums + r * shape.outputStride;
        for (std::size_t o = 0; o < shape.outputs; ++o) {
            const T* w = weights + o * shape.inputStride;
            T sum = 0;
            for (std::size_t i = 0; i < shape.inputs; ++i) sum += x[i] * w[i];
            sum += bias[o];
            y[o] = activate(activation, sum);
            if (z != nullptr) z[o] = sum;
        }
        clearPadding(y, shape.outputs, shape.outputStride);
        if (z != nullptr) clearPadding(z, shape.outputs, shape.outputStride);
    }
}

template <class T>
void denseBackwardInputs(const DenseShape& shape, const T* dSums, const T* weights, Activation previous,
                         const T* saved, T* dPreviousSums) {
    for (std::size_t r = 0; r < shape.rows; ++r) {
        const T* dz = dSums + r * shape.outputStride;
        const T* below = saved + r * shape.inputStride;
        T* dx = dPreviousSums + r * shape.inputStride;
        std::fill(dx, dx + paddedWidth(shape.inputs, shape.inputStride), T(0));
        for (std::size_t o = 0; o < shape.outputs; ++o) {
            const T* w = weights + o * shape.inputStride;
            for (std::size_t i = 0; i < shape.inputs; ++i) dx[i] += dz[o] * w[i];
        }
        for (std::size_t i = 0; i < shape.inputs; ++i) dx[i] *= activationDerivative(previous, below[i]);
    }
}

template <class T>
void denseBackwardWeights(const DenseShape& shape, const T* dSums, const T* inputs, std::size_t outputBegin,
                          std::size_t outputEnd, T* dWeights, T* dBias) {
    for (std::size_t o = outputBegin; o < outputEnd; ++o) {
        T* dw = dWeights + o * shape.inputStride;
        std::fill(dw, dw + paddedWidth(shape.inputs, shape.inputStride), T(0));
        dBias[o] = T(0);
        for (std::size_t r = 0; r < shape.rows; ++r) {
            const T dz = dSums[r * shape.outputStride + o];
            const T* x = inputs + r * shape.inputStride;
            for (std::size_t i = 0; i < shape.inputs; ++i) dw[i] += dz * x[i];
            dBias[o] += dz;
        }
    }
}

template void gatherBatch(const Dataset&, const Examples&, const BatchOrder&, const BatchRange&, std::size_t,
                          std::size_t, std::size_t, float*, TargetWord*);
template void gatherBatch(const Dataset&, const Examples&, const BatchOrder&, const BatchRange&, std::size_t,
                          std::size_t, std::size_t, double*, TargetWord*);
template void dense(const DenseShape&, const float*, const float*, const float*, Activation, float*, float*);
template void dense(const DenseShape&, const double*, const double*, const double*, Activation, double*,
                    double*);
template void denseBackwardInputs(const DenseShape&, const float*, const float*, Activation, const float*,
                                  float*);
template void denseBackwardInputs(const DenseShape&, const double*, const double*, Activation, const double*,
                                  double*);
template void denseBackwardWeights(const DenseShape&, const float*, const float*, std::size_t, std::size_t,
                                   float*, float*);
template void denseBackwardWeights(const DenseShape&, const double*, const double*, std::size_t, std::size_t,
                                   double*, double*);

} // namespace lockstep::plain
