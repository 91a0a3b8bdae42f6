// What a lane of a map shows while it trains: a live bar on a terminal, sparse plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "demos/report/progress.h"

namespace lockstep::demos {

/// "gpu:best  [######----]  60 %  157,286 networks  36.2k networks/s  0:03 left"
std::string mapProgressLine(const std::string& lane, std::size_t trained, std::size_t pixels, double seconds);

class MapProgress {
  public:
    /// `quiet` shows nothing at all. Writes to standard error, so that results can be redirected.
    MapProgress(std::string lane, std::size_t pixels, bool quiet);
    /// Ends the live line.
    ~MapProgress();
    MapProgress(const MapProgress&) = delete;
    MapProgress& operator=(const MapProgress&) = delete;

    void update(std::size_t trained, double seconds);

  private:
    using Clock = std::chrono::steady_clock;

    std::string lane_;
    std::size_t pixels_;
    bool quiet_;
    Terminal terminal_;
    bool drawn_ = false;
    double printedShare_ = 0; ///< of the last plain line
    Clock::time_point printedAt_ = Clock::now();
};

} // namespace lockstep::demos
