#include "engine/train/kernel_choice.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/train/kernel_cache.h"
#include "engine/train/product_candidates.h"
#include "engine/train/product_trial.h"
#include "engine/train/update_trial.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t trialRows = 1024; // of a trial at most: beyond that, more rows are more of the same

std::string sizeOf(std::string_view operation, const DenseShape& shape) {
    return std::string(operation) + " " + std::to_string(shape.rows) + "x" + std::to_string(shape.inputs) +
           "x" + std::to_string(shape.outputs);
}

std::string keyOf(Product product, const DenseShape& shape, Activation activation) {
    return sizeOf(name(product), shape) + " " + std::string(name(activation));
}

DenseShape trialOf(DenseShape shape) {
    shape.rows = std::min(shape.rows, trialRows);
    return shape;
}

// Measures and remembers, until the time is used up; then takes what is likeliest.
class Chooser {
  public:
    Chooser(gpu::Device& device, Kernels& kernels, double budgetSeconds)
        : device_(device), kernels_(kernels), cache_(device), budgetSeconds_(budgetSeconds) {}
    ~Chooser() { cache_.store(); }
    Chooser(const Chooser&) = delete;
    Chooser& operator=(const Chooser&) = delete;

    MeasuredKernel choose(Product product, const DenseShape& shape, Activation activation) {
        const DenseShape trial = trialOf(shape);
        const std::string key = keyOf(product, trial, activation);
        std::vector<ProductKernel> all = fastCandidates(device_, product, trial);
        std::erase_if(all, [&](const ProductKernel& kernel) { return !fits(device_, kernel, shape); });
        if (const auto known = cache_.find(key);
            known && std::find(all.begin(), all.end(), known->kernel) != all.end())
            return *known;
        return measure(product, trial, activation, all);
    }

    /// The folded kernel made of the fastest for the weights' gradients, or of the likeliest that can be
    /// folded; nothing when it is wrong, or when folding it costs more than it saves.
    std::optional<ProductKernel> chooseFolded(const DenseShape& shape, Optimizer optimizer,
                                              const MeasuredKernel& apart) {
        const std::optional<ProductKernel> kernel = foldable(shape, apart.kernel);
        if (!kernel) return std::nullopt;
        const DenseShape trial = trialOf(shape);
        const std::string suffix = " " + std::string(lockstep::name(optimizer));
        const std::string foldedKey = sizeOf("dense_backward_weights_update", trial) + suffix;
        const std::string updateKey = sizeOf("update", {0, trial.inputs, trial.outputs, 0, 0}) + suffix;
        const auto known = cache_.find(foldedKey);
        if ((!known || !cache_.find(updateKey)) && !timeLeft()) return std::nullopt;
        if (!known || known->kernel != *kernel || !cache_.find(updateKey)) {
            UpdateTrial measurement(device_, trial, optimizer);
            const TrialResult result = guarded(
                [&] { return measurement.measureFolded(kernels_.denseUpdate(*kernel, optimizer), 2); });
            const double update = measurement.measureUpdate(kernels_.update(optimizer), 2);
            cache_.remember(foldedKey, {*kernel, result.verified() ? result.milliseconds : -1}, true);
            cache_.remember(updateKey, {{}, update}, true);
        }
        const double folded = cache_.find(foldedKey)->milliseconds;
        if (folded < 0) return std::nullopt;
        savedByFolding_ += apart.milliseconds + cache_.find(updateKey)->milliseconds - folded;
        return kernel;
    }
    /// Milliseconds that the folded kernels chosen so far save, all layers taken together.
    double savedByFolding() const { return savedByFolding_; }

  private:
    bool timeLeft() const {
        return std::chrono::duration<double>(Clock::now() - start_).count() < budgetSeconds_;
    }

    // At least one candidate is checked, whatever the time. A choice made in a hurry is good for this run,
    // but only a full comparison is remembered. All kernels sum in the same order, so results do not depend
    // on the choice.
    MeasuredKernel measure(Product product, const DenseShape& shape, Activation activation,
                           const std::vector<ProductKernel>& all) {
        ProductTrial trial(device_, product, shape, activation);
        const ProductKernel* best = nullptr;
        double fastest = 0;
        bool comparedAll = true;
        for (const ProductKernel& candidate : all) {
            if (best != nullptr && !timeLeft()) {
                comparedAll = false;
                break;
            }
            if (best != nullptr && device_.software() && hopeless(candidate, trial, fastest)) continue;
            const TrialResult result =
                guarded([&] { return trial.measure(kernels_.dense(product, candidate, activation), 2); });
            if (!result.verified() || (best != nullptr && result.milliseconds >= fastest)) continue;
            best = &candidate;
            fastest = result.milliseconds;
        }
        if (best == nullptr)
            throw std::runtime_error(
                "on '" + device_.report().name + "' no kernel computes " + keyOf(product, shape, activation) +
                " rightly; the driver may be faulty, `lockstep bench` shows the differences");
        const MeasuredKernel measured{*best, fastest};
        cache_.remember(keyOf(product, shape, activation), measured, comparedAll);
        return measured;
    }

