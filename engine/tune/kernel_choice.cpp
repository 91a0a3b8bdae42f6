#include "engine/tune/kernel_choice.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <stdexcept>
#include <thread>

#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/plan/operation.h"
#include "engine/plan/work.h"
#include "engine/step/lane_spec.h"
#include "engine/tune/kernel_cache.h"
#include "engine/tune/kernel_trial.h"
#include "engine/tune/product_candidates.h"

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

std::string keyOf(Optimizer optimizer, const DenseShape& shape) {
    return sizeOf(std::string(name(Operation::denseBackwardWeightsAndUpdate)), shape) + " " +
           std::string(name(optimizer));
}

// The cache's key for the time of one candidate.
std::string keyOf(const std::string& operation, const ProductKernel& kernel) {
    return operation + ", " + kernel.describe();
}

DenseShape trialOf(DenseShape shape) {
    shape.rows = std::min(shape.rows, trialRows);
    return shape;
}

// Measures and remembers, until the time is used up; then takes what is likeliest.
class Chooser {
  public:
    Chooser(gpu::Device& device, Kernels& kernels, Tuning& tuning, const std::atomic<bool>* cancelled)
        : device_(device), kernels_(kernels), cache_(device), tuning_(tuning),
          budgetSeconds_(tuning.seconds().value_or(device.software() ? 0.9 : 2.5)), cancelled_(cancelled) {}
    ~Chooser() { cache_.store(); }
    Chooser(const Chooser&) = delete;
    Chooser& operator=(const Chooser&) = delete;

    /// Whether a choice has been made before, so that it costs no time.
    bool known(Product product, const DenseShape& shape, Activation activation) const {
        return cache_.find(keyOf(product, trialOf(shape), activation)).has_value();
    }

    MeasuredKernel choose(Product product, const DenseShape& shape, Activation activation) {
        const DenseShape trial = trialOf(shape);
        const std::string key = keyOf(product, trial, activation);
        std::optional<ProductTrial> numbers;
        const MeasuredKernel chosen = fastest(
            {key, sizeOf(name(product), trial)}, fitting(product, shape), denseWork(trial).flops,
            [&](const ProductKernel& kernel, double limit) {
                if (!numbers)
                    numbers.emplace(device_, product, trial, activation, simdKernels(), false, cancelled_);
                return numbers->measure(kernels_.dense(product, kernel, activation), 2, limit);
            });
        if (chosen.usable()) return chosen;
        throw std::runtime_error(
            "on '" + device_.report().name + "' no kernel computes " + key +
            " correctly; the driver may be faulty; run `lockstep bench` to see the differences");
    }

    /// The weights' gradients with the optimizer's step folded in. Not usable() where no kernel is right.
    MeasuredKernel chooseFolded(const DenseShape& shape, Optimizer optimizer) {
        const DenseShape trial = trialOf(shape);
        std::optional<UpdateTrial> numbers;
        const std::string words = sizeOf(name(Product::backwardWeights), trial) + ", update folded";
        return fastest({keyOf(optimizer, trial), words}, foldable(shape), denseWork(trial).flops,
                       [&](const ProductKernel& kernel, double limit) {
                           if (!numbers) numbers.emplace(device_, trial, optimizer, cancelled_);
                           return numbers->measureFolded(kernels_.denseUpdate(kernel, optimizer), 2, limit);
                       });
    }

    /// Milliseconds of the operation `update` on a layer's parameters.
    double updateTime(DenseShape shape, Optimizer optimizer) {
        shape.rows = 1;
        const std::string key = sizeOf("update", shape) + " " + std::string(lockstep::name(optimizer));
        if (const auto known = cache_.find(key)) return known->milliseconds;
        if (tuning_.skipped()) return 0;
        UpdateTrial trial(device_, shape, optimizer, cancelled_);
        const double milliseconds = trial.measureUpdate(kernels_.update(optimizer), 2);
        cache_.remember(key, {{}, milliseconds});
        return milliseconds;
    }

