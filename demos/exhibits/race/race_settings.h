// What a person sets for a race, the same as JSON, and its finish line as a kind and a number.
#pragma once

#include <future>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/run_form.h"
#include "demos/kit/run_settings.h"

namespace lockstep::demos {

struct RaceSettings {
    RunOptions run;
    bool together = false; ///< head to head; else a time trial
};

/// The fields of the run's JSON, "finish" and "together". `finish` is null where it is left to the data.
nlohmann::ordered_json toJson(const RaceSettings& settings);
/// Missing fields have the values of the first start. Throws std::invalid_argument naming the field.
RaceSettings raceSettingsFromJson(const nlohmann::ordered_json& json);

/// The lanes that a race with these settings is meant to have.
std::vector<LaneSpec> plannedLanes(const RaceSettings& settings);
/// The settings in one line.
std::string setupText(const RaceSettings& settings);

enum class FinishKind { usual, epochs, steps, seconds, accuracy, loss };

/// "automatic", "epochs", ...: in the order of FinishKind.
std::span<const std::string> finishKindNames();
FinishKind finishKind(const FinishLine& line);
/// What stands above the number: "Epochs", "At least".
const char* finishUnit(FinishKind kind);
/// A line of that kind to begin with.
FinishLine usualFinish(FinishKind kind);
/// Throws std::invalid_argument for a text that is not such a number.
FinishLine finishFromText(FinishKind kind, const std::string& text);
/// The number: "10", "85%".
std::string finishValueText(const FinishLine& line);

/// The form: data, network, training, finish line, lanes.
class RaceSetup {
  public:
    /// A typed text that makes no sense becomes a message.
    void draw(Ui& ui, RaceSettings& settings);

  private:
    void findDevices(bool wait);

    std::vector<std::string> lanes_; // that can be chosen
    std::future<std::vector<std::string>> devices_;
};

} // namespace lockstep::demos
