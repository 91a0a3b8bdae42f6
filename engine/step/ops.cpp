#include "engine/step/ops.h"

#include <stdexcept>
#include <string>

namespace lockstep {

namespace {

[[noreturn]] void refuse(Operation operation) {
    throw std::logic_error("this backend does not carry out '" + std::string(name(operation)) + "'");
}

// The step, with this operation's piece of its batch: as many examples in each as can be.
StepSettings pieceOf(StepSettings step, const PlannedOperation& operation) {
    if (operation.pieces == 1) return step;
    const std::size_t rows = step.batch.rows;
    const std::size_t pieces = piecesOf(operation, rows);
    const std::size_t begin = rows * operation.piece / pieces;
    step.batch.first += begin;
    step.batch.rows = rows * (operation.piece + 1) / pieces - begin;
    return step;
}

} // namespace

void Ops::carryOut(const PlannedOperation& operation, const StepSettings&) { refuse(operation.operation); }
void Ops::denseBackwardWeightsAndUpdate(std::size_t, const StepSettings&) {
    refuse(Operation::denseBackwardWeightsAndUpdate);
}
void Ops::gatheredDense(const StepSettings&) { refuse(Operation::gatheredDense); }
void Ops::lastLayer(const StepSettings&) { refuse(Operation::lastLayer); }
void Ops::weightGradients(const StepSettings&) { refuse(Operation::weightGradients); }

void execute(Ops& ops, const StepPlan& plan, const StepSettings& step) {
    struct Planned { // also where an operation throws
        const PlannedOperation*& now;
        ~Planned() { now = nullptr; }
    } planned{ops.planned_};
    for (const PlannedOperation& each : plan.operations) {
        planned.now = &each;
        if (each.pieces > 1) {
            if (!ops.takesPieces()) throw std::logic_error("this backend does not take a batch in pieces");
            if (each.piece >= piecesOf(each, step.batch.rows)) continue;
        }
        switch (each.operation) {
        case Operation::gatherBatch: ops.gatherBatch(pieceOf(step, each)); break;
        case Operation::dense: ops.dense(each.layer); break;
        case Operation::lossAndGradient: ops.lossAndGradient(step); break;
        case Operation::denseBackwardInputs: ops.denseBackwardInputs(each.layer); break;
        case Operation::denseBackwardWeights: ops.denseBackwardWeights(each.layer); break;
        case Operation::update: ops.update(step, each.layer, each.layers); break;
        case Operation::denseBackwardWeightsAndUpdate:
            ops.denseBackwardWeightsAndUpdate(each.layer, step);
            break;
        case Operation::gatheredDense: ops.gatheredDense(step); break;
        case Operation::lastLayer: ops.lastLayer(step); break;
        case Operation::weightGradients: ops.weightGradients(step); break;
        default: ops.carryOut(each, step);
        }
    }
}

void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows) {
    ops.gatherRange(split, first, rows);
    for (std::size_t layer = 0; layer < net.layers(); ++layer) ops.dense(layer);
    ops.score();
}

} // namespace lockstep
