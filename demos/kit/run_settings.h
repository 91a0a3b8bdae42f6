// What an exhibit trains, as a person sets it: one value (RunOptions), one set of limits, one JSON, one
// loader.
#pragma once

#include <cstddef>
#include <future>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "demos/options/run_options.h"

namespace lockstep::demos {

/// The largest values that forms offer and state files may hold.
struct RunLimits {
    std::size_t layers = 64; ///< hidden ones
    std::size_t width = 65000;
    std::size_t batch = 65536;
};
/// For exhibits that draw every layer.
inline constexpr RunLimits drawnLimits{.layers = 8, .width = 4096};

inline constexpr double mostNoise = 0.8; ///< of generated points
inline constexpr std::size_t mostLanes = 6;

/// Throws std::invalid_argument naming the field that exceeds its limit.
void validate(const RunOptions& run, const RunLimits& limits = {});

/// {"data", "data_options", "hidden", "activation", "output_activation", "loss", "init", "settings",
/// "lanes"}: `hidden` and `loss` are null, and `lanes` is empty, where the choice is left to the data and the
/// machine.
nlohmann::ordered_json toJson(const RunOptions& run);

/// Reads the settings over `usual`; missing fields, inside "settings" and "data_options" too, keep their
/// usual values. Also reads the shapes of older state files: "train" in place of "settings", or its fields
/// "optimizer", "batch" and "seed" beside the others.
/// exhibit   whose state it is, for messages
/// own       further fields of that state, which the exhibit reads itself
/// Throws std::invalid_argument naming the field that is unknown or wrong.
RunOptions runFromJson(const nlohmann::ordered_json& json, RunOptions usual, std::string_view exhibit,
                       std::span<const std::string_view> own, const RunLimits& limits = {});

/// TrainSettings from an object that may name some of the fields only. Another optimizer than `usual`'s
/// brings its own rate and weight decay.
TrainSettings trainSettingsOver(TrainSettings usual, const nlohmann::ordered_json& json);

/// Equal in everything that toJson() writes, with rate and weight decay as they take effect.
bool operator==(const RunOptions& a, const RunOptions& b);

/// The data and its options as a text: equal for the same data.
std::string dataKey(const RunOptions& run);

/// Whether the file's name is that of a table: .csv, .tsv, .tab, .data, .txt, also with .gz behind it.
bool isTableFile(const std::filesystem::path& file);

/// Sets the data to a dropped table. A small one is read at once, so that an invalid file changes nothing;
/// where only missing cells are in the way, they are filled in by the means of their columns. Returns a
/// sentence about that, and where it can be changed; empty otherwise. Throws what is wrong with the table.
std::string takeDroppedFile(RunOptions& run, const std::filesystem::path& file);

/// Loads a data set on a thread of its own, once for as long as it stays the same.
class DataLoader {
  public:
    /// The data of `run`; null while they are being loaded. Waits for them with `wait`. Throws what is wrong
    /// with them.
    std::shared_ptr<const Dataset> get(const RunOptions& run, bool wait);

  private:
    std::shared_ptr<const Dataset> data_;
    std::string key_; // of data_
    std::string loadingKey_;
    std::future<std::shared_ptr<const Dataset>> loading_;
};

} // namespace lockstep::demos
