#include "engine/step/cpu_ops.h"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "engine/net/plain_round.h"
#include "engine/plan/rounding.h"

namespace lockstep {

CpuOps::CpuOps(CpuArenas& arenas, ThreadTeam& team, CpuTiming* timing)
    : CpuBackend(arenas, timing), team_(team) {}

// A product packs its left-hand matrix, too: cut by columns, each part packs all of it.
CpuOps::Cut CpuOps::bestCut(std::size_t layer, std::size_t columns) const {
    constexpr std::size_t worthABarrier = 1 << 20; // weights; packing them takes a core about 1 ms
    const bool many = arenas_.layout.layer(layer).weightCount() >= worthABarrier;
    return team_.size() > 1 && many && columns > rows_ ? Cut::columns : Cut::rows;
}

/// Begins an operation cut like this. After one of the same cut, a part needs
/// only what it has computed itself: its rows of the batch, or its rows of the
/// weights. In all other cases it needs the other parts' results. Where tensors share memory, another thread
/// may still be reading what lies where this operation writes.
void CpuOps::cutBy(Cut cut) {
    if (cut == cut_ && cut != Cut::columns && !arenas_.sharesMemory()) return;
    meetOthers();
    cut_ = cut;
    if (cut != Cut::weights) return;
    // All parts of the loss are there now. Added in their order, the same number of threads gives the same
    // loss every time. Each thread adds them itself, so that all agree on whether the step may change the
    // weights.
    setLoss(std::accumulate(arenas_.partialLosses.begin(), arenas_.partialLosses.end(), 0.0), batchRows_);
}

void CpuOps::meetOthers() {
    if (team_.size() == 1) return;
    const auto start = std::chrono::steady_clock::now();
    team_.barrier();
    waitedSeconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (timing_ != nullptr) timing_->waited();
}

/// Hands `work` this thread's share of `count` items, in as few calls as the kernels allow: a product packs a
/// matrix per call.
template <class Work> void CpuOps::forPieces(std::size_t count, std::size_t grain, const Work& work) const {
    const std::size_t piece = arenas_.kernels.anyCut ? parts_.end - parts_.begin : arenas_.partsPerThread;
    for (std::size_t part = parts_.begin; part < parts_.end; part += piece) {
        const Share items = itemsOf(count, {part, part + piece}, grain);
        if (items.begin < items.end) work(items);
    }
}

/// The same for a matrix [batch][width]: rows or columns. Columns are cut in whole cache lines: no two parts
/// write to the same one.
template <class Work> void CpuOps::forBlocks(std::size_t width, const Work& work) const {
    if (cut_ == Cut::rows)
        forPieces(rows_, 1, [&](Share rows) { work(rows, Share{0, width}); });
    else
        forPieces(width, 64 / sizeof(float), [&](Share columns) { work(Share{0, rows_}, columns); });
}

void CpuOps::gather(const Examples& examples, const BatchOrder& order, const BatchRange& batch) {
    rows_ = batch.rows;
    cut_ = Cut::rows;
    const Share rows = ownRows();
    arenas_.kernels.gatherBatch(arenas_.data, examples, order, batch, rows.begin, rows.end,
                                arenas_.layout.layer(0).rowStride, arenas_.inputs, arenas_.targets.data());
}

void CpuOps::gatherBatch(const StepSettings& step) { // endStep() waited, if it is the first piece
    if (addsPiece()) meetOthers();
    gather(arenas_.data.train, arenas_.order, step.batch);
    lap();
}

// The last range of a split is shorter and divided differently: wait until no
// thread reads the rows that become another thread's.
void CpuOps::gatherRange(Split split, std::size_t first, std::size_t rows) {
    team_.barrier();
    const Examples& examples = arenas_.data.of(split);
    gather(examples, BatchOrder(examples.count, examples.count, 0, false), {0, first, rows});
}

void CpuOps::dense(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    const float* below = arenas_.below(layer);
    float* sums = arenas_.layers[layer].sums;
    // An evaluation has no plan.
    const CpuKernels& kernels = planned() != nullptr ? arenas_.kernels : exactKernels(arenas_.kernels);
    cutBy(bestCut(layer, place.outputs));
    forBlocks(place.outputs, [&](Share rows, Share columns) {
        DenseShape shape = denseShapeOf(arenas_.shape, layer, rows_);
        shape.rows = rows.end - rows.begin;
        shape.outputs = columns.end - columns.begin;
        const std::size_t first = rows.begin * shape.outputStride + columns.begin;
        kernels.dense(shape, below + rows.begin * shape.inputStride,
                      arenas_.weights(layer, planned()) + columns.begin * place.rowStride,
                      arenas_.parameters.data() + place.biasOffset + columns.begin,
                      arenas_.shape.activationOf(layer), arenas_.layers[layer].outputs + first,
                      sums == nullptr ? nullptr : sums + first);
    });
    lap();
}

void CpuOps::lossAndGradient(const StepSettings& step) {
    const std::size_t last = arenas_.shape.layers() - 1;
    batchRows_ = step.batch.rows;
    cutBy(Cut::rows);
    for (std::size_t part = parts_.begin; part < parts_.end; ++part) { // its sum depends on where it is cut
        const Share rows = itemsOf(rows_, {part, part + 1});
        const LossShape shape = arenas_.lossShape(rows.end - rows.begin, batchRows_);
        const std::size_t offset = rows.begin * shape.stride;
        const double before = addsPiece() ? arenas_.partialLosses[part] : 0;
        arenas_.partialLosses[part] =
            before + arenas_.kernels.lossAndGradient(shape, arenas_.layers[last].outputs + offset,
                                                     arenas_.layers[last].saved() + offset,
                                                     arenas_.targets.data() + rows.begin * shape.targetWidth,
                                                     arenas_.layers[last].dSums + offset);
    }
    lap();
}

void CpuOps::denseBackwardInputs(std::size_t layer) {
    const LayerLayout& place = arenas_.layout.layer(layer);
    cutBy(bestCut(layer, place.inputs));
    forBlocks(place.inputs, [&](Share rows, Share columns) {
        DenseShape shape = denseShapeOf(arenas_.shape, layer, rows_);
        shape.rows = rows.end - rows.begin;
        shape.inputs = columns.end - columns.begin;
        const std::size_t below = rows.begin * shape.inputStride + columns.begin;
        arenas_.kernels.denseBackwardInputs(
            shape, arenas_.layers[layer].dSums + rows.begin * shape.outputStride,
            arenas_.weights(layer, planned()) + columns.begin, arenas_.shape.activationOf(layer - 1),
            arenas_.layers[layer - 1].saved() + below, arenas_.layers[layer - 1].dSums + below);
    });
    lap();
}

/// This thread's rows of the layer's weights.
template <class Work> void CpuOps::forOutputs(std::size_t layer, const Work& work) const {
    forPieces(arenas_.layout.layer(layer).outputs, 1,
              [&](Share outputs) { work(outputs.begin, outputs.end); });
}

// It needs dZ[layer] of all rows, and so from all threads. The first layer's call waits for them; that serves
// all layers, and guarantees that no thread still reads weights that change here.
void CpuOps::addWeightGradient(std::size_t layer, float keep, float scale, float* target) {
    cutBy(Cut::weights);
    if (failed_) return;
    const LayerLayout& place = arenas_.layout.layer(layer);
    forOutputs(layer, [&](std::size_t begin, std::size_t end) {
        arenas_.kernels.denseBackwardWeights(
            denseShapeOf(arenas_.shape, layer, rows_), arenas_.layers[layer].dSums, arenas_.below(layer),
            begin, end, keep, scale, target + place.weightOffset, target + place.biasOffset);
    });
    lap();
}

// A thread updates the slices whose gradients it has just computed: they are in
// its cache, and it needs no barrier.
void CpuOps::update(const StepSettings& step, std::size_t first, std::size_t layers) {
    if (failed_) return;
    if (arenas_.ranks && arenas_.settings.share.shard > 0) return updateShard(step, first);
    const auto updateSlice = [&](std::size_t begin, std::size_t end) {
        arenas_.kernels.update(arenas_.optimizer.kind, step.update, begin, end, arenas_.gradients.data(),
                               arenas_.parameters.data(), arenas_.stateArray(0), arenas_.stateArray(1));
    };
    for (std::size_t layer = first; layer < first + layers; ++layer) {
        const LayerLayout& place = arenas_.layout.layer(layer);
        forOutputs(layer, [&](std::size_t begin, std::size_t end) {
            updateSlice(place.weightOffset + begin * place.rowStride,
                        place.weightOffset + end * place.rowStride);
            updateSlice(place.biasOffset + begin, place.biasOffset + end);
        });
    }
    lap();
}

// Cut anywhere, because the exchange has waited for all threads.
void CpuOps::updateShard(const StepSettings& step, std::size_t layer) {
    const Shards& shards = arenas_.ranks->shards();
    const FloatRange own = shards.own(layer);
    const auto from = [](float* array, std::size_t first) {
        return array == nullptr ? nullptr : array + first;
    };
    forPieces(own.size() / 64, 1, [&](Share lines) {
        arenas_.kernels.update(arenas_.optimizer.kind, step.update, lines.begin * 64, lines.end * 64,
                               arenas_.gradients.data() + own.begin, arenas_.parameters.data() + own.begin,
                               from(arenas_.stateArray(0), shards.stateOf(layer)),
                               from(arenas_.stateArray(1), shards.stateOf(layer)));
    });
    lap();
}

/// What only one thread does for all, while the others wait: it must not throw.
template <class Work> void CpuOps::leadExchange(const Work& work) {
    if (parts_.begin != 0 || arenas_.rankFailure) return;
    try {
        work(*arenas_.ranks);
    } catch (...) {
        arenas_.rankFailure = std::current_exception();
    }
}

// What follows is cut by rows, and so has waited, too. A rank whose share of a small batch is empty has
// nothing to add.
void CpuOps::beginExchange(std::size_t layer, const StepSettings& step) {
    cutBy(Cut::rows);
    leadExchange([&](StepExchange& ranks) {
        const bool idle = arenas_.settings.idleFor(step.batch.rows);
        if (isFirstExchange(layer)) {
            const auto& partial = arenas_.partialLosses;
            ranks.beginLoss(step.step, idle ? 0 : std::accumulate(partial.begin(), partial.end(), 0.0));
        }
        const std::size_t begin = arenas_.layout.layer(layer).weightOffset;
        const std::span own(arenas_.gradients.data() + begin, arenas_.layout.endOf(layer) - begin);
        if (idle) std::ranges::fill(own, 0.0f);
        ranks.begin(step.step, layer, own);
    });
    lap();
}

void CpuOps::awaitExchange(std::size_t layer, const StepSettings& step) {
    leadExchange([&](StepExchange& ranks) {
        if (isFirstExchange(layer)) arenas_.summedLoss = ranks.awaitLoss();
        ranks.await(layer);
    });
    lap(); // before the threads of this rank wait for each other
    meetOthers();
    cut_ = Cut::weights;
    if (isFirstExchange(layer)) setLoss(arenas_.summedLoss, step.batch.rows);
    if (arenas_.rankFailure) failed_ = true;
}

void CpuOps::gatherParameters(const StepSettings& step) {
    if (failed_) return; // and so have all ranks
    meetOthers();
    leadExchange([&](StepExchange& ranks) {
        ranks.gatherParameters(step.step, {arenas_.parameters.data(), arenas_.parameters.size()});
    });
    meetOthers();
    if (arenas_.rankFailure) failed_ = true;
    lap();
}

/// The largest of what all threads have found in their parts of the tensor. They meet before any of them
/// rounds. A step that comes back to the same tensor has met elsewhere since, so no thread still reads
/// what is overwritten.
std::uint32_t CpuOps::largestOfAll(const PlannedOperation& operation, std::uint32_t own) {
    const auto slots =
        std::span(arenas_.largestParts)
            .subspan(scaleSlot(operation.operation, operation.layer) * arenas_.parts(), arenas_.parts());
    std::ranges::fill(slots.subspan(parts_.begin, parts_.end - parts_.begin), own);
    meetOthers();
    return std::ranges::max(slots);
}

// Each thread rounds what it has just computed, so it need not wait; for a scale it waits within.
void CpuOps::roundBatch(const PlannedOperation& operation, float* values, std::size_t width) {
    const std::size_t stride = roundUpToFour(width);
    const Rounding how = roundingOf(arenas_.settings.precision, operation.operation);
    const auto forOwn = [&](const auto& work) {
        forBlocks(width, [&](Share rows, Share columns) {
            work(plain::RoundShape{rows.end - rows.begin, columns.end - columns.begin, stride},
                 values + rows.begin * stride + columns.begin);
        });
    };
    int scale = 0;
    if (how.scaled) {
        std::uint32_t largest = 0;
        forOwn([&](const plain::RoundShape& shape, const float* from) {
            largest = std::max(largest, plain::largestBits(shape, from));
        });
        scale = shared::scaleFor(largestOfAll(operation, largest), rowOf(how.kind).format(), how.mostScale);
    }
    forOwn([&](const plain::RoundShape& shape, float* own) {
        plain::roundAll(shape, how.kind, scale, own, own);
    });
    lap();
}

// What reads the copies waits for all threads' rows: they are cut otherwise.
void CpuOps::roundWeights(const PlannedOperation& operation) {
    const LayerLayout& place = arenas_.layout.layer(operation.layer);
    const float* from = arenas_.parameters.data() + place.weightOffset;
    float* to = arenas_.weightCopy(operation.layer);
    const Rounding how = roundingOf(arenas_.settings.precision, operation.operation);
    const auto shapeOf = [&](std::size_t begin, std::size_t end) {
        return plain::RoundShape{end - begin, place.inputs, place.rowStride};
    };
    int scale = 0;
    if (how.scaled) {
        std::uint32_t largest = 0;
        forOutputs(operation.layer, [&](std::size_t begin, std::size_t end) {
            largest =
                std::max(largest, plain::largestBits(shapeOf(begin, end), from + begin * place.rowStride));
        });
        scale = shared::scaleFor(largestOfAll(operation, largest), rowOf(how.kind).format(), how.mostScale);
    }
    forOutputs(operation.layer, [&](std::size_t begin, std::size_t end) {
        const std::size_t first = begin * place.rowStride;
        plain::roundAll(shapeOf(begin, end), how.kind, scale, from + first, to + first);
    });
    cut_ = Cut::weights;
    lap();
}

// A thread rounds the slices that it has just updated, without a barrier.
void CpuOps::roundParameters(const PlannedOperation& operation, const StepSettings& step) {
    if (failed_) return;
    const FloatKind kind = roundingOf(arenas_.settings.precision, operation.operation).kind;
    const auto roundSlice = [&](std::size_t begin, std::size_t end) {
        if (arenas_.settings.precision.rounding == RoundingMode::stochastic)
            plain::roundParametersStochastic(kind, arenas_.settings.seed, step.step, begin, end,
                                             arenas_.parameters.data());
        else
            plain::roundParameters(kind, begin, end, arenas_.parameters.data());
    };
    for (std::size_t layer = operation.layer; layer < operation.layer + operation.layers; ++layer) {
        const LayerLayout& place = arenas_.layout.layer(layer);
        forOutputs(layer, [&](std::size_t begin, std::size_t end) {
            roundSlice(place.weightOffset + begin * place.rowStride,
                       place.weightOffset + end * place.rowStride);
            roundSlice(place.biasOffset + begin, place.biasOffset + end);
        });
    }
    lap();
}

void CpuOps::carryOut(const PlannedOperation& operation, const StepSettings& step) {
    const std::size_t layer = operation.layer;
    switch (operation.operation) {
    case Operation::exchange: return exchanges() ? beginExchange(layer, step) : void();
    case Operation::awaitExchange: return exchanges() ? awaitExchange(layer, step) : meetOthers();
    case Operation::gatherParameters: return exchanges() ? gatherParameters(step) : void();
    case Operation::roundActivations:
        return roundBatch(operation, layer == 0 ? arenas_.inputs : arenas_.layers[layer - 1].outputs,
                          arenas_.shape.widths[layer]);
    case Operation::roundDSums:
        return roundBatch(operation, arenas_.layers[layer].dSums, arenas_.shape.widths[layer + 1]);
    case Operation::roundWeights: return roundWeights(operation);
    case Operation::roundParameters: return roundParameters(operation, step);
    default: Ops::carryOut(operation, step);
    }
}

void CpuOps::score() {
    cutBy(Cut::rows);
    const Share rows = ownRows();
    const LossShape shape = arenas_.lossShape(rows.end - rows.begin, rows_);
    addScore(shape, arenas_.layers.back().outputs + rows.begin * shape.stride,
             arenas_.targets.data() + rows.begin * shape.targetWidth);
}

} // namespace lockstep
