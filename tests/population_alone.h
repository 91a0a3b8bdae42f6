// What every member of a population is compared with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/grid/population.h"
#include "engine/run/make_trainer.h"
#include "tests/trainer_jobs.h"

namespace lockstep::test {

/// The losses of the member's first steps, trained alone by cpu:scalar.
inline std::vector<LossPoint> lossesAlone(const PopulationJob& job, std::size_t member, std::uint64_t steps) {
    const auto trainer = makeCpuTrainer(job.alone(member), "scalar", 1);
    TrainerState state = trainer->state();
    state.parameters = job.initialParameters(member);
    trainer->restore(state);
    return train(*trainer, steps);
}

} // namespace lockstep::test
