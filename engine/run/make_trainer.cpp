#include "engine/run/make_trainer.h"

#include <stdexcept>

#include "engine/run/cpu_trainer.h"
#include "engine/run/gpu_trainer.h"

namespace lockstep {

std::unique_ptr<Trainer> makeTrainer(const TrainJob& job, const LaneSpec& spec, std::size_t threads,
                                     gpu::Device* device) {
    if (!spec.gpu) return makeCpuTrainer(job, spec.rung, threads);
    if (device == nullptr) throw std::invalid_argument("lane " + spec.text() + " needs a Vulkan device");
    return makeGpuTrainer(job, spec.rung, *device);
}

} // namespace lockstep
