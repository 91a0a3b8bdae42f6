// A training loop of plain operations alone, in float or double: the oracle that tests hold against finite
// differences and against PyTorch's numbers.
#pragma once

#include <span>
#include <vector>

#include "engine/net/activation.h"
#include "engine/net/batch_order.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

template <class T> class PlainNetwork {
  public:
    /// `data` must outlive the network. `initial` is a parameter arena (ParamLayout(shape).size() numbers).
    PlainNetwork(const Dataset& data, const NetShape& shape, std::span<const float> initial)
        : parameters(initial.begin(), initial.end()), gradients(initial.size()), data_(data), shape_(shape),
          layout_(shape), targetKind_(lockstep::targetKind(data, shape)), state1_(initial.size()),
          state2_(initial.size()) {}

    /// One training step on the training split; returns the batch's mean loss before the update.
    double trainStep(const TrainSettings& settings, std::uint64_t step) {
        const BatchOrder order(data_.train.count, settings.batch, settings.seed, settings.shuffle);
        const StepSettings now = stepSettings(settings, order, step);
        const double loss = meanLossAndGradients(order, now.batch);
        plain::update(settings.optimizer.kind, now.update, 0, parameters.size(), gradients.data(),
                      parameters.data(), state1_.data(), state2_.data());
        return loss;
    }

    /// Mean loss of a batch; `gradients` becomes its derivative with respect to `parameters`.
    double meanLossAndGradients(const BatchOrder& order, const BatchRange& batch) {
        forward(order, batch);
        const double terms = static_cast<double>(lossTerms(shape_.loss, batch.rows, shape_.outputs()));
        const double loss = this->loss(batch.rows, 1 / terms) / terms;
        for (std::size_t l = shape_.layers(); l-- > 0;) backward(l, batch.rows);
        return loss;
    }

    std::vector<T> parameters;
    std::vector<T> gradients;

  private:
    void forward(const BatchOrder& order, const BatchRange& batch) {
        outputs_.assign(shape_.widths.size(), {});
        sums_.assign(shape_.widths.size(), {});
        targets_.resize(batch.rows * data_.targetWidth);
        for (std::size_t l = 0; l < shape_.widths.size(); ++l) {
            outputs_[l].resize(batch.rows * roundUpToFour(shape_.widths[l]));
            sums_[l].resize(outputs_[l].size());
        }
        plain::gatherBatch(data_, data_.train, order, batch, 0, batch.rows, roundUpToFour(data_.inputs),
                           outputs_[0].data(), targets_.data());
        for (std::size_t l = 0; l < shape_.layers(); ++l) {
            const LayerLayout& layer = layout_.layer(l);
            plain::dense(denseShape(l, batch.rows), outputs_[l].data(),
                         parameters.data() + layer.weightOffset, parameters.data() + layer.biasOffset,
                         shape_.activationOf(l), outputs_[l + 1].data(), sums_[l + 1].data());
        }
    }

    double loss(std::size_t rows, double scale) {
        const std::size_t last = shape_.layers();
        const std::size_t stride = roundUpToFour(shape_.outputs());
        const LossShape lossShape{
            rows,        shape_.outputs(),        stride, data_.targetWidth, shape_.loss,
            targetKind_, shape_.outputActivation, scale};
        dSums_.resize(rows * stride);
        return plain::lossAndGradient(lossShape, outputs_[last].data(), saved(last), targets_.data(),
                                      dSums_.data());
    }

    /// Leaves dZ of the layer below in dSums_.
    void backward(std::size_t l, std::size_t rows) {
        const LayerLayout& layer = layout_.layer(l);
        plain::denseBackwardWeights(denseShape(l, rows), dSums_.data(), outputs_[l].data(), 0, layer.outputs,
                                    gradients.data() + layer.weightOffset,
                                    gradients.data() + layer.biasOffset);
        if (l == 0) return;
        std::vector<T> below(rows * layer.rowStride);
        plain::denseBackwardInputs(denseShape(l, rows), dSums_.data(), parameters.data() + layer.weightOffset,
                                   shape_.activationOf(l - 1), saved(l), below.data());
        dSums_ = below;
    }

    /// What the derivative of the activation that made outputs_[index] is computed from.
    const T* saved(std::size_t index) const {
        return derivativeNeedsSum(shape_.activationOf(index - 1)) ? sums_[index].data()
                                                                  : outputs_[index].data();
    }

    DenseShape denseShape(std::size_t l, std::size_t rows) const {
        const LayerLayout& layer = layout_.layer(l);
        return {rows, layer.inputs, layer.outputs, layer.rowStride, roundUpToFour(layer.outputs)};
    }

    const Dataset& data_;
    NetShape shape_;
    ParamLayout layout_;
    std::uint32_t targetKind_;
    std::vector<T> state1_, state2_;
    std::vector<std::vector<T>> outputs_; ///< [0] the batch's inputs, [l + 1] outputs of layer l
    std::vector<std::vector<T>> sums_;    ///< [l + 1] sums of layer l before its activation
    std::vector<TargetWord> targets_;
    std::vector<T> dSums_;
};

} // namespace lockstep
