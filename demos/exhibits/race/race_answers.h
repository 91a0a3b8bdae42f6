// What a lane's network answers right now: a sample of test images, and which classes it takes for which.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

class RaceAnswers {
  public:
    static constexpr std::size_t images = 24;

    void draw(Ui& ui, const RaceRun* run, ImVec2 size);
    /// What has to be asked of the lanes to show this. Takes the wish for an evaluation.
    ProbeWish wish(const RaceRun& run);
    /// A person has just asked for something else to be shown.
    bool takeAsked() { return std::exchange(asked_, false); }
    /// Gives up the picture of the images.
    void release();

  private:
    void drawBar(Ui& ui, const RaceRun& run);
    void drawImages(Ui& ui, const RaceRun& run, ImVec2 size);
    void showSheet(Ui& ui, const RaceRun& run);
    void drawConfusion(Ui& ui, const RaceRun& run, ImVec2 size);

    std::size_t lane_ = 0;
    std::size_t view_ = 0;                     // images, confusion matrix
    std::size_t first_ = 0;                    // of the test split's images
    bool evaluate_ = false;                    // asked for
    bool asked_ = false;                       // anything
    std::unique_ptr<Picture> sheet_;           // the images, one below the other
    std::shared_ptr<const Dataset> sheetData_; // that sheet_ shows
    std::size_t sheetFirst_ = 0;
};

/// Test example `index` of images as width * height words of grey.
std::vector<std::uint32_t> greyImage(const Dataset& data, std::size_t index);

/// A confusion matrix as a heat map of that size at most, with counts on hover.
void drawConfusionMatrix(Ui& ui, const Evaluation& evaluation, const std::vector<std::string>& classNames,
                         ImVec2 size);

} // namespace lockstep::demos