    std::optional<ProductKernel> foldable(const DenseShape& shape, const ProductKernel& fastest) const {
        if (canFoldUpdate(fastest)) return fastest;
        for (const ProductKernel& candidate : fastCandidates(device_, Product::backwardWeights, shape))
            if (canFoldUpdate(candidate)) return candidate;
        return std::nullopt;
    }

    // A kernel that the driver refuses is one candidate less, no reason to stop.
    template <class Measure> static TrialResult guarded(Measure measure) {
        try {
            return measure();
        } catch (const gpu::DeviceLostError&) {
            throw;
        } catch (const gpu::TimeoutError&) {
            throw;
        } catch (const gpu::OutOfMemoryError&) {
            throw;
        } catch (const gpu::GpuError&) {
            return {.milliseconds = 0, .largestDifference = 1, .tolerance = 0};
        }
    }

    // Measured on software Vulkan: storage buffers hold products back to a few GFLOP/s; not worth a second of
    // a start.
    static bool hopeless(const ProductKernel& candidate, const ProductTrial& trial, double fastest) {
        const double atTenGigaflops = trial.flops() / 10e9 * 1e3;
        return candidate.rung != "texel" && candidate.rung != "subgroup" && fastest < atTenGigaflops;
    }

    gpu::Device& device_;
    Kernels& kernels_;
    KernelCache cache_;
    double budgetSeconds_;
    double savedByFolding_ = 0;
    Clock::time_point start_ = Clock::now();
};

DenseShape denseShapeOf(const NetShape& shape, std::size_t layer, std::size_t rows) {
    const std::size_t inputs = shape.widths[layer];
    const std::size_t outputs = shape.widths[layer + 1];
    return {rows, inputs, outputs, roundUpToFour(inputs), roundUpToFour(outputs)};
}

StepKernels measuredKernels(Chooser& chooser, const NetShape& shape, Optimizer optimizer, std::size_t batch) {
    StepKernels step;
    std::vector<MeasuredKernel> apart;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        const Activation own = shape.activationOf(layer);
        LayerKernels how;
        how.forward = chooser.choose(Product::forward, dense, own).kernel;
        if (layer > 0)
            how.backwardInputs =
                chooser.choose(Product::backwardInputs, dense, shape.activationOf(layer - 1)).kernel;
        apart.push_back(chooser.choose(Product::backwardWeights, dense, own));
        how.backwardWeights = apart.back().kernel;
        step.layers.push_back(how);
    }
    std::vector<ProductKernel> folded;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        if (const auto kernel =
                chooser.chooseFolded(denseShapeOf(shape, layer, batch), optimizer, apart[layer]))
            folded.push_back(*kernel);
    if (folded.size() < shape.layers() || chooser.savedByFolding() <= 0) return step;
    step.foldsUpdate = true;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        step.layers[layer].backwardWeights = folded[layer];
    return step;
}

// The likeliest kernel of a product, of those that can be folded where `foldable` says so.
ProductKernel likeliest(const gpu::Device& device, Product product, const DenseShape& shape, bool foldable) {
    for (const ProductKernel& candidate : fastCandidates(device, product, shape))
        if (!foldable || canFoldUpdate(candidate)) return candidate;
    throw std::runtime_error("'" + device.report().name + "' cannot run a product of this size");
}

} // namespace

StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, std::string_view rung, const NetShape& shape,
                          Optimizer optimizer, std::size_t batch, double budgetSeconds) {
    if (rung == "best") {
        Chooser chooser(device, kernels, budgetSeconds);
        return measuredKernels(chooser, shape, optimizer, batch);
    }
    StepKernels step;
    // What a whole step does not do, evaluation for one, is left to the kernels of `fused`.
    step.foldsUpdate = rung == "fused" || rung == "whole-step";
    const auto fixed = [&](Product product, const DenseShape& dense) {
        return step.foldsUpdate ? likeliest(device, product, dense, product == Product::backwardWeights)
                                : kernelOfRung(device, rung, product, dense);
    };
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        step.layers.push_back({fixed(Product::forward, dense), fixed(Product::backwardInputs, dense),
                               fixed(Product::backwardWeights, dense)});
    }
    return step;
}

StepKernels evaluationKernels(const gpu::Device& device, const StepKernels& training, const NetShape& shape,
                              std::size_t rows) {
    StepKernels evaluation = training;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        ProductKernel& forward = evaluation.layers[layer].forward;
        if (forward.tileM * forward.tileN == 1)
            forward = likeliest(device, Product::forward, denseShapeOf(shape, layer, rows), false);
    }
    return evaluation;
}

} // namespace lockstep
