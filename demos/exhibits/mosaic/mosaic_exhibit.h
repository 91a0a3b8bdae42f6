// The mosaic: thousands of networks learn the same data, all at once on one side, one after another on the
// other.
#pragma once

#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/kit/exhibit.h"

namespace lockstep::demos {

class MosaicExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "mosaic"; }
    const char* title() const override { return "Mosaic"; }
    const char* blurb() const override { return "A thousand networks at once"; }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override;

    void update(Ui& ui) override;
    void draw(Ui& ui) override;
    void drawDetails(Ui& ui) override;
    void drawMenu(Ui& ui) override;

    bool running() const override { return model_.running(); }
    std::uint64_t trainedExamples() const override;
    void run(Ui&) override { model_.run(); }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit != StepUnit::kernel; }
    void step(Ui& ui, StepUnit unit) override;
    void reset(Ui& ui) override;
    void reroll(Ui& ui) override;
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    bool moving() const override;

    nlohmann::ordered_json state() const override;
    std::function<void()> readState(const nlohmann::ordered_json& state) override;
    std::string releaseDevice() override;

  private:
    MosaicPanel panel(Ui& ui) { return {ui, model_, view_, pictures_, pictures_.scale()}; }
    void arrange(Ui& ui);
    void flyBest(Ui& ui);
    void change(const MosaicSettings& wanted);
    void drawWide(Ui& ui);
    void drawPages(Ui& ui);
    void drawSides(Ui& ui, ImVec2 size);
    void drawSummary(Ui& ui, float height);

    MosaicModel model_;
    MosaicView view_;
    MosaicPictures pictures_;
    Plot plot_;
    std::optional<bool> dark_; ///< of the tiles' colours
};

} // namespace lockstep::demos
