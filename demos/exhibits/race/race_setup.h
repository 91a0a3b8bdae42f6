// What a race is made of, to be set: data, network, training, finish line, lanes.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_settings.h"

namespace lockstep::demos {

class FieldFlow;

class RaceSetup {
  public:
    /// A card with all controls. A text that means nothing becomes a message and is put back.
    void draw(Ui& ui, RaceSettings& settings);
    /// Texts are read anew from the settings: they were changed elsewhere.
    void refresh() { fresh_ = true; }

  private:
    void drawData(Ui& ui, FieldFlow& flow, RunOptions& run);
    void drawNetwork(Ui& ui, FieldFlow& flow, RunOptions& run);
    void drawTraining(Ui& ui, FieldFlow& flow, RunOptions& run);
    void drawFinish(Ui& ui, FieldFlow& flow, RaceSettings& settings);
    void drawLanes(Ui& ui, FieldFlow& flow, RunOptions& run);
    void readTexts(const RunOptions& run);
    void findDevices(bool wait);

    bool fresh_ = true;
    std::string layers_;
    std::string seed_;
    std::string finish_;
    std::vector<std::string> lanes_; // that can be chosen
    std::future<std::vector<std::string>> devices_;
};

/// The settings in a line, as far as they are said.
std::string setupText(const RaceSettings& settings);
/// The lanes a race with these settings is meant to have.
std::vector<LaneSpec> plannedLanes(const RaceSettings& settings);

} // namespace lockstep::demos
