#include "engine/tune/update_trial.h"

#include <algorithm>
#include <cmath>

#include "engine/cpu/kernels.h"
#include "engine/net/param_layout.h"
#include "engine/step/product_dispatch.h"
#include "engine/tune/trial_numbers.h"

namespace lockstep {

namespace {

LayerLayout layoutOf(const DenseShape& shape) {
    return ParamLayout(NetShape{{shape.inputs, shape.outputs}}).layer(0);
}

std::size_t floatsOf(const DenseShape& shape) {
    const LayerLayout layout = layoutOf(shape);
    return layout.biasOffset + layout.biasCount();
}

// Every term of the formulas counts, and rates are large enough for a wrong gradient to be seen.
shared::UpdateParams stepOf(Optimizer optimizer) {
    shared::UpdateParams step{};
    const bool ratio = infoOf(optimizer).has(usesEpsilon); // of g to its size
    step.learningRate = ratio ? 0.1f : 1.0f;
    step.momentum = 0.9f;
    step.secondDecay = 0.99f;
    step.epsilon = 1e-3f;
    step.secondScale = 1;
    step.weightKeep = infoOf(optimizer).has(decouplesDecay) ? 0.9f : 1.0f;
    step.l1 = 0.001f;
    step.l2 = 0.01f;
    step.nesterov = 1;
    return step;
}

} // namespace

UpdateTrial::UpdateTrial(gpu::Device& device, const DenseShape& shape, Optimizer optimizer)
    : shape_(shape), optimizer_(optimizer), step_(stepOf(optimizer)),
      dSums_(randomMatrix(shape.rows, shape.outputs, shape.outputStride, 1)),
      inputs_(randomMatrix(shape.rows, shape.inputs, shape.inputStride, 2)),
      dSumsBuffer_(device, std::span(dSums_).size_bytes(), gpu::Memory::device, "trial dZ"),
      inputsBuffer_(device, std::span(inputs_).size_bytes(), gpu::Memory::device, "trial inputs"),
      status_(device, sizeof(std::uint32_t), gpu::Memory::device, "trial status"),
      gradients_(device, floatsOf(shape) * sizeof(float), gpu::Memory::device, "trial gradients"),
      recorder_(device) {
    OptimizerSettings settings;
    settings.kind = optimizer;
    const LayerLayout layout = layoutOf(shape);
    for (std::size_t arena = 0; arena < 1 + settings.stateArrays(); ++arena) {
        std::vector<float> values = randomMatrix(shape.outputs, shape.inputs, shape.inputStride, 3 + arena);
        values.resize(layout.biasOffset);
        const std::vector<float> bias = randomMatrix(1, shape.outputs, layout.biasCount(), 7 + arena);
        values.insert(values.end(), bias.begin(), bias.end());
        if (arena > 0) // mean squares are not negative, and a small one would blow rounding up
            for (float& value : values) value = 0.5f + std::abs(value);
        before_.push_back(std::move(values));
        arenas_.emplace_back(device, std::span(before_.back()).size_bytes(), gpu::Memory::device,
                             "trial parameters");
    }
    const std::uint32_t none = shared::noStep;
    status_.uploadValues<std::uint32_t>({&none, 1});
    dSumsBuffer_.uploadValues<float>(dSums_);
    inputsBuffer_.uploadValues<float>(inputs_);
    gradients_.uploadValues<float>(before_.front());
    computeExpected();
}

void UpdateTrial::computeExpected() {
    const LayerLayout layout = layoutOf(shape_);
    std::vector<float> gradients(before_.front().size());
    simdKernels().denseBackwardWeights(shape_, dSums_.data(), inputs_.data(), 0, shape_.outputs,
                                       gradients.data(), gradients.data() + layout.biasOffset);
    expected_ = before_;
    const auto state = [&](std::size_t at) { return expected_.size() > at ? expected_[at].data() : nullptr; };
    const auto step = [&](std::size_t begin, std::size_t count) {
        plain::update(optimizer_, step_, begin, begin + count, gradients.data(), expected_[0].data(),
                      state(1), state(2));
    };
    for (std::size_t row = 0; row < shape_.outputs; ++row) step(row * shape_.inputStride, shape_.inputs);
    step(layout.biasOffset, shape_.outputs);
}

// Only what the network has counts: padding may hold whatever an optimizer makes of a gradient of 0.
double UpdateTrial::compare() const {
    const LayerLayout layout = layoutOf(shape_);
    double largest = 0;
    for (std::size_t arena = 0; arena < arenas_.size(); ++arena) {
        const std::vector<float>& expected = expected_[arena];
        const std::vector<float> actual = arenas_[arena].downloadValues<float>(expected.size());
        const double scale = largestOf(expected);
        const auto compareRange = [&](std::size_t begin, std::size_t count) {
            const std::span<const float> right(expected.data() + begin, count);
            const std::span<const float> got(actual.data() + begin, count);
            largest = std::max(largest, largestDifference(right, got, scale));
        };
        for (std::size_t row = 0; row < shape_.outputs; ++row)
            compareRange(row * shape_.inputStride, shape_.inputs);
        compareRange(layout.biasOffset, shape_.outputs);
    }
    return largest;
}

void UpdateTrial::uploadParameters() {
    for (std::size_t arena = 0; arena < arenas_.size(); ++arena)
        arenas_[arena].uploadValues<float>(before_[arena]);
}

TrialResult UpdateTrial::measureFolded(const Kernels::DenseUpdate& kernel, int rounds) {
    const gpu::BufferView parameters = arenas_[0].view();
    const auto state = [&](std::size_t at) { return arenas_.size() > at ? arenas_[at].view() : parameters; };
    const FoldedBuffers buffers{
        dSumsBuffer_.view(), inputsBuffer_.view(), status_.view(), parameters, state(1), state(2)};
    const auto record = [&] { dispatchDenseUpdate(recorder_, kernel, shape_, step_, buffers); };
    TrialResult result;
    result.tolerance = 1e-6 * (1 + std::sqrt(static_cast<double>(shape_.rows)));
    uploadParameters();
    recorder_.begin();
    record();
    recorder_.submit();
    recorder_.finish();
    recorder_.takeFinished();
    result.largestDifference = compare();
    if (result.verified()) result.milliseconds = bestMilliseconds(recorder_, rounds, record);
    return result;
}

double UpdateTrial::measureUpdate(const gpu::Kernel<shared::UpdateParams>& kernel, int rounds) {
    uploadParameters();
    const gpu::BufferView parameters = arenas_[0].view();
    const auto state = [&](std::size_t at) { return arenas_.size() > at ? arenas_[at].view() : parameters; };
    shared::UpdateParams step = step_;
    step.count = static_cast<std::uint32_t>(before_.front().size());
    step.stride = (step.count / 4 + 63) / 64 * 64; // whole workgroups
    return bestMilliseconds(recorder_, rounds, [&] {
        recorder_.dispatch(kernel, {step.stride, 1, 1}, step,
                           {status_.view(), gradients_.view(), parameters, state(1), state(2)});
    });
}

} // namespace lockstep
