// Exhibit: a small network that learns points of the plane, with everything about it to be seen and changed.
#pragma once

#include "demos/exhibits/playground/playground_view.h"
#include "demos/kit/exhibit.h"

namespace lockstep::demos {

class PlaygroundExhibit : public Exhibit {
  public:
    std::string_view id() const override { return "playground"; }
    const char* title() const override { return "Playground"; }
    const char* blurb() const override { return "A small network learns points of the plane"; }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override;

    void update(Ui& ui) override;
    void draw(Ui& ui) override;
    void drawDetails(Ui& ui) override;
    void drawMenu(Ui& ui) override;

    bool running() const override { return model_.running(); }
    std::uint64_t trainedExamples() const override { return model_.laneSnapshot().examples; }
    bool moving() const override { return model_.busy() || view_.sampler.busy() || pictures_.busy(); }
    void run(Ui& ui) override;
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override;
    void step(Ui& ui, StepUnit unit) override;
    void reset(Ui& ui) override;
    void reroll(Ui& ui) override;
    void setSpeed(Speed stepsPerSecond) override { model_.setSpeed(stepsPerSecond); }

    nlohmann::ordered_json state() const override;
    std::function<void()> readState(const nlohmann::ordered_json& state) override;
    bool takeDigit(int digit) override;
    bool dropFile(Ui& ui, const std::filesystem::path& file) override;
    std::string releaseDevice() override;

  private:
    void renewPictures(Ui& ui);
    PlaygroundParts parts(Ui& ui) { return {ui, model_, view_, pictures_}; }
    void drawWide(Ui& ui);
    void drawPages(Ui& ui);
    void drawLower(Ui& ui);
    void drawCurves(Ui& ui);
    void drawFailure(Ui& ui);

    PlaygroundModel model_;
    PlaygroundView view_;
    PlanePictures pictures_;
    Plot plot_;
    bool told_ = false; // of the failure
};

} // namespace lockstep::demos
