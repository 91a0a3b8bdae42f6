// The network's answers at a coarse grid, or a layer's values for the data: what the 3-D views draw. Worked
// out on a thread of its own, because a wide network takes its time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <future>
#include <optional>

#include "demos/exhibits/playground/playground_model.h"
#include "demos/exhibits/playground/twin.h"

namespace lockstep::demos {

class SurfaceSampler {
  public:
    /// Rows are (y * grid + x), both from -6 to 6, or the model's points.
    struct Samples {
        std::uint64_t revision = 0;
        bool ofPoints = false;
        std::size_t layer = 0;
        std::size_t grid = 0; ///< along one side
        std::vector<LabelledPoint> points;
        LayerValues values;
    };

    static constexpr std::size_t mostPoints = 400;

    /// Asks for what is to be seen now. `wait`: has it at once.
    void update(const PlaygroundModel& model, bool ofPoints, std::size_t layer, bool wait);
    const std::optional<Samples>& samples() const { return samples_; }
    bool busy() const { return pending_.valid(); }

  private:
    std::optional<Samples> samples_;
    std::future<Samples> pending_;
};

} // namespace lockstep::demos
