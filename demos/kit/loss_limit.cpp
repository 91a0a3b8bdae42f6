#include "demos/kit/loss_limit.h"

namespace lockstep::demos {

bool LossLimit::exceededBy(Clock::time_point loss) {
    while (!losses_.empty() && loss - losses_.front() > within) losses_.pop_front();
    losses_.push_back(loss);
    return losses_.size() >= most;
}

} // namespace lockstep::demos
