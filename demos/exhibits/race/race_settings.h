// What a person sets for a race, as a value, as JSON and as a form.
#pragma once

#include <future>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/run_form.h"
#include "demos/kit/run_settings.h"

namespace lockstep::demos {

struct RaceSettings {
    RunOptions run;
    bool together = false;  ///< head to head; else a time trial
    std::size_t repeat = 1; ///< runs, one after the other, at most mostRepeats
};

/// Equal in everything that toJson() writes.
bool operator==(const RaceSettings& a, const RaceSettings& b);

/// The fields of the run's JSON, "finish", "together", "repeat", and "threads" and "gpu_workgroups" (0: no
/// limit). `finish` is null where it is left to the data.
nlohmann::ordered_json toJson(const RaceSettings& settings);
/// Missing fields have the values of the first start. Throws std::invalid_argument naming the field.
RaceSettings raceSettingsFromJson(const nlohmann::ordered_json& json);

/// The lanes that a race with these settings is meant to have.
std::vector<LaneSpec> plannedLanes(const RaceSettings& settings);
/// The settings in one line.
std::string setupText(const RaceSettings& settings);

/// The form: data, network, training, finish line, lanes.
class RaceSetup {
  public:
    /// A typed text that makes no sense becomes a message.
    ///   table   how the settings' table is understood
    void draw(Ui& ui, RaceSettings& settings, const std::vector<std::string>& table);

  private:
    std::vector<std::string> lanes_; // that can be chosen
    std::future<std::vector<std::string>> devices_;
};

} // namespace lockstep::demos
