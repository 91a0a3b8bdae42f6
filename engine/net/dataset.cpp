// How a data set's labels become the values that a loss compares with.
#include <stdexcept>

#include "engine/net/dataset.h"

namespace lockstep {

namespace {

[[noreturn]] void throwUnfit(const Dataset& data, const NetShape& shape, const std::string& reason) {
    throw std::invalid_argument("network " + shape.describeWidths() + " with loss " +
                                std::string(name(shape.loss)) + " does not fit the data '" + data.name +
                                "': " + reason);
}

std::string countOf(std::size_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

std::uint32_t classTargetKind(const Dataset& data, const NetShape& shape) {
    if (shape.loss == Loss::crossEntropy) {
        if (shape.outputs() == data.classes) return shared::targetClassIndex;
        throwUnfit(data, shape,
                   "cross-entropy needs one output per class, " + countOf(data.classes, "output") + " here");
    }
    if (shape.outputs() == 1 && data.classes == 2) {
        const bool zeroToOne =
            shape.loss == Loss::binaryCrossEntropy || shape.outputActivation == Activation::sigmoid;
        return zeroToOne ? shared::targetBit : shared::targetSign;
    }
    if (shape.outputs() == data.classes) return shared::targetOneHot;
    throwUnfit(data, shape,
               "it has " + std::to_string(data.classes) + " classes" + ", which need " +
                   countOf(data.classes, "output") + (data.classes == 2 ? " or a single one" : ""));
}

std::uint32_t valueTargetKind(const Dataset& data, const NetShape& shape) {
    if (shape.loss == Loss::crossEntropy)
        throwUnfit(data, shape,
                   "cross-entropy compares classes, but the targets are values; use mse or huber");
    if (shape.outputs() != data.targetWidth)
        throwUnfit(data, shape,
                   "an example's target is " + countOf(data.targetWidth, "value") + ", which need " +
                       countOf(data.targetWidth, "output"));
    return shared::targetValues;
}

} // namespace

std::size_t outputsFor(const Dataset& data, Loss loss) {
    if (data.classes == 0) return data.targetWidth;
    return data.classes == 2 && loss != Loss::crossEntropy ? 1 : data.classes;
}

std::uint32_t targetKind(const Dataset& data, const NetShape& shape) {
    if (shape.inputs() != data.inputs)
        throwUnfit(data, shape,
                   "an example has " + countOf(data.inputs, "number") + ", the network takes " +
                       std::to_string(shape.inputs()));
    return data.classes == 0 ? valueTargetKind(data, shape) : classTargetKind(data, shape);
}

} // namespace lockstep
