// What is trained and traced in "Inside a step", and the same as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/net/dataset.h"
#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

struct InsideSettings {
    static constexpr std::size_t mostLayers = 8;
    static constexpr std::size_t widest = 4096;
    static constexpr std::size_t mostBatch = 65536;

    std::string data = "fashion-mnist";
    std::vector<std::size_t> hidden{256, 128};
    Activation activation = Activation::relu;
    Optimizer optimizer = Optimizer::adam;
    std::size_t batch = 128;
    std::uint64_t seed = 1;
    /// CPU, and GPU: what every device has and what keeps all tensors (best may fold operations together).
    std::array<LaneSpec, 2> lanes{LaneSpec{false, Rung::best, {}}, LaneSpec{true, Rung::blocked, {}}};

    /// Throws std::invalid_argument naming what makes no sense.
    void validate() const;
    /// Reads the data, as the command line does. Throws what is wrong with it.
    Dataset load() const;
    /// `data` has to outlive the job.
    TrainJob job(const Dataset& data) const;

    bool operator==(const InsideSettings&) const = default;
};

/// {"data", "hidden", "activation", "optimizer", "batch", "seed", "cpu", "gpu"}.
nlohmann::ordered_json toJson(const InsideSettings& settings);
/// What is missing is as at the first start. Throws std::invalid_argument naming the field.
InsideSettings insideSettingsFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep::demos
