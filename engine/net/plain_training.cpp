// One training step, from batch to update. Every function called plain:: is a few nested loops: those of the
// layers are in plain_ops.cpp, the loss in plain_loss.cpp, the update in plain_update.cpp.
#include "engine/net/plain_training.h"

#include "engine/net/activation.h"

namespace lockstep {

template <class T> double PlainNetwork<T>::trainStep(const TrainSettings& settings, std::uint64_t step) {
    // Which examples this step learns from, and how far it goes.
    const BatchOrder order(data_.train.count, settings.batch, settings.seed, settings.shuffle);
    const StepSettings now = stepSettings(settings, order, step);
    // How wrong the network is (the loss), and how each weight affects that (the gradient).
    const double loss = lossAndGradients(order, now.batch);
    // Every weight takes a small step against its gradient.
    plain::update(settings.optimizer.kind, now.update, 0, parameters.size(), gradients.data(),
                  parameters.data(), state1.data(), state2.data());
    return loss;
}

template <class T>
double PlainNetwork<T>::lossAndGradients(const BatchOrder& order, const BatchRange& batch) {
    const std::size_t rows = batch.rows; // one example each
    resize(rows);
    // An arena holds all layers' weights and biases in one array; these are where layer l's begin.
    const auto weights = [&](std::vector<T>& arena, std::size_t l) {
        return arena.data() + layout_.layer(l).weightOffset;
    };
    const auto bias = [&](std::vector<T>& arena, std::size_t l) {
        return arena.data() + layout_.layer(l).biasOffset;
    };

    // Batch: inputs and targets of the examples, one per row.
    plain::gatherBatch(data_, data_.train, order, batch, 0, rows, layout_.layer(0).rowStride, inputs_.data(),
                       targets_.data());

    // Forward: every layer multiplies the outputs of the one below by its weights and adds its bias. The
    // sums (preactivations) go through the activation function, which gives the layer's outputs.
    for (std::size_t l = 0; l < layers_.size(); ++l)
        plain::dense(denseShape(l, rows), inputsOf(l), weights(parameters, l), bias(parameters, l),
                     shape_.activationOf(l), layers_[l].outputs.data(), layers_[l].sums.data());

    // Loss: compares the last layer's outputs with the targets. dSums is its gradient by the layer's sums.
    const std::size_t outputs = shape_.outputs();
    const double terms = static_cast<double>(lossTerms(shape_.loss, rows, outputs));
    const LossShape lossShape{.rows = rows,
                              .outputs = outputs,
                              .stride = roundUpToFour(outputs),
                              .targetWidth = data_.targetWidth,
                              .loss = shape_.loss,
                              .targetKind = targetKind(data_, shape_),
                              .outputActivation = shape_.outputActivation,
                              .scale = 1 / terms};
    Layer& last = layers_.back();
    const double loss = plain::lossAndGradient(lossShape, last.outputs.data(), saved(layers_.size() - 1),
                                               targets_.data(), last.dSums.data());

    // Backward: from the last layer to the first, a layer's dSums give those of the layer below.
    for (std::size_t l = layers_.size(); --l > 0;)
        plain::denseBackwardInputs(denseShape(l, rows), layers_[l].dSums.data(), weights(parameters, l),
                                   shape_.activationOf(l - 1), saved(l - 1), layers_[l - 1].dSums.data());
    // Gradients of the weights and biases: every layer's dSums times its inputs.
    for (std::size_t l = layers_.size(); l-- > 0;)
        plain::denseBackwardWeights(denseShape(l, rows), layers_[l].dSums.data(), inputsOf(l), 0,
                                    layout_.layer(l).outputs, weights(gradients, l), bias(gradients, l));
    return loss / terms;
}

template <class T>
PlainNetwork<T>::PlainNetwork(const Dataset& data, const NetShape& shape, std::span<const float> initial)
    : parameters(initial.begin(), initial.end()), gradients(initial.size()), state1(initial.size()),
      state2(initial.size()), data_(data), shape_(shape), layout_(shape), layers_(shape.layers()) {}

template <class T> void PlainNetwork<T>::resize(std::size_t rows) {
    inputs_.resize(rows * layout_.layer(0).rowStride);
    targets_.resize(rows * data_.targetWidth);
    for (std::size_t l = 0; l < layers_.size(); ++l)
        for (std::vector<T>* array : {&layers_[l].outputs, &layers_[l].sums, &layers_[l].dSums})
            array->resize(rows * denseShape(l, rows).outputStride);
}

template <class T> DenseShape PlainNetwork<T>::denseShape(std::size_t l, std::size_t rows) const {
    const LayerLayout& layer = layout_.layer(l);
    return {rows, layer.inputs, layer.outputs, layer.rowStride, roundUpToFour(layer.outputs)};
}

/// What the derivative of the layer's activation is computed from.
template <class T> const T* PlainNetwork<T>::saved(std::size_t l) const {
    return derivativeNeedsSum(shape_.activationOf(l)) ? layers_[l].sums.data() : layers_[l].outputs.data();
}

template class PlainNetwork<float>;
template class PlainNetwork<double>;

} // namespace lockstep
