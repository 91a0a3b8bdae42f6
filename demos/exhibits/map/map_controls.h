// The map's controls: settings, ways through the plane, bookmarks, and a picture for a file.
#pragma once

#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/map/map_model.h"

namespace lockstep::demos {

/// What trains the job's networks on one of the window's machines.
MakeMapTrainer mapMaker(Ui& ui, const MapJob& job, MapMachine machine);

class MapControls {
  public:
    /// Says when a picture has been saved. Throws why it could not be.
    void update(Ui& ui);
    /// The settings, in a low window behind a button, and a row of buttons.
    void draw(Ui& ui, MapModel& model);
    /// How far the picture for a file is.
    void drawProgress(Ui& ui);

    std::string pictureSize = "2048x2048"; ///< of the file, as typed
    MapExport saving;                      ///< of the picture

  private:
    void drawBookmarks(Ui& ui, MapModel& model);
    void drawSaving(Ui& ui, MapModel& model);

    std::string bookmarkName_; // as it is being typed
    std::string pictureFile_ = "lockstep-map.png";
};

} // namespace lockstep::demos
