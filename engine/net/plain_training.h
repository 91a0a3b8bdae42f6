// Training at its plainest: one step from batch to update, made of the loops declared in plain_ops.h. The
// backends compute the same step faster, and skip it if the loss is not finite. Start reading at trainStep()
// in plain_training.cpp.
#pragma once

#include <span>
#include <vector>

#include "engine/net/batch_order.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

/// A network and what its training keeps. Notation as in plain_ops.h: A[0] is the batch, Z[l] the sums of
/// layer l before its activation, A[l + 1] its outputs. `T` is float, or double where more digits are
/// needed: for training in fp64, and to check gradients against finite differences, and losses against
/// PyTorch.
template <class T> class PlainNetwork {
  public:
    /// data      must outlive the network
    /// initial   weights and biases, in the order of ParamLayout(shape)
    PlainNetwork(const Dataset& data, const NetShape& shape, std::span<const float> initial);

    /// One step of minibatch gradient descent on the training split. Returns the batch's mean loss before the
    /// update.
    double trainStep(const TrainSettings& settings, std::uint64_t step);

    /// Forward and backward pass: returns the mean loss of a batch, and leaves its derivative with respect to
    /// `parameters` in `gradients`.
    double lossAndGradients(const BatchOrder& order, const BatchRange& batch);

    /// What the products of layer l have read in the last batch: A[l] and dZ[l], [rows][stride]. The strides
    /// are the layer's inputs and outputs, rounded up to four.
    const T* inputsOf(std::size_t l) const { return l == 0 ? inputs_.data() : layers_[l - 1].outputs.data(); }
    const T* dSumsOf(std::size_t l) const { return layers_[l].dSums.data(); }

    /// Makes room for batches of so many rows: what the first batch does otherwise.
    void resize(std::size_t rows);
    /// Numbers that there is room for, of all rows of the largest batch so far.
    std::size_t batchNumbers() const {
        std::size_t numbers = inputs_.capacity();
        for (const Layer& layer : layers_)
            numbers += layer.outputs.capacity() + layer.sums.capacity() + layer.dSums.capacity();
        return numbers;
    }

    std::vector<T> parameters;
    std::vector<T> gradients;
    std::vector<T> state1, state2; ///< of the optimizer

  private:
    struct Layer {
        std::vector<T> outputs; ///< A[l + 1], [rows][stride]
        std::vector<T> sums;    ///< Z[l], likewise
        std::vector<T> dSums;   ///< dZ[l], likewise
    };

    DenseShape denseShape(std::size_t l, std::size_t rows) const;
    const T* saved(std::size_t l) const;

    const Dataset& data_;
    NetShape shape_;
    ParamLayout layout_;
    std::vector<T> inputs_;           ///< A[0], [rows][stride]
    std::vector<TargetWord> targets_; ///< [rows][targetWidth]
    std::vector<Layer> layers_;
};

} // namespace lockstep
