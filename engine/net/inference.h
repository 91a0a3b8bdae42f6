// A trained network without data: inputs in, outputs out, by the plainest loops. For a row that somebody
// types or a picture that somebody drops; a Trainer predicts whole data sets.
#pragma once

#include <span>
#include <vector>

#include "engine/net/net_shape.h"
#include "engine/net/param_layout.h"

namespace lockstep {

class Inference {
  public:
    /// parameters   an arena by ParamLayout(shape). Throws std::invalid_argument for another size.
    Inference(const NetShape& shape, std::vector<float> parameters);

    /// The network's outputs, after the output activation.
    ///   inputs   one example, shape.inputs() numbers as the network sees them (pixels / 255, scaled
    ///   columns).
    ///            Throws std::invalid_argument for another number.
    std::vector<float> outputs(std::span<const float> inputs) const;

    const NetShape& shape() const { return shape_; }

  private:
    NetShape shape_;
    ParamLayout layout_;
    std::vector<float> parameters_;
};

} // namespace lockstep
