// How many networks of a map are trained in how much time, by what was measured so far.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>

namespace lockstep {

class TrainabilityPace {
  public:
    /// least   networks that are trained side by side
    explicit TrainabilityPace(std::size_t least) : least_(least) {}

    /// That take about so long; whole rows of what is trained side by side.
    std::size_t points(double milliseconds) const {
        constexpr double most = 1 << 24; // a picture of 4,096 x 4,096
        const double fitting = std::clamp(milliseconds * perMillisecond_, 0.0, most);
        return std::max(static_cast<std::size_t>(fitting) / least_, std::size_t{1}) * least_;
    }

    /// From its making to its end, `networks` networks are trained.
    class Measurement {
      public:
        Measurement(TrainabilityPace& pace, std::size_t networks) : pace_(pace), networks_(networks) {}
        ~Measurement() {
            const std::chrono::duration<double, std::milli> passed = Clock::now() - begin_;
            pace_.add(static_cast<double>(networks_), passed.count());
        }
        Measurement(const Measurement&) = delete;
        Measurement& operator=(const Measurement&) = delete;

      private:
        using Clock = std::chrono::steady_clock;
        TrainabilityPace& pace_;
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
