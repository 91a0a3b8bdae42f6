// Both lanes' curves in one plot: by step they lie on one another, by seconds they come apart.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

class RaceCurves {
  public:
    /// `earlier` is drawn faintly behind; null: there is none.
    void draw(Ui& ui, const RaceRun* run, const RaceRun* earlier, ImVec2 size);

    /// {"by": "step" or "seconds", "show": "train_loss" or "test_accuracy", "plot": ...}
    nlohmann::ordered_json state() const;
    /// Missing fields are as at the first start. Throws std::invalid_argument naming the field.
    void setState(const nlohmann::ordered_json& state);

  private:
    struct Curve {
        std::vector<double> x;
        std::vector<double> y;
    };
    void drawSwitches(Ui& ui, const RaceRun* run);
    void gather(const RaceRun& run, std::size_t lane, Curve& curve) const;
    void addLines(Ui& ui, const RaceRun& run, bool faint, std::vector<Curve>& curves,
                  std::vector<PlotLine>& lines) const;

    std::size_t by_ = 0;   // step, seconds
    std::size_t show_ = 0; // train loss, test accuracy
    Plot plot_;
    std::vector<Curve> now_;
    std::vector<Curve> before_;
};

/// "same mathematics: ...", in green with a tick, or what differs, in red with a cross. Nothing before two
/// lanes can be compared.
void drawAgreement(Ui& ui, const RaceRun& run);

} // namespace lockstep::demos
