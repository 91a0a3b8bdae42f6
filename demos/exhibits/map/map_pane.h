// One machine's picture of the map, with its counters; the mouse zooms and pans it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/map/map_model.h"

namespace lockstep::demos {

class MapPane {
  public:
    explicit MapPane(MapMachine machine) : machine_(machine) {}

    /// Draws it into that room.
    /// marked   a pixel to be pointed at, in all panes; empty: none
    void draw(Ui& ui, MapModel& model, std::optional<std::uint32_t> marked, ImVec2 room);
    MapMachine machine() const { return machine_; }
    /// The pixel under the mouse in the last frame.
    std::optional<std::uint32_t> hovered() const { return hovered_; }
    /// Something has been trained that is not seen yet.
    bool behind() const { return behind_; }
    /// Gives up what is on the device.
    void release() { picture_.reset(); }

  private:
    void drawTitle(Ui& ui) const;
    void drawHeader(Ui& ui, const MapModel& model) const;
    void drawColumn(Ui& ui, const MapModel& model) const;
    void drawPicture(Ui& ui, MapModel& model, std::optional<std::uint32_t> marked, ImVec2 room);
    void drawAxes(Ui& ui, const MapModel& model, const Place& picture) const;
    void refresh(Ui& ui, MapModel& model, bool smooth);
    void recolour(OutcomeGrid& grid, const MapJob& job);
    void handleMouse(Ui& ui, MapModel& model, const Place& picture);
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
    std::optional<std::uint32_t> hovered_;
    double wheeled_ = -1; // when last
    MapOffset dragged_;   // by the drag under way
};

const LaneSpec& laneOf(MapMachine machine);
const char* titleOf(MapMachine machine);

} // namespace lockstep::demos