    /// Has the drivers of GPUs compile, on all threads, what is going to be compared; software Vulkan
    /// compiles when a kernel is first used. Counts what choose() and chooseFolded() will compare; the
    /// training step is one comparison more.
    void prepare(const NetShape& shape, Optimizer optimizer, std::size_t batch) {
        std::vector<std::function<void()>> compile;
        const auto add = [&](const std::string& key, const std::vector<ProductKernel>& all, const auto& get) {
            if (cache_.find(key)) return;
            ++comparisonsLeft_;
            kernelsLeft_ += all.size();
            for (const ProductKernel& kernel : all)
                if (!cache_.find(keyOf(key, kernel))) compile.push_back([get, kernel] { get(kernel); });
        };
        for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
            const DenseShape dense = denseShapeOf(shape, layer, batch);
            const auto addProduct = [&](Product product, Activation activation) {
                add(keyOf(product, trialOf(dense), activation), fitting(product, dense),
                    [=, this](const ProductKernel& kernel) { kernels_.dense(product, kernel, activation); });
            };
            addProduct(Product::forward, shape.activationOf(layer));
            if (layer > 0) addProduct(Product::backwardInputs, shape.activationOf(layer - 1));
            addProduct(Product::backwardWeights, shape.activationOf(layer));
            add(keyOf(optimizer, trialOf(dense)), foldable(dense),
                [=, this](const ProductKernel& kernel) { kernels_.denseUpdate(kernel, optimizer); });
        }
        if (comparisonsLeft_ == 0) return;
        tuning_.tell([&](TuningProgress& now) {
            now.comparing = "compilation";
            now.comparisons = comparisonsLeft_ + 1;
            now.keptIn = KernelCache::file(device_);
        });
        if (!device_.software()) compileAll(compile);
        measuringSince_ = Clock::now();
        gpu::throwIfSet(cancelled_);
    }

    /// All products have their kernels: what is left to be compared is the training step.
    void endProducts() {
        if (tuning_.progress().going()) tuning_.beginLast(std::string(wholeTrainingStep));
    }

    bool timeLeft() const { return !tuning_.skipped() && secondsSince(start_) < budgetSeconds_; }

  private:
    /// A choice: its key in the cache, and what people are told of it.
    struct Comparison {
        std::string key;
        std::string words;
    };

    static double secondsSince(Clock::time_point begin) {
        return std::chrono::duration<double>(Clock::now() - begin).count();
    }

    // After each candidate. What is left takes as long for each kernel as those so far: all of them, or,
    // where the time runs out before, one of each product.
    void tellTime(std::size_t at, std::size_t candidates) {
        const double each =
            secondsSince(measuringSince_) / static_cast<double>(std::max<std::size_t>(timed_, 1));
        const double all = static_cast<double>(kernelsLeft_) * each;
        const double hurried = std::max(0.0, budgetSeconds_ - secondsSince(start_)) +
                               static_cast<double>(comparisonsLeft_) * each;
        constexpr double kernelsOfStep = 4; // three fusions, and the step without them
        const double expected = secondsSince(start_) + std::min(all, hurried) + kernelsOfStep * each;
        tuning_.tell([&](TuningProgress& now) {
            now.kernels = timed_;
            now.done =
                static_cast<double>(now.at - 1) + static_cast<double>(at) / static_cast<double>(candidates);
            if (timed_ > 0) now.expected = expected;
        });
    }

    void compileAll(const std::vector<std::function<void()>>& jobs) const {
        std::atomic<std::size_t> next{0};
        const auto work = [&] {
            for (std::size_t at = next++; at < jobs.size() && timeLeft(); at = next++) try {
                    gpu::throwIfSet(cancelled_);
                    jobs[at]();
                } catch (const gpu::Cancelled&) {
                    return;
                } catch (const std::exception&) { // said when its turn comes to be measured
                }
        };
        std::vector<std::thread> others(std::max(std::thread::hardware_concurrency(), 1u) - 1);
        for (std::thread& thread : others) thread = std::thread(work);
        work();
        for (std::thread& thread : others) thread.join();
    }

    std::vector<ProductKernel> foldable(const DenseShape& shape) const {
        std::vector<ProductKernel> all = fitting(Product::backwardWeights, shape);
        std::erase_if(all, [](const ProductKernel& kernel) { return !rowOf(kernel.rung).foldable; });
        return all;
    }

    std::vector<ProductKernel> fitting(Product product, const DenseShape& shape) const {
        std::vector<ProductKernel> all = fastCandidates(device_, product, trialOf(shape));
        std::erase_if(all, [&](const ProductKernel& kernel) { return !fits(device_, kernel, shape); });
        return all;
    }

    // At least one candidate is checked, even without time left, but for a comparison that is skipped: that
    // takes what it has, or the likeliest. A choice made in a hurry is good for this run; the times are
    // remembered, so that the next start compares the rest. All kernels sum in the same order, so results do
    // not depend on the choice.
    template <class Measure>
    MeasuredKernel fastest(const Comparison& what, const std::vector<ProductKernel>& all, double flops,
                           Measure measure) {
        const std::string& key = what.key;
        if (const auto known = cache_.find(key);
            known && std::find(all.begin(), all.end(), known->kernel) != all.end())
            return *known;
        tuning_.begin(what.words);
        comparisonsLeft_ -= std::min<std::size_t>(comparisonsLeft_, 1);
        MeasuredKernel best{{}, MeasuredKernel::unusable};
        std::vector<MeasuredKernel> right;
        bool comparedAll = true;
        for (std::size_t at = 0; at < all.size(); ++at) {
            const ProductKernel& candidate = all[at];
            tellTime(at, all.size());
            kernelsLeft_ -= std::min<std::size_t>(kernelsLeft_, 1);
            const bool found = !right.empty();
            const std::optional<MeasuredKernel> before = cache_.find(keyOf(key, candidate));
            if (!before && (found || tuning_.skipped()) && !timeLeft()) {
                comparedAll = false;
                continue;
            }
            if (found && device_.software() && hopeless(candidate, flops, best.milliseconds)) continue;
            constexpr double farBehind = 4; // times as long
            timed_ += before ? 0 : 1;
            const MeasuredKernel now =
                before ? *before
                       : MeasuredKernel{candidate, timeOf(candidate, measure,
                                                          found ? farBehind * best.milliseconds : 0)};
            if (!now.usable()) continue; // perhaps another time: what refuses today may not tomorrow
            if (!before) cache_.remember(keyOf(key, candidate), now);
            right.push_back(now);
            if (!found || now.milliseconds < best.milliseconds) best = now;
        }
        if (comparedAll) best = playOff(right, best, measure);
        const bool skipped = tuning_.skipped(); // a play-off that was cut short decides nothing either
        best.complete = comparedAll && !skipped;
        if (best.complete) tuning_.tell([](TuningProgress& now) { ++now.compared; });
        if (!skipped && best.usable()) cache_.remember(key, best);
        if (skipped && !best.usable() && !all.empty()) return {all.front(), 0, false};
        return best;
    }

    // Other programs come and go, and a kernel that was timed a moment later may have won by luck. Those that
    // came close are timed again, in turn.
    template <class Measure>
    MeasuredKernel playOff(std::vector<MeasuredKernel> candidates, MeasuredKernel best, Measure measure) {
        constexpr double close = 1.5; // times as long
        constexpr int rounds = 3;
        std::erase_if(candidates, [&](const MeasuredKernel& one) {
            return one.milliseconds > close * best.milliseconds;
        });
        if (candidates.size() < 2) return best;
        const std::vector<double> least = leastInTurn(
            candidates.size(), rounds,
            [&](std::size_t at) {
                const double now = timeOf(candidates[at].kernel, measure, 0);
                return now == MeasuredKernel::unusable ? std::numeric_limits<double>::infinity() : now;
            },
            [&] { return timeLeft(); });
        const auto winner = std::ranges::min_element(least);
        if (*winner >= std::numeric_limits<double>::max()) return best; // no time for a round
        return {candidates[static_cast<std::size_t>(winner - least.begin())].kernel, *winner};
    }

    // Milliseconds; `unusable` for a kernel that is wrong, or takes longer than `limit` milliseconds (0:
    // none). One that the driver refuses is a candidate less, no reason to stop.
    template <class Measure>
    static double timeOf(const ProductKernel& kernel, Measure measure, double limit) {
        try {
            const TrialResult result = measure(kernel, limit);
            return result.verified() ? result.milliseconds : MeasuredKernel::unusable;
        } catch (const gpu::OutOfMemoryError&) {
            throw;
        } catch (const gpu::GpuError& error) {
            if (gpu::endsDevice(error)) throw;
            return MeasuredKernel::unusable;
        }
    }

    // Measured on software Vulkan: storage buffers hold products back to a few GFLOP/s; not worth a second of
    // a start.
    static bool hopeless(const ProductKernel& candidate, double flops, double fastest) {
        const double atTenGigaflops = flops / 10e9 * 1e3;
        return !rowOf(candidate.rung).readsTexels && fastest < atTenGigaflops;
    }

    gpu::Device& device_;
    Kernels& kernels_;
    KernelCache cache_;
    Tuning& tuning_;
    double budgetSeconds_;
    const std::atomic<bool>* cancelled_;
    Clock::time_point start_ = Clock::now();
    Clock::time_point measuringSince_ = start_; ///< after compileAll()
    std::size_t comparisonsLeft_ = 0;           ///< not begun
    std::size_t kernelsLeft_ = 0;               ///< not looked at
    std::size_t timed_ = 0;
};

