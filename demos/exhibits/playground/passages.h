// Points on their way through the untrained network, one after the other: what a first view shows before
// anything trains.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "demos/exhibits/playground/host_network.h"
#include "demos/exhibits/playground/playground_model.h"

namespace lockstep::demos {

struct Passage {
    LabelledPoint point;
    std::vector<LayerValues> values; ///< of all layers, the inputs first
    double layers = 0;               ///< behind it: 1.5 is half way from the first hidden layer to the next

    bool arrived() const { return layers >= static_cast<double>(values.size() - 1); }
    /// A network that was changed within this frame may have other layers.
    bool fits(const NetShape& shape) const {
        return std::ranges::equal(values, shape.widths, {}, &LayerValues::width);
    }
};

/// What an arrived point is told, as a sentence: "Untrained, it says blue, 56 %: wrong."
std::string passageText(const PlaygroundSettings& settings, Loss loss, const Passage& passage);

class Passages {
  public:
    void start() { left_ = points; }
    /// Once per frame. They end for good once the network trains or is changed.
    void update(const PlaygroundModel& model, double seconds);
    /// None: nothing passes.
    const std::optional<Passage>& now() const { return passage_; }
    bool going() const { return left_ > 0; }

  private:
    static constexpr std::size_t points = 8; // then the window is still
    std::size_t left_ = 0;
    std::optional<Passage> passage_;
    std::uint64_t revision_ = 0; // of the weights that its values are of
};

} // namespace lockstep::demos
