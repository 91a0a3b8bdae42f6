// What is trained on every rung, and the same as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "engine/net/dataset.h"
#include "engine/run/trainer.h"

namespace lockstep::demos {

struct LadderSettings {
    static constexpr std::size_t mostLayers = 8;
    static constexpr std::size_t widest = 4096;
    static constexpr std::size_t mostBatch = 65536;

    std::string data = "fashion-mnist";
    std::vector<std::size_t> hidden{256, 128};
    Optimizer optimizer = Optimizer::sgd;
    std::size_t batch = 128;
    std::uint64_t seed = 1;

    /// Throws std::invalid_argument naming what makes no sense.
    void validate() const;
    /// Reads the data, as the command line does. Throws what is wrong with it.
    Dataset load() const;
    /// `data` has to outlive the job.
    TrainJob job(const Dataset& data) const;

    bool operator==(const LadderSettings&) const = default;
};

/// {"data", "hidden", "optimizer", "batch", "seed"}.
nlohmann::ordered_json toJson(const LadderSettings& settings);
/// What is missing is as at the first start. Throws std::invalid_argument naming the field.
LadderSettings ladderSettingsFromJson(const nlohmann::ordered_json& json);

} // namespace lockstep::demos
