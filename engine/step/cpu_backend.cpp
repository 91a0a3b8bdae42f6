#include "engine/step/cpu_backend.h"

#include <cmath>

namespace lockstep {

void CpuBackend::beginEvaluation(std::size_t classes) {
    scored_ = {};
    confusion_.assign(classes * classes, 0);
}

void CpuBackend::addScore(const LossShape& shape, const float* outputs, const TargetWord* targets) {
    const ScoreSum sum = arenas_.kernels.score(shape, arenas_.data.classes, outputs, targets,
                                               confusion_.empty() ? nullptr : confusion_.data());
    scored_.loss += sum.loss;
    scored_.correct += sum.correct;
}

void CpuBackend::setLoss(double sumOfTerms, std::size_t batchRows) {
    const std::size_t terms = lossTerms(arenas_.shape.loss, batchRows, arenas_.shape.outputs());
    loss_ = static_cast<float>(sumOfTerms / static_cast<double>(terms));
    failed_ = !std::isfinite(loss_);
}

} // namespace lockstep
