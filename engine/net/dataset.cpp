// How a data set's labels become the values that a loss compares with.
#include <algorithm>
#include <stdexcept>

#include "engine/net/dataset.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

[[noreturn]] void throwUnfit(const Dataset& data, const NetShape& shape, const std::string& reason) {
    throw std::invalid_argument(concat("network ", shape.describeWidths(), " with loss ", name(shape.loss),
                                       " does not fit the data '", data.name, "': ", reason));
}

std::uint32_t classTargetKind(const Dataset& data, const NetShape& shape) {
    if (shape.loss == Loss::crossEntropy) {
        if (shape.outputs() == data.classes) return shared::targetClassIndex;
        throwUnfit(data, shape,
                   "cross-entropy needs one output per class, " + counted(data.classes, "output") + " here");
    }
    if (shape.outputs() == 1 && data.classes == 2) {
        const bool zeroToOne =
            shape.loss == Loss::binaryCrossEntropy || shape.outputActivation == Activation::sigmoid;
        return zeroToOne ? shared::targetBit : shared::targetSign;
    }
    if (shape.outputs() == data.classes) return shared::targetOneHot;
    throwUnfit(data, shape,
               concat("it has ", data.classes, " classes, which need ", counted(data.classes, "output"),
                      data.classes == 2 ? " or a single one" : ""));
}

// Outside 0 to 1, binary cross-entropy has no lower bound: training would drive it to minus infinity.
void requireProbabilities(const Dataset& data, const NetShape& shape) {
    for (const Examples* examples : {&data.train, &data.test})
        for (std::size_t i = 0; i < examples->targets.size(); ++i) {
            const float value = examples->targets[i];
            if (value >= 0 && value <= 1) continue;
            const std::size_t example = i / data.targetWidth;
            double shown = value;
            if (!data.targetColumns.empty()) {
                const TableColumn& column = data.targetColumns[i % data.targetWidth];
                if (column.scaled) shown = column.mean + column.deviation * shown;
            }
            const std::string place = examples->lines.empty() ? concat("example ", example)
                                                              : concat("line ", examples->lines[example]);
            throwUnfit(data, shape,
                       concat("bce needs targets from 0 to 1, but ", place, " has ", sixDigits(shown),
                              "; use mse or huber for values, or --task classes if they are classes"));
        }
}

std::uint32_t valueTargetKind(const Dataset& data, const NetShape& shape) {
    if (shape.loss == Loss::binaryCrossEntropy) requireProbabilities(data, shape);
    if (shape.loss == Loss::crossEntropy)
        throwUnfit(data, shape,
                   "cross-entropy compares classes, but the targets are values; use mse or huber");
    if (shape.outputs() != data.targetWidth)
        throwUnfit(data, shape,
                   "an example's target is " + counted(data.targetWidth, "value") + ", which need " +
                       counted(data.targetWidth, "output"));
    return shared::targetValues;
}

} // namespace

std::vector<float> inputsOf(const Dataset& data, Split split, std::size_t first, std::size_t rows) {
    const Examples& examples = data.of(split);
    const std::size_t begin = first * data.inputs;
    std::vector<float> inputs(rows * data.inputs);
    for (std::size_t i = 0; i < inputs.size(); ++i)
        inputs[i] = data.bytes() ? static_cast<float>(examples.pixels[begin + i]) * (1.0F / 255.0F)
                                 : examples.values[begin + i];
    return inputs;
}

std::vector<float> inChunks(const Dataset& data, Split split, std::size_t first, std::size_t rows,
                            const std::function<std::vector<float>(std::span<const float>)>& outputs) {
    constexpr std::size_t atOnce = 4096;
    std::vector<float> all;
    for (std::size_t done = 0; done < rows; done += atOnce) {
        const std::size_t now = std::min(atOnce, rows - done);
        const std::vector<float> some = outputs(inputsOf(data, split, first + done, now));
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::size_t outputsFor(const Dataset& data, Loss loss) {
    if (data.classes == 0) return data.targetWidth;
    return data.classes == 2 && loss != Loss::crossEntropy ? 1 : data.classes;
}

std::uint32_t targetKind(const Dataset& data, const NetShape& shape) {
    if (shape.inputs() != data.inputs)
        throwUnfit(data, shape,
                   concat("an example has ", counted(data.inputs, "number"), ", the network takes ",
                          shape.inputs()));
    return data.classes == 0 ? valueTargetKind(data, shape) : classTargetKind(data, shape);
}

} // namespace lockstep
