#include "engine/train/make_trainer.h"

#include <stdexcept>

#include "engine/train/cpu_trainer.h"
#if __has_include("engine/train/gpu_trainer.h")
#include "engine/train/gpu_trainer.h"
#endif

namespace lockstep {

std::unique_ptr<Trainer> makeTrainer(const TrainJob& job, const LaneSpec& spec, std::size_t threads,
                                     gpu::Device* device) {
    if (!spec.gpu) return makeCpuTrainer(job, spec.rung, threads);
    if (device == nullptr) throw std::invalid_argument("lane " + spec.text() + " needs a Vulkan device");
#if __has_include("engine/train/gpu_trainer.h")
    return makeGpuTrainer(job, spec.rung, *device);
#else
    throw std::runtime_error("no gpu yet");
#endif
}

} // namespace lockstep
