// The panels of the race: lanes as cards, and the views below them.
#pragma once

#include <memory>
#include <span>

#include "demos/draw/icons.h"
#include "demos/draw/picture.h"
#include "demos/draw/plot.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/own_input.h"
#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_replay.h"
#include "demos/exhibits/race/race_words.h"

namespace lockstep::demos {

/// Lane `index` of several: its machine's colour, the second lane of a machine a shade nearer to the text.
ImU32 laneColour(const Ui& ui, std::span<const LaneSpec> lanes, std::size_t index);

/// Continues the line of the item before with what is `width` pixels wide, or begins a new line. False then.
bool continueLine(Ui& ui, float width);
/// The width that segments with these names take.
float segmentsWidth(const Ui& ui, std::span<const std::string> names);
/// Why the processor won, if it did.
inline std::string whyText(const Ui& ui, const RaceRun& run) {
    const std::string why = whyTheProcessorWins(run);
    return why.empty() ? why : ui.timing(why);
}

/// The lanes of `run`: as they are, or where `replay` shows them.
void drawLanes(Ui& ui, const RaceRun& run, const RaceReplay& replay);
/// Lanes at the start, `height` pixels high in total, if they need no more.
void drawStartingLanes(Ui& ui, std::span<const LaneSpec> specs, float height);

class RaceCurves {
  public:
    /// Down to `below` pixels above the window's edge; the choices stand beside the item before, if they fit.
    /// run      the race that is shown; null: there is none
    /// picked   what is drawn in its place and, faintly, behind
    void draw(Ui& ui, const RaceRun* run, const PickedRuns& picked, float below = 0);

    /// {"by": "step" or "seconds", "show": "train_loss" or "test_accuracy", "plot": ...}
    nlohmann::ordered_json state() const;
    /// Missing fields are as at the first start. Throws std::invalid_argument naming the field.
    void setState(const nlohmann::ordered_json& state);

  private:
    void drawChoices(Ui& ui, bool beside);

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
    /// Asks the networks about a picture of the user's own. Throws if the data are not images.
    void takePicture(const RaceRun& run, const Pixels& pixels);
    /// What has to be asked of the lanes to show this. Takes the wish for an evaluation.
    ProbeWish wish(const RaceRun& run);
    /// Gives up the pictures on the device.
    void release() {
        sheet_.reset();
        sheetData_.reset();
        ownPicture_.reset();
    }

  private:
    void drawImages(Ui& ui, const RaceRun& run, ImVec2 size);
    void showSheet(Ui& ui, const RaceRun& run);
    void drawConfusion(Ui& ui, const RaceRun& run, ImVec2 size) const;
    bool drawOwn(Ui& ui, const RaceRun& run);
    void showOwnPicture(Ui& ui, const Dataset& data);

    std::size_t lane_ = 0;
    std::size_t view_ = 0;                     // images, confusion matrix, your own
    std::size_t first_ = 0;                    // of the test split's images
    bool evaluate_ = false;                    // asked for
    std::unique_ptr<Picture> sheet_;           // the images, one below the other
    std::shared_ptr<const Dataset> sheetData_; // that sheet_ shows
    std::size_t sheetFirst_ = 0;
    std::string typed_; // the user's row
    std::optional<OwnInput> own_;
    std::shared_ptr<const Dataset> ownData_; // that own_ was read for
    std::unique_ptr<Picture> ownPicture_;    // of own_, once it is shown
};

/// As much of the result as the window's room allows, what matters most first.
void drawResult(Ui& ui, const RaceRun& run);

/// The table of past races, in which a person picks those that the curves show.
class RaceHistory {
  public:
    RunPick pick;
    bool keep = false; ///< in the state

    /// current   as pickedRuns() takes it
    void draw(Ui& ui, RaceModel& model, std::uint64_t current, ImVec2 size);

  private:
    void drawRun(Ui& ui, RaceModel& model, const PastRun& run, const PickedRuns& picked,
                 std::uint64_t current);
};

} // namespace lockstep::demos
