#include "engine/tune/kernel_choice.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/plan/operation.h"
#include "engine/plan/work.h"
#include "engine/step/lane_spec.h"
#include "engine/tune/comparison.h"
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

    /// Milliseconds of a layer's weight gradients and its update: folded, and apart.
    struct FoldedAndApart {
        double folded = 0;
        double apart = 0;
    };
    /// Times what chooseFolded() and choose() have chosen again, in turn: one was compared before the other.
    /// Both are 0 where the comparison is skipped.
    FoldedAndApart foldedAgainstApart(const DenseShape& shape, Activation activation, Optimizer optimizer,
                                      MeasuredKernel folded, MeasuredKernel product) {
        const DenseShape trial = trialOf(shape);
        const std::string key = sizeOf("update", trial) + " " + std::string(name(activation)) + " " +
                                std::string(name(optimizer));
        if (const auto known =
                cache_.find(key)) { // an equal layer's, or an earlier start's: of the same rounds
            const auto then = [&](const std::string& of, const MeasuredKernel& now) {
                return cache_.find(of).value_or(now).milliseconds;
            };
            return {then(keyOf(optimizer, trial), folded),
                    then(keyOf(Product::backwardWeights, trial, activation), product) + known->milliseconds};
        }
        if (tuning_.skipped()) return {};
        UpdateTrial update(device_, trial, optimizer, cancelled_);
        ProductTrial gradients(device_, Product::backwardWeights, trial, activation, simdKernels(), false,
                               cancelled_);
        const std::vector<double> least = leastInTurn(
            3, 3,
            [&](std::size_t at) {
                if (at == 0)
                    return timeOf(
                        folded.kernel,
                        [&](const ProductKernel& kernel, double limit) {
                            return update.measureFolded(kernels_.denseUpdate(kernel, optimizer), 2, limit);
                        },
                        0);
                if (at == 1)
                    return timeOf(
                        product.kernel,
                        [&](const ProductKernel& kernel, double limit) {
                            return gradients.measure(
                                kernels_.dense(Product::backwardWeights, kernel, activation), 2, limit);
                        },
                        0);
                return update.measureUpdate(kernels_.update(optimizer), 2);
            },
            [this, round = 0]() mutable { return round++ == 0 || timeLeft(); });
        const FoldedAndApart times{least[0], least[1] + least[2]};
        if (std::max(times.folded, times.apart) == neverDone) return times; // not remembered: see fastest()
        folded.milliseconds = least[0];
        product.milliseconds = least[1];
        cache_.remember(keyOf(optimizer, trial), folded);
        cache_.remember(keyOf(Product::backwardWeights, trial, activation), product);
        cache_.remember(key, {{}, least[2]});
        return times;
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
        bool comparedAll = true;
        const auto first = [&](std::size_t at, double best) {
            const ProductKernel& candidate = all[at];
            tellTime(at, all.size());
            kernelsLeft_ -= std::min<std::size_t>(kernelsLeft_, 1);
            const bool found = best != neverDone;
            if (const auto before = cache_.find(keyOf(key, candidate))) return before->milliseconds;
            if ((found || tuning_.skipped()) && !timeLeft()) {
                comparedAll = false;
                return neverDone;
            }
            if (found && device_.software() && hopeless(candidate, flops, best)) return neverDone;
            warmUp(candidate, measure);
            constexpr double farBehind = 4; // times as long
            ++timed_;
            const double now = timeOf(candidate, measure, found ? farBehind * best : 0);
            // A kernel that fails is not remembered: what is refused today may not be tomorrow.
            if (now != neverDone) cache_.remember(keyOf(key, candidate), {candidate, now});
            return now;
        };
        const Fastest winner = fastestOf(
            all.size(), !device_.software(), first,
            [&](std::size_t at) { return timeOf(all[at], measure, 0); }, [&] { return timeLeft(); });
        const bool skipped = tuning_.skipped(); // what was cut short decides nothing either
        const bool usable = winner.milliseconds != neverDone;
        MeasuredKernel best{{}, MeasuredKernel::unusable};
        if (usable) best = {all[winner.at], winner.milliseconds};
        best.complete = comparedAll && winner.decided && !skipped;
        if (best.complete) tuning_.tell([](TuningProgress& now) { ++now.compared; });
        if (!skipped && usable) cache_.remember(key, best);
        if (skipped && !usable && !all.empty()) return {all.front(), 0, false};
        return best;
    }

    // Before the first kernel of a session is timed. The time that a GPU takes to wake up is not the
    // comparison's.
    template <class Measure> void warmUp(const ProductKernel& likeliest, Measure measure) {
        if (std::exchange(warm_, true) || device_.software() || !timeLeft()) return;
        const Clock::time_point begin = Clock::now();
        settle([&] { return timeOf(likeliest, measure, 0); }, [&] { return !tuning_.skipped(); });
        start_ += Clock::now() - begin;
        measuringSince_ = Clock::now();
    }

    // Milliseconds; infinity for a kernel that is wrong, or takes longer than `limit` milliseconds (0: none).
    // One that the driver refuses is a candidate less, no reason to stop.
    template <class Measure>
    static double timeOf(const ProductKernel& kernel, Measure measure, double limit) {
        try {
            const TrialResult result = measure(kernel, limit);
            return result.verified() ? result.milliseconds : neverDone;
        } catch (const gpu::OutOfMemoryError&) {
            throw;
        } catch (const gpu::GpuError& error) {
            if (gpu::endsDevice(error)) throw;
            return neverDone;
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
    bool warm_ = false; ///< the device has settled
};

// The weights' gradients of all layers: folded with the update, or apart from it. Folded is the likelier one,
// an operation less and no gradients to be stored: apart is tried when there is time for it.
void chooseBackwardWeights(Chooser& chooser, const NetShape& shape, Optimizer optimizer, std::size_t batch,
                           StepKernels& step) {
    step.foldsUpdate = true;
    bool inTime = true;
    std::vector<MeasuredKernel> folded;
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        folded.push_back(chooser.chooseFolded(dense, optimizer));
        step.foldsUpdate = step.foldsUpdate && folded.back().usable();
        step.layers[layer].backwardWeights = folded.back().kernel;
        inTime = inTime && (chooser.known(Product::backwardWeights, dense, shape.activationOf(layer)) ||
                            chooser.timeLeft());
    }
    if (step.foldsUpdate && !inTime) return;
    StepKernels apart = step;
    apart.foldsUpdate = false;
    double gain = 0; // milliseconds that folding saves
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, batch);
        const Activation activation = shape.activationOf(layer);
        const MeasuredKernel product = chooser.choose(Product::backwardWeights, dense, activation);
        apart.layers[layer].backwardWeights = product.kernel;
        if (!step.foldsUpdate) continue;
        const auto times = chooser.foldedAgainstApart(dense, activation, optimizer, folded[layer], product);
        step.foldsUpdate = times.folded != neverDone; // it has failed by now
        if (step.foldsUpdate) gain += times.apart - times.folded;
    }
    if (!step.foldsUpdate || gain < 0) step = apart;
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
