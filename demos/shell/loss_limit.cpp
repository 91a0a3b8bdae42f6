#include "demos/shell/loss_limit.h"

#include <fmt/format.h>

#include "engine/gpu/error.h"

namespace lockstep::demos {

void LossLimit::note(const std::string& loss, Clock::time_point now) {
    while (!losses_.empty() && now - losses_.front() > within) losses_.pop_front();
    losses_.push_back(now);
    if (losses_.size() < most) return;
    throw gpu::DeviceLostError(
        fmt::format("the graphics device was lost {} times within a minute, and is not started anew again. "
                    "A newer driver may help, or another device (`lockstep devices`, --device). The last "
                    "loss: {}",
                    losses_.size(), loss));
}

} // namespace lockstep::demos
