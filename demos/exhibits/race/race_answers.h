// What a lane's network predicts: test images with their predictions, the confusion matrix, and what the
// networks say to a row or picture of the user's own.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/own_input.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

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

} // namespace lockstep::demos
