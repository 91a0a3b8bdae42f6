// One machine's picture of the map, with its counters, which the mouse zooms and pans.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/map/map_model.h"

namespace lockstep::demos {

using MapPixel = std::optional<std::uint32_t>; ///< by number; empty: none

class MapPane {
  public:
    explicit MapPane(MapMachine machine) : machine_(machine) {}

    /// Draws it into that room. Returns the pixel under the mouse.
    /// marked   to be pointed at, in all panes
    MapPixel draw(Ui& ui, MapModel& model, MapPixel marked, ImVec2 room);
    /// Height of a pane so wide that its picture, of a size of its own, takes the whole width.
    static float heightFor(const Ui& ui, const MapModel& model, float width);
    MapMachine machine() const { return machine_; }
    /// Something has been trained that is not seen yet.
    bool behind() const { return behind_; }
    /// Gives up what is on the device.
    void release() { picture_.reset(); }

  private:
    MapPixel drawPicture(Ui& ui, MapModel& model, MapPixel marked, ImVec2 room);
    void refresh(Ui& ui, MapModel& model, bool smooth);
    void recolour(OutcomeGrid& grid, const MapJob& job);
    MapPixel handleMouse(Ui& ui, MapModel& model, const Place& picture);
    void drag(Ui& ui, MapModel& model, const Place& picture);

    MapMachine machine_;
    std::unique_ptr<Picture> picture_;
    bool smooth_ = true; // of picture_
    std::vector<std::uint32_t> colours_;
    std::vector<MapOutcome> coloured_; // what has those colours
    MapJob job_;                       // of colours_
    MapWindow window_;                 // of colours_
    double uploaded_ = 0;              // when
    bool behind_ = false;
    double wheeled_ = -1; // when last
    MapOffset dragged_;   // by the drag under way
};

const LaneSpec& laneOf(MapMachine machine);
const char* titleOf(MapMachine machine);

/// Says why the model has refused to look somewhere; nothing where it has not.
inline void sayRefused(Ui& ui, const std::string& refused) {
    if (!refused.empty()) ui.say(Severity::info, refused);
}

} // namespace lockstep::demos
