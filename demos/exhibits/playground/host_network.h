// The network once more on the host, by the engine's plain loops: numbers for hovering, gradients for
// histograms, heights for the surface. Small amounts only; pictures come from the card.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/net/batch_order.h"
#include "engine/net/dataset.h"
#include "engine/net/param_layout.h"

namespace lockstep::demos {

/// One layer's values for some rows: value(row, neuron).
struct LayerValues {
    std::size_t width = 0;
    std::size_t stride = 0;
    std::vector<float> data;

    float at(std::size_t row, std::size_t neuron) const { return data[row * stride + neuron]; }
};

/// All layers' values, [0] the inputs, for `inputs` [rows][shape.inputs()]. The last layer's are as the
/// network gives them, before any softmax or sigmoid of the loss.
std::vector<LayerValues> forward(const NetShape& shape, std::span<const float> parameters,
                                 std::span<const float> inputs, std::size_t rows);

/// What an answer means: class probabilities where the loss has them, else the outputs. In place.
void toAnswer(Loss loss, std::span<float> outputs);

/// The loss's gradient for the first `rows` examples of the step's batch, in the parameters' layout.
std::vector<float> gradient(const NetShape& shape, std::span<const float> parameters, const Dataset& data,
                            const BatchOrder& order, std::uint64_t step, std::size_t rows);

} // namespace lockstep::demos
