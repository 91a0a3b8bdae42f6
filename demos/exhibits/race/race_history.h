// The races of this start of the program: what is kept of each to list it and to draw its curves again, in
// memory and in state files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/exhibits/race/race_settings.h"

namespace lockstep::demos {

struct RaceRun;

inline constexpr std::size_t mostPastRuns = 20;

/// Samples in ascending order; all three have the same length.
struct RunCurve {
    std::vector<double> step;
    std::vector<double> seconds; ///< of training
    std::vector<double> value;
};

struct PastLane {
    LaneSpec spec;
    double rate = 0;     ///< samples per second
    RunCurve losses;     ///< on the training batches
    RunCurve accuracies; ///< on the test examples, in percent
};

/// What is kept of a race.
struct PastRun {
    std::uint64_t number = 0; ///< counted from 1
    RaceSettings settings;
    std::string result; ///< "CPU 3.5× faster", or why there is no comparison
    std::string note;   ///< typed by a person
    std::vector<PastLane> lanes;
};

/// The lanes as they are, also while they run.
std::vector<PastLane> pastLanes(const RaceRun& run);
PastRun pastRun(const RaceRun& run);

/// The runs with their settings and results, their curves cut to 256 samples each.
nlohmann::ordered_json historyJson(std::span<const PastRun> runs);
/// Throws std::invalid_argument naming the entry and the field.
std::vector<PastRun> historyFromJson(const nlohmann::ordered_json& json);

/// Which runs a person has picked for the curves.
struct RunPick {
    std::uint64_t front = 0;             ///< 0: the race that is shown, or else the last one
    std::optional<std::uint64_t> behind; ///< 0: none; empty: the run before the one in front
};

struct PickedRuns {
    const PastRun* front = nullptr; ///< null: the race that is shown
    const PastRun* behind = nullptr;
};

/// Where a person has picked none behind, the last one before the front on the same data.
///   current   the number of the race that is shown; 0: there is none
///   data      that race's data set; empty: as `runs` have it, or any
PickedRuns pickedRuns(std::span<const PastRun> runs, const RunPick& pick, std::uint64_t current,
                      std::string_view data = {});

} // namespace lockstep::demos
