// The ladder: the same training step on every rung, from one invocation at a time to the fastest kernels.
#pragma once

#include <string>

#include "demos/draw/plot.h"
#include "demos/exhibits/ladder/access_view.h"
#include "demos/exhibits/ladder/crossover.h"
#include "demos/exhibits/ladder/ladder_model.h"
#include "demos/exhibits/ladder/rung_charts.h"
#include "demos/exhibits/ladder/source_diff.h"
#include "demos/kit/exhibit.h"

namespace lockstep::demos {

class LadderExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "ladder"; }
    const char* title() const override { return "Ladder"; }
    const char* blurb() const override { return "From one invocation to all of the device"; }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override;

    void update(Ui& ui) override;
    void draw(Ui& ui) override;
    void drawDetails(Ui& ui) override;
    void drawMenu(Ui& ui) override;

    bool running() const override { return model_.running(); }
    void run(Ui&) override { model_.run(); }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit == StepUnit::batch; }
    void step(Ui& ui, StepUnit unit) override;
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui& ui) override;
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    bool moving() const override { return running() || model_.busy() || access_.playing(); }

    nlohmann::ordered_json state() const override;
    std::function<void()> readState(const nlohmann::ordered_json& state) override;
    bool dropFile(Ui& ui, const std::filesystem::path& file) override;
    std::string releaseDevice() override;

  private:
    enum class Tab : std::size_t { training, memory, source, roofline, crossover, rungs };
    static constexpr std::size_t wideTabs = 5; ///< of these; the rungs stand beside them

    void drawSettings(Ui& ui);
    void drawMeasuring(Ui& ui);
    void drawRungs(Ui& ui);
    void drawIdea(Ui& ui);
    void drawTabs(Ui& ui, bool wide);
    void drawTraining(Ui& ui);
    void drawRoofline(Ui& ui);
    std::string deviceText() const;

    LadderModel model_;
    AccessView access_;
    SourceDiffView source_;
    Plot lossPlot_;
    RooflineView roofline_;
    CrossoverView crossover_;
    Tab tab_ = Tab::training;
    bool answerShown_ = false;
};

} // namespace lockstep::demos
