// Exhibit: the map. Every pixel is a network, and its colour how the training ended.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "demos/draw/plot.h"
#include "demos/exhibits/map/map_lane.h"
#include "demos/exhibits/map/map_model.h"
#include "demos/exhibits/map/map_pane.h"
#include "demos/kit/exhibit.h"

namespace lockstep::demos {

class MapExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "map"; }
    const char* title() const override { return "Map"; }
    const char* blurb() const override { return "Every pixel is a network: does it learn?"; }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override;

    void update(Ui& ui) override;
    void draw(Ui& ui) override;
    void drawDetails(Ui& ui) override;
    void drawMenu(Ui& ui) override;

    bool running() const override { return model_.running(); }
    std::uint64_t trainedExamples() const override { return model_.trainedExamples(); }
    bool moving() const override;
    void run(Ui&) override { model_.run(); }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit == StepUnit::batch; }
    void step(Ui& ui, StepUnit unit) override;
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui& ui) override;
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    void travel(Ui& ui, Travel travel) override;

    nlohmann::ordered_json state() const override;
    std::function<void()> readState(const nlohmann::ordered_json& state) override;
    std::string releaseDevice() override;

  private:
    MakeMapTrainer maker(Ui& ui, const MapJob& job, MapMachine machine) const;
    const MapPane* hoveredPane() const;
    std::optional<std::uint32_t> hovered() const;
    std::uint32_t probed() const;
    void look(Ui& ui, const MapWindow& window);
    void move(Ui& ui, double columns, double rows);

    void drawSettings(Ui& ui);
    void drawPreset(Ui& ui, MapSettings& settings);
    void drawTravel(Ui& ui, bool withSettings);
    void drawBookmarks(Ui& ui);
    void drawSaving(Ui& ui);
    void drawProgress(Ui& ui);
    void drawPanes(Ui& ui, float height);
    void drawLegend(Ui& ui) const;
    static float remarkLines(const Ui& ui);
    void drawRemark(Ui& ui);
    std::string remark(const Ui& ui);
    void startSaving(Ui& ui);

    MapModel model_;
    std::array<MapPane, 2> panes_{MapPane(MapMachine::gpu), MapPane(MapMachine::cpu)};
    MapProbe probe_;
    MapExport export_;
    Plot lossPlot_;
    std::string bookmarkName_; ///< as it is being typed
    std::string pictureSize_ = "2048x2048";
    std::string pictureFile_ = "lockstep-map.png";
};

} // namespace lockstep::demos
