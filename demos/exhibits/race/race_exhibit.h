// Exhibit: the same training on several machines, side by side or in turn.
#pragma once

#include <future>
#include <memory>
#include <optional>

#include "demos/options/run_options.h"
#include "demos/shell/exhibit.h"
#include "engine/train/race.h"

namespace lockstep::demos {

class RaceExhibit : public Exhibit {
  public:
    std::string_view id() const override { return "race"; }
    const char* title() const override { return "Race"; }
    const char* blurb() const override { return "The same training on processor and graphics card"; }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override;

    void update(Ui& ui) override;
    void draw(Ui& ui) override;
    void drawDetails(Ui& ui) override;

    bool running() const override { return race_ != nullptr && !over_ && !paused_; }
    void run(Ui& ui) override;
    void pause() override;
    bool canStep(StepUnit) const override { return false; }
    void step(Ui&, StepUnit) override {}
    void reset(Ui& ui) override;
    void reroll(Ui& ui) override;

    nlohmann::ordered_json state() const override { return nlohmann::ordered_json::object(); }
    void setState(Ui&, const nlohmann::ordered_json&) override {}
    void releaseDevice() override;

  private:
    void begin(Ui& ui);

    RunOptions options_;
    Dataset data_;
    std::unique_ptr<Race> race_;
    bool paused_ = false;
    bool over_ = false;
};

} // namespace lockstep::demos
