#include "engine/step/ops.h"

#include <stdexcept>
#include <string>

namespace lockstep {

namespace {

[[noreturn]] void refuse(Operation operation) {
    throw std::logic_error("this backend does not carry out '" + std::string(name(operation)) + "'");
}

} // namespace

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
        switch (each.operation) {
        case Operation::gatherBatch: ops.gatherBatch(step); break;
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
        case Operation::wholeStep:
        case Operation::lossSum:
        case Operation::lossScale:
            refuse(each.operation); // a kernel for many steps (whole_step.h), and parts of other operations
        }
    }
}

void scoreRange(Ops& ops, const NetShape& net, Split split, std::size_t first, std::size_t rows) {
    ops.gatherRange(split, first, rows);
    for (std::size_t layer = 0; layer < net.layers(); ++layer) ops.dense(layer);
    ops.score();
}

} // namespace lockstep
