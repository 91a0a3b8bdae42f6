#include "engine/grid/population_kernels.h"

#include <utility>

#include "engine/step/shaders.h"

namespace lockstep {

namespace {

using gpu::number;

} // namespace

template <class Params>
const gpu::Kernel<Params>& PopulationKernels::find(std::map<std::string, gpu::Kernel<Params>>& made,
                                                   const std::string& stem, gpu::SpecConstants constants,
                                                   gpu::WorkItems itemsPerGroup) {
    std::string key = stem;
    for (const auto& [id, value] : constants) key += " " + std::to_string(id) + "=" + std::to_string(value);
    if (const auto found = made.find(key); found != made.end()) return found->second;
    return made
        .try_emplace(key, device_,
                     gpu::KernelSource{stem, shaderWords(stem), std::move(constants), itemsPerGroup})
        .first->second;
}

// By the numbers in shaders/grid/population_network.glsl.
gpu::SpecConstants PopulationKernels::widthConstants() const {
    gpu::SpecConstants constants{{9, number(shape_.layers())}};
    for (std::uint32_t level = 0; level <= shared::populationLayers; ++level)
        constants[10 + level] = level < shape_.widths.size() ? number(shape_.widths[level]) : 0;
    return constants;
}

gpu::SpecConstants PopulationKernels::networkConstants(Activation hidden) const {
    gpu::SpecConstants constants = widthConstants();
    constants.insert({{1, number(shape_.loss)}, {2, number(shape_.outputActivation)}, {4, number(hidden)}});
    return constants;
}

std::string PopulationKernels::looped() const { return fitsRegisters(device_, shape_) ? "" : "_looped"; }

const gpu::Kernel<shared::PopulationTrainParams>&
PopulationKernels::train(const PopulationPlan& plan, Optimizer optimizer, Activation hidden) {
    gpu::SpecConstants constants = networkConstants(hidden);
    constants[0] = plan.groupSize;
    constants[3] = plan.order;
    constants[7] = number(optimizer);
    if (plan.layout == PopulationLayout::subgroup) {
        const std::size_t states = infoOf(optimizer).states;
        const std::uint32_t parameters = number(shape_.parameters());
        constants.insert(
            {{5, states >= 1 ? parameters : 1}, {6, plan.mostSubgroups}, {8, states == 2 ? parameters : 1}});
    }
    if (plan.layout == PopulationLayout::workgroup)
        constants.insert({{5, plan.chunk}, {6, plan.sharesState ? 1 : 0}, {8, plan.sharedFloats}});
    const std::string stem = "population_" + std::string(name(plan.layout));
    return find(train_, stem, std::move(constants), {plan.networksPerGroup, 1, 1});
}

const gpu::Kernel<shared::PopulationOrderParams>& PopulationKernels::order() {
    return find(order_, "population_order", {{0, 32}});
}

const gpu::Kernel<shared::PopulationScoreParams>& PopulationKernels::score(Activation hidden) {
    gpu::SpecConstants constants = networkConstants(hidden);
    constants[0] = 32;
    return find(score_, "population_score" + looped(), std::move(constants));
}

const gpu::Kernel<shared::PopulationResultParams>& PopulationKernels::results() {
    gpu::SpecConstants constants = widthConstants();
    constants[0] = 32;
    return find(results_, "population_result", std::move(constants));
}

const gpu::Kernel<shared::PopulationRankParams>& PopulationKernels::rank() {
    return find(rank_, "population_rank", {{0, 32}});
}

const gpu::Kernel<shared::PopulationSummaryParams>& PopulationKernels::summary() {
    return find(summary_, "population_summary", {{0, 64}}, {1, 1, 1});
}

const gpu::Kernel<shared::PopulationPictureParams>& PopulationKernels::picture(Activation hidden) {
    gpu::SpecConstants constants = networkConstants(hidden);
    constants[0] = 4; // 16 x 8 cells
    constants[5] = 8;
    return find(picture_, "population_picture" + looped(), std::move(constants));
}

} // namespace lockstep
