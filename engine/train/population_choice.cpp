#include "engine/train/population_choice.h"

namespace lockstep {

PopulationPlan choosePopulationPlan(gpu::Device& device, const PopulationJob& job, PopulationLayout layout) {
    return requiredPopulationPlan(device, job,
                                  layout == PopulationLayout::best ? PopulationLayout::invocation : layout);
}

} // namespace lockstep
