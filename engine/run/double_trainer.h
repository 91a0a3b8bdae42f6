// Training in fp64, on the processor.
#pragma once

#include <memory>

#include "engine/run/trainer.h"

namespace lockstep {

/// The plain loops (engine/net/plain_training.h) in double, on one thread: what the others round at 24 bits
/// is kept to 53. Batches, initial weights and hyperparameters are those of every other trainer, as fp32;
/// losses and states are rounded to fp32 where they are handed out. A run that goes on from such a state
/// differs from one that never stopped, and steps cannot be traced. Throws std::invalid_argument for a job
/// that does not fit together.
std::unique_ptr<Trainer> makeDoubleTrainer(const TrainJob& job);

} // namespace lockstep
