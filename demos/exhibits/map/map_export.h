// A map as a PNG of any size, trained anew in that size: in the background, with a way to stop it.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "demos/exhibits/map/map_lane.h"

namespace lockstep::demos {

struct MapExportJob {
    std::filesystem::path file;
    MapJob job;
    MapWindow window;
    MapSize size;
};

class MapExport {
  public:
    ~MapExport();

    /// Begins, unless one is under way. `make` is called on another thread.
    void start(MapExportJob job, MakeMapTrainer make);
    /// Ends soon, and nothing is written.
    void cancel();
    bool busy() const { return working_.valid(); }
    /// Trained networks, of all.
    double share() const;
    /// What has been written, or nothing after cancel(), once it has ended; with `wait`, it ends now. Throws
    /// what went wrong.
    std::optional<MapExportJob> takeFinished(bool wait);
    /// Cancels, and waits for it. Whether something was under way.
    bool release();

  private:
    struct Progress {
        std::atomic<bool> cancelled = false;
        std::atomic<std::size_t> trained = 0;
    };

    static bool work(const MapExportJob& job, const MakeMapTrainer& make, Progress& progress);

    MapExportJob job_;
    Progress progress_;
    std::future<bool> working_; // last: it uses all of the above
};

} // namespace lockstep::demos
