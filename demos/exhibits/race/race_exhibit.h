// Exhibit: the same training on several machines, side by side or in turn.
#pragma once

#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_settings.h"
#include "demos/exhibits/race/race_views.h"
#include "demos/kit/exhibit.h"

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

    bool running() const override { return model_.running(); }
    std::uint64_t trainedExamples() const override;
    void run(Ui& ui) override;
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit != StepUnit::kernel; }
    void step(Ui& ui, StepUnit unit) override;
    void reset(Ui& ui) override;
    void reroll(Ui& ui) override;
    void setSpeed(Speed speed) override { model_.setSpeed(speed); }

    nlohmann::ordered_json state() const override;
    std::function<void()> readState(const nlohmann::ordered_json& state) override;
    bool dropFile(Ui& ui, const std::filesystem::path& file) override;
    std::string releaseDevice() override;
    bool moving() const override { return running() || model_.busy(); }

  private:
    void drawHeadline(Ui& ui);
    void drawSetup(Ui& ui);
    void drawViews(Ui& ui);
    void probe(Ui& ui);
    void notice(Ui& ui);

    RaceModel model_;
    RaceSetup setup_;
    RaceCurves curves_;
    RaceTimes times_;
    RaceAnswers answers_;
    std::size_t view_ = 0;
    bool setupOpen_ = true;
    bool viewChosen_ = false; // by a person, for this race
    bool wasOver_ = false;
    std::uint64_t noticed_ = 0; // number of the race that the messages are about; 0: none
    double nextProbe_ = 0;
};

} // namespace lockstep::demos
