// How many networks of a map are trained in how much time, by what was measured so far.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>

namespace lockstep {

/// What a step of networks takes at most when none of them has diverged. A measured time alone does not tell:
/// those that diverged cost nothing, and the next ones may all train.
class MapCost {
  public:
    /// `networks` together made `trained` steps, each network's counted, in that time. Had all trained on,
    /// each step would have taken at most the time divided by the share that did, whether a device was full
    /// or waiting.
    void add(std::size_t networks, double trained, double milliseconds) {
        if (networks == 0 || trained < 1 || milliseconds <= 0) return;
        const double perNetworkStep = milliseconds / trained;
        if (perNetworkStep >= perNetworkStep_) return; // a bound that is no closer
        perNetworkStep_ = perNetworkStep;
        step_ = perNetworkStep * static_cast<double>(networks);
    }

    /// That surely end within so many milliseconds: more networks than were measured take longer in
    /// proportion, fewer may take as long. Without end while nothing was measured.
    double steps(std::size_t networks, double milliseconds) const {
        const double step = std::max(step_, perNetworkStep_ * static_cast<double>(networks));
        return known() ? milliseconds / step : std::numeric_limits<double>::infinity();
    }

    /// Networks whose next `steps` steps surely end within so many milliseconds, where the device is full.
    double networks(double steps, double milliseconds) const {
        return known() ? milliseconds / (steps * perNetworkStep_) : std::numeric_limits<double>::infinity();
    }

  private:
    bool known() const { return step_ > 0; }

    double perNetworkStep_ = std::numeric_limits<double>::infinity();
    double step_ = 0;
};

class MapPace {
  public:
    /// least   networks that are trained side by side
    explicit MapPace(std::size_t least) : least_(least) {}

    /// That take about so long; whole rows of what is trained side by side.
    std::size_t points(double milliseconds) const {
        constexpr double most = 1 << 24; // a picture of 4,096 x 4,096
        const double fitting = std::clamp(milliseconds * perMillisecond_, 0.0, most);
        return std::max(static_cast<std::size_t>(fitting) / least_, std::size_t{1}) * least_;
    }

    /// From its making to its end, `networks` networks are trained.
    class Measurement {
      public:
        Measurement(MapPace& pace, std::size_t networks) : pace_(pace), networks_(networks) {}
        ~Measurement() {
            const std::chrono::duration<double, std::milli> passed = Clock::now() - begin_;
            pace_.add(static_cast<double>(networks_), passed.count());
        }
        Measurement(const Measurement&) = delete;
        Measurement& operator=(const Measurement&) = delete;

      private:
        using Clock = std::chrono::steady_clock;
        MapPace& pace_;
        std::size_t networks_;
        Clock::time_point begin_ = Clock::now();
    };

  private:
    void add(double networks, double milliseconds) {
        if (milliseconds <= 0) return;
        const double measured = networks / milliseconds;
        perMillisecond_ = perMillisecond_ == 0 ? measured : 0.5 * (perMillisecond_ + measured);
    }

    std::size_t least_;
    double perMillisecond_ = 0;
};

} // namespace lockstep