// The weights' gradients of all layers: folded with the update, or apart from it. Folded is the likelier one,
// an operation less and no gradients to be stored: apart is tried when there is time for it.
void chooseBackwardWeights(Chooser& chooser, const NetShape& shape, Optimizer optimizer, std::size_t batch,
                           StepKernels& step) {
    step.foldsUpdate = true;
    bool inTime = true;
    double foldedTime = 0;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        const MeasuredKernel folded = chooser.chooseFolded(dense, optimizer);
        step.foldsUpdate = step.foldsUpdate && folded.usable();
        step.layers[layer].backwardWeights = folded.kernel;
        foldedTime += folded.milliseconds;
        inTime = inTime && (chooser.known(Product::backwardWeights, dense, shape.activationOf(layer)) ||
                            chooser.timeLeft());
    }
    if (step.foldsUpdate && !inTime) return;
    StepKernels apart = step;
    apart.foldsUpdate = false;
    double apartTime = 0;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        const MeasuredKernel product =
            chooser.choose(Product::backwardWeights, dense, shape.activationOf(layer));
        apart.layers[layer].backwardWeights = product.kernel;
        apartTime += product.milliseconds + chooser.updateTime(dense, optimizer);
    }
    if (!step.foldsUpdate || foldedTime > apartTime) step = apart;
}

