#include "engine/net/net_shape.h"

#include <stdexcept>

#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr NameOf<Activation> activationNames[] = {
#define ROW(number, id, text, ...) {Activation::id, text},
    LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
};

constexpr NameOf<Loss> lossNames[] = {
    {Loss::crossEntropy, "cross-entropy"},
    {Loss::meanSquared, "mse"},
    {Loss::huber, "huber"},
    {Loss::binaryCrossEntropy, "bce"},
};

constexpr NameOf<InitScheme> initNames[] = {
    {InitScheme::he, "he"},           {InitScheme::xavier, "xavier"}, {InitScheme::lecun, "lecun"},
    {InitScheme::uniform, "uniform"}, {InitScheme::zeros, "zeros"},
};

constexpr std::size_t widthLimit =
    65000; // lavapipe stops a kernel's loop over a layer's inputs after 65,535 iterations

} // namespace

std::size_t NetShape::parameters() const {
    std::size_t sum = 0;
    for (std::size_t layer = 0; layer < layers(); ++layer) sum += (widths[layer] + 1) * widths[layer + 1];
    return sum;
}

std::size_t NetShape::rowsIn(std::span<const float> numbers) const {
    if (numbers.size() % inputs() != 0)
        throw std::invalid_argument(concat(counted(numbers.size(), "number"),
                                           " are no whole rows for a network that takes ",
                                           counted(inputs(), "input")));
    return numbers.size() / inputs();
}

double NetShape::flopsPerExample() const {
    double sum = 0;
    for (std::size_t layer = 0; layer < layers(); ++layer)
        sum += static_cast<double>(widths[layer] * widths[layer + 1]) * (layer == 0 ? 4.0 : 6.0);
    return sum;
}

std::string NetShape::describeWidths() const {
    std::string text;
    for (std::size_t width : widths) text += (text.empty() ? "" : "-") + std::to_string(width);
    return text;
}

void NetShape::validate() const {
    if (widths.size() < 2)
        throw std::invalid_argument("a network needs at least an input and an output width");
    for (std::size_t width : widths)
        if (width == 0 || width > widthLimit)
            throw std::invalid_argument("layer width " + std::to_string(width) + " is outside 1 to 65,000");
    if (loss == Loss::crossEntropy && outputs() < 2)
        throw std::invalid_argument(
            "cross-entropy needs an output per class, at least 2; with one output use bce or mse");
    if ((loss == Loss::crossEntropy || loss == Loss::binaryCrossEntropy) &&
        outputActivation != Activation::identity)
        throw std::invalid_argument(std::string(name(loss)) +
                                    " takes logits: the output activation must be identity");
}

std::string_view formula(Activation value) {
    switch (value) {
#define ROW(number, id, name, formula, ...)                                                                  \
    case Activation::id: return formula;
        LOCKSTEP_ACTIVATIONS(ROW)
#undef ROW
    }
    return "";
}

std::string_view name(Activation value) { return nameOf(activationNames, value); }
std::string_view name(Loss value) { return nameOf(lossNames, value); }
std::string_view name(InitScheme value) { return nameOf(initNames, value); }

Activation activationFromName(std::string_view text) {
    return valueFromName(activationNames, "activation", text);
}
Loss lossFromName(std::string_view text) { return valueFromName(lossNames, "loss", text); }
InitScheme initSchemeFromName(std::string_view text) { return valueFromName(initNames, "init scheme", text); }

} // namespace lockstep
