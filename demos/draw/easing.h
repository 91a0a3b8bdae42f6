// Movement for the eye to follow: a number that is on its way to where it belongs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace lockstep::demos {

class Easing {
  public:
    static constexpr double duration = 0.2; ///< seconds, as a rule

    void beginFrame() {
        ++frame_;
        moving_ = false;
    }

    /// Where the number called `id` is at the time `now` (seconds). What the last frame did not ask for
    /// appears where it belongs.
    /// seconds   from a change of the target until it is reached
    float toward(std::string_view id, float target, double now, double seconds = duration) {
        const auto found = ways_.find(id);
        if (found == ways_.end() || found->second.frame + 1 < frame_) {
            ways_.insert_or_assign(std::string(id), Way{target, target, now - seconds, seconds, frame_});
            return target;
        }
        Way& way = found->second;
        if (way.to != target) way = {way.at(now), target, now, seconds, frame_};
        way.frame = frame_;
        moving_ = moving_ || now < way.since + way.takes;
        return way.at(now);
    }

    /// Whether a number of this frame has not arrived.
    bool moving() const { return moving_; }

  private:
    struct Way {
        float from = 0;
        float to = 0;
        double since = 0;
        double takes = duration;
        std::uint64_t frame = 0; // that last asked for it

        float at(double now) const { // fast, then slower
            const auto left = static_cast<float>(std::clamp(1 - (now - since) / takes, 0.0, 1.0));
            return to + (from - to) * left * left * left;
        }
    };
    std::map<std::string, Way, std::less<>> ways_;
    std::uint64_t frame_ = 0;
    bool moving_ = false;
};

} // namespace lockstep::demos
