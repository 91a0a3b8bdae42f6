// Inside a step: one training step of both machines, operation by operation.
#pragma once

#include <algorithm>
#include <string>

#include "demos/exhibits/inside/inside_model.h"
#include "demos/exhibits/inside/source_view.h"
#include "demos/exhibits/inside/tensor_gallery.h"
#include "demos/exhibits/inside/timeline.h"
#include "demos/kit/exhibit.h"

namespace lockstep::demos {

class InsideExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "inside"; }
    const char* title() const override { return "Inside a step"; }
    const char* blurb() const override { return "One training step, operation by operation"; }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override;

    void update(Ui& ui) override;
    void draw(Ui& ui) override;
    void drawDetails(Ui& ui) override;
    void drawMenu(Ui& ui) override;

    bool running() const override { return model_.running(); }
    void run(Ui&) override {
        playing_ = false;
        model_.run();
    }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit != StepUnit::epoch; }
    void step(Ui& ui, StepUnit unit) override;
    void reset(Ui&) override {
        toFirst();
        model_.reset();
    }
    void reroll(Ui&) override {
        toFirst();
        model_.reroll();
    }
    void setSpeed(Speed speed) override {
        constexpr double steady = 4;   // as often as a person can follow
        constexpr double fastest = 20; // a picture per step: more could not be seen
        model_.setRate(speed <= 0 ? steady : std::min(speed, fastest));
    }
    bool moving() const override { return running() || playing_ || model_.busy(); }

    nlohmann::ordered_json state() const override;
    std::function<void()> readState(const nlohmann::ordered_json& state) override;
    bool dropFile(Ui& ui, const std::filesystem::path& file) override;
    std::string releaseDevice() override;

  private:
    enum class Tab : std::size_t { tensors, source, network };
    /// Low (a presenter's large letters): the tabs stand beside the player, all the rest is the tensors'.
    enum class Layout { roomy, narrow, low };

    /// All of the view that a person sets.
    struct View {
        OperationAt selected{1, 1}; ///< of the GPU, its first product
        Tab tab = Tab::tensors;
        float slowSpeed = 2; ///< operations per second of slow motion
        bool settingsShown = true;
    };

    void drawSettings(Ui& ui);
    void change(const RunOptions& settings);
    void drawTimeline(Ui& ui);
    void explainTimeline(Ui& ui) const;
    void drawPlayer(Ui& ui, Layout layout);
    void drawBottom(Ui& ui, Layout layout);
    void drawNetAndFormula(Ui& ui);
    void drawNameAndTime(Ui& ui);
    void drawFormulaBeside(Ui& ui);
    void chooseTab(Ui& ui);
    void drawTabs(Ui& ui, Layout layout);
    void drawLegend(Ui& ui);
    Detail detailOf(Ui& ui, OperationAt at) const;
    std::string formula(const TracedOperation& shown) const;
    void toFirst();
    void moveSelection(std::ptrdiff_t by);
    void tellOfTrials(Ui& ui);
    TimelineRows rows() const;
    const TracedOperation* operation(OperationAt at) const;
    const TracedOperation* selected() const { return operation(view_.selected); }

    InsideModel model_;
    View view_;
    Timeline timeline_;
    TensorGallery tensors_;
    SourceView source_;
    bool playing_ = false;
    bool startOver_ = false; ///< the next step's trace is looked at from its first operation
    double played_ = 0;      ///< share of the selected operation that slow motion has shown
    std::uint64_t seenRevision_ = 0;
    std::uint64_t seenTrials_ = 0; ///< of changed shaders
};

} // namespace lockstep::demos
