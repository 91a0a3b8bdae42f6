// The settings of a race as a form: data, network, training, finish line, lanes.
#pragma once

#include <future>
#include <string>
#include <vector>

#include "demos/exhibits/race/race_settings.h"
#include "demos/kit/run_form.h"

namespace lockstep::demos {

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
