// The panels of the race: lanes as cards, and the views below them.
#pragma once

#include <memory>
#include <span>

#include "demos/draw/icons.h"
#include "demos/draw/picture.h"
#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_replay.h"
#include "demos/exhibits/race/race_words.h"

namespace lockstep::demos {

/// Lane `index` of several: its machine's colour, the second lane of a machine a shade nearer to the text.
ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index);

/// The lanes of `run`: as they are, or where `replay` shows them.
void drawLanes(Ui& ui, const RaceRun& run, const RaceReplay& replay);
/// Lanes at the start, `height` pixels high in total, if they need no more.
void drawStartingLanes(Ui& ui, std::span<const LaneSpec> specs, float height);

class RaceCurves {
  public:
    /// `earlier` is drawn faintly behind; null: there is none.
    void draw(Ui& ui, const RaceRun* run, const RaceRecord* earlier, ImVec2 size);

    /// {"by": "step" or "seconds", "show": "train_loss" or "test_accuracy", "plot": ...}
    nlohmann::ordered_json state() const;
    /// Missing fields are as at the first start. Throws std::invalid_argument naming the field.
    void setState(const nlohmann::ordered_json& state);

  private:
    std::size_t by_ = 0;   // step, seconds
    std::size_t show_ = 0; // train loss, test accuracy
    Plot plot_;
};

/// Where each lane spends its time. `scale`: 0 its share of the time, 1 the time per step.
void drawTimes(Ui& ui, const RaceRun& run, std::size_t& scale);

class RaceAnswers {
  public:
    static constexpr std::size_t images = 24;

    /// Whether a person has just asked for something else to be shown.
    bool draw(Ui& ui, const RaceRun* run, ImVec2 size);
    /// What has to be asked of the lanes to show this. Takes the wish for an evaluation.
    ProbeWish wish(const RaceRun& run);
    /// Gives up the picture of the images.
    void release() {
        sheet_.reset();
        sheetData_.reset();
    }

  private:
    void drawImages(Ui& ui, const RaceRun& run, ImVec2 size);
    void showSheet(Ui& ui, const RaceRun& run);
    void drawConfusion(Ui& ui, const RaceRun& run, ImVec2 size) const;

    std::size_t lane_ = 0;
    std::size_t view_ = 0;                     // images, confusion matrix
    std::size_t first_ = 0;                    // of the test split's images
    bool evaluate_ = false;                    // asked for
    std::unique_ptr<Picture> sheet_;           // the images, one below the other
    std::shared_ptr<const Dataset> sheetData_; // that sheet_ shows
    std::size_t sheetFirst_ = 0;
};

void drawResult(Ui& ui, const RaceRun& run);

} // namespace lockstep::demos
