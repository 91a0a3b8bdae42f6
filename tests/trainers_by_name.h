// Trainers by the name of their rung, as tests of many rungs list them.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "engine/run/make_trainer.h"

namespace lockstep {

/// Throws std::invalid_argument for an unknown name, too.
inline std::unique_ptr<Trainer> makeCpuTrainer(const TrainJob& job, std::string_view rung,
                                               std::size_t threads) {
    return makeCpuTrainer(job, rungFromName(rung, false), threads);
}
inline std::unique_ptr<Trainer> makeGpuTrainer(const TrainJob& job, std::string_view rung,
                                               gpu::Device& device, const ReplacedShaders& replaced = {},
                                               std::size_t workgroups = 0) {
    return makeGpuTrainer(job, rungFromName(rung, true), device, replaced, nullptr, workgroups);
}

} // namespace lockstep
