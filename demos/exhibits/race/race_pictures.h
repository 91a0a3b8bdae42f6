// Pictures of the data beside the lanes: before the start what they are about to learn, then which of the
// first test images a lane's network gets right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

/// Test example `index` of images as width * height words of grey.
std::vector<std::uint32_t> greyImage(const Dataset& data, std::size_t index);

class RacePictures {
  public:
    /// Once per frame, with the data that are about to be drawn; null: none.
    void show(Ui& ui, std::shared_ptr<const Dataset> data);
    /// Gives up the pictures on the device.
    void release() {
        sheet_.reset();
        sheetData_.reset();
    }

    /// What stands on a lane's card before the start.
    enum class Kind { none, images, points, columns };
    Kind kind() const;
    /// Dimmed rows of images, or the names of a table's columns.
    void drawRows(const Ui& ui, const Place& place) const;
    /// Points of the plane in their classes' colours.
    void drawPoints(const Ui& ui, const Place& place) const;

    /// Height of a lane's pictures where `lanes` cards of `card` pixels share `room`; 0: none.
    float rowHeight(const Ui& ui, std::size_t lanes, float card, float room) const;
    /// The first test images, in several rows where the place is high: dim without an answer, green where the
    /// lane is right, red with its answer where it is wrong. until: no answers from after this step
    void drawAnswers(const Ui& ui, const RaceRun& run, std::size_t lane, const Place& place,
                     std::optional<std::uint64_t> until = {}) const;

  private:
    void drawImage(ImDrawList& draw, std::size_t index, ImVec2 at, float side, ImU32 tint,
                   float rounding) const;

    std::shared_ptr<const Dataset> data_;
    std::unique_ptr<Picture> sheet_; // sheetImages_ of them in rows of sheetColumns
    std::shared_ptr<const Dataset> sheetData_;
    std::size_t sheetImages_ = 0;
};

} // namespace lockstep::demos