StepKernels measuredKernels(Chooser& chooser, const NetShape& shape, Optimizer optimizer, std::size_t batch) {
    StepKernels step;
    chooser.prepare(shape, optimizer, batch);
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        LayerKernels& how = step.layers.emplace_back();
        how.forward = chooser.choose(Product::forward, dense, shape.activationOf(layer)).kernel;
        if (layer == 0) continue;
        how.backwardInputs =
            chooser.choose(Product::backwardInputs, dense, shape.activationOf(layer - 1)).kernel;
    }
    chooseBackwardWeights(chooser, shape, optimizer, batch, step);
    chooser.endProducts();
    return step;
}

// The likeliest kernel of a product, of those that can be folded where `foldable` says so.
ProductKernel likeliest(const gpu::Device& device, Product product, const DenseShape& shape, bool foldable) {
    for (const ProductKernel& candidate : fastCandidates(device, product, shape))
        if (!foldable || rowOf(candidate.rung).foldable) return candidate;
    throw std::runtime_error("'" + device.report().name +
                             "' cannot run a product of this size; try narrower layers");
}

ProductKernel evaluationKernel(const gpu::Device& device, const ProductKernel& training,
                               const DenseShape& shape) {
    const bool slow = training.half || training.tileM * training.tileN == 1;
    return slow ? likeliest(device, Product::forward, shape, false) : training;
}

} // namespace

StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, Rung rung, const NetShape& shape,
                          Optimizer optimizer, std::size_t batch, Tuning& tuning,
                          const std::atomic<bool>* cancelled) {
    if (rung == Rung::best) {
        Chooser chooser(device, kernels, tuning, cancelled);
        return measuredKernels(chooser, shape, optimizer, batch);
    }
    StepKernels step;
    // What a whole step does not do, such as evaluation, is left to the kernels of `fused`.
    step.foldsUpdate = rowOf(rung).foldsUpdate;
    step.half = rowOf(rung).half;
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

StepKernels chooseKernels(gpu::Device& device, Kernels& kernels, Rung rung, const NetShape& shape,
                          Optimizer optimizer, std::size_t batch, std::optional<double> budgetSeconds) {
    Tuning tuning(budgetSeconds);
    return chooseKernels(device, kernels, rung, shape, optimizer, batch, tuning);
}

StepKernels evaluationKernels(const gpu::Device& device, const StepKernels& training, const NetShape& shape,
                              std::size_t rows) {
    StepKernels evaluation = training;
    evaluation.half = false;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        ProductKernel& forward = evaluation.layers[layer].forward;
        forward = evaluationKernel(device, forward, denseShapeOf(shape, layer, rows));
    }
    return evaluation;
}

std::vector<ProductKernel> forwardKernels(const gpu::Device& device, Rung rung, const NetShape& shape,
                                          std::size_t rows) {
    const bool chooses = rung == Rung::best || rowOf(rung).foldsUpdate;
    std::vector<ProductKernel> forward;
    forward.reserve(shape.layers());
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, rows);
        forward.push_back(
            chooses ? likeliest(device, Product::forward, dense, false)
                    : evaluationKernel(device, kernelOfRung(device, rung, Product::forward, dense), dense));
    }
    return forward;
}

} // namespace lockstep
