// Where a loss became non-finite: the failed step is repeated with the plain loops, and every value is
// checked.
#include "engine/run/trainer.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

namespace {

/// Gathers the failed step's batch and runs the network forward with plain loops.
class Autopsy {
  public:
    Autopsy(const TrainJob& job, std::uint64_t step, std::span<const float> parameters, float largest)
        : largest_(largest), data_(*job.data), shape_(job.shape), layout_(job.shape), parameters_(parameters),
          order_(job.order()), batch_(order_.range(step)), values_(batch_.rows * roundUpToFour(data_.inputs)),
          targets_(batch_.rows * data_.targetWidth) {
        plain::gatherBatch(data_, data_.train, order_, batch_, 0, batch_.rows, roundUpToFour(data_.inputs),
                           values_.data(), targets_.data());
    }

    /// Checks the data, then all weights from the first layer up, then the layers' outputs, so that the first
    /// cause is found before its consequences.
    std::string findPlace() {
        if (auto place = badExample()) return *place;
        if (auto place = badWeights()) return *place;
        if (auto place = badOutputs()) return *place;
        return "the loss";
    }

  private:
    bool allFinite(std::span<const float> values) const { // false for NaN
        return std::ranges::all_of(values, [&](float value) { return std::abs(value) <= largest_; });
    }

    std::optional<std::string> badExample() const {
        const std::size_t stride = roundUpToFour(data_.inputs);
        for (std::size_t row = 0; row < batch_.rows; ++row) {
            const std::string example =
                " of example " + std::to_string(order_.example(batch_.epoch, batch_.first + row));
            if (!allFinite({values_.data() + row * stride, data_.inputs})) return "the inputs" + example;
            if (!targetsFinite(row)) return "the targets" + example;
        }
        return std::nullopt;
    }

    bool targetsFinite(std::size_t row) const {
        if (data_.classes > 0) return true;
        const auto words = std::span(targets_).subspan(row * data_.targetWidth, data_.targetWidth);
        return std::ranges::all_of(words,
                                   [](TargetWord word) { return std::isfinite(std::bit_cast<float>(word)); });
    }

    std::optional<std::string> badWeights() const {
        for (std::size_t layer = 0; layer < layout_.layers(); ++layer) {
            const LayerLayout& place = layout_.layer(layer);
            if (!allFinite(parameters_.subspan(place.weightOffset, place.weightCount())))
                return layerName(layer) + ": its weights";
            if (!allFinite(parameters_.subspan(place.biasOffset, place.biasCount())))
                return layerName(layer) + ": its biases";
        }
        return std::nullopt;
    }

    std::optional<std::string> badOutputs() {
        for (std::size_t layer = 0; layer < layout_.layers(); ++layer) {
            const LayerLayout& place = layout_.layer(layer);
            const DenseShape dense{batch_.rows, place.inputs, place.outputs, place.rowStride,
                                   roundUpToFour(place.outputs)};
            std::vector<float> outputs(batch_.rows * dense.outputStride);
            plain::dense<float>(dense, values_.data(), parameters_.data() + place.weightOffset,
                                parameters_.data() + place.biasOffset, shape_.activationOf(layer),
                                outputs.data(), nullptr);
            if (!allFinite(outputs)) return layerName(layer) + ": its outputs";
            values_ = std::move(outputs);
        }
        return std::nullopt;
    }

    std::string layerName(std::size_t layer) const {
        return "layer " + std::to_string(layer + 1) + " (" + std::to_string(shape_.widths[layer]) + " -> " +
               std::to_string(shape_.widths[layer + 1]) + ")";
    }

    const float largest_; ///< largest value that the lane's numbers can hold
    const Dataset& data_;
    const NetShape& shape_;
    const ParamLayout layout_;
    const std::span<const float> parameters_;
    const BatchOrder order_;
    const BatchRange batch_;
    std::vector<float> values_; ///< inputs of the current layer, [rows][stride]
    std::vector<TargetWord> targets_;
};

std::string sixDigits(double value) {
    char text[32];
    std::snprintf(text, sizeof(text), "%g", value);
    return text;
}

} // namespace

NonFiniteError explainNonFinite(const TrainJob& job, std::uint64_t step, std::span<const float> parameters,
                                float largest) {
    const std::string where = Autopsy(job, step, parameters, largest).findPlace();
    const bool fromData = where.find("of example") != std::string::npos;
    const std::string hint = fromData ? "correct or remove that example"
                                      : "the learning rate at this step was " +
                                            sixDigits(learningRate(job.settings.optimizer, step)) +
                                            "; go back to an earlier state and try a tenth of it";
    return NonFiniteError(step, where,
                          "training stopped at step " + std::to_string(step) +
                              ": the loss is not a finite number, and the first place that is not" +
                              (largest < std::numeric_limits<float>::max()
                                   ? ", or is beyond " + sixDigits(static_cast<double>(largest)) +
                                         ", the largest number of half precision,"
                                   : "") +
                              " is " + where + "; " + hint);
}

} // namespace lockstep
