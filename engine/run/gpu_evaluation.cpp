#include "engine/run/gpu_evaluation.h"

#include <algorithm>
#include <numeric>

#include "engine/step/work_sizer.h"

namespace lockstep {

GpuEvaluation::GpuEvaluation(gpu::Device& device, GpuArenas& arenas, Kernels& kernels, const TrainJob& job,
                             const StepKernels& how)
    : job_(job), arenas_(arenas), recorder_(device), ops_(recorder_, arenas, kernels, job.settings, how) {
    ops_.submitEachOperation(true); // a chunk may take long
}

void GpuEvaluation::warmUp(const std::atomic<bool>* cancelled) {
    recorder_.endWhen(cancelled);
    const std::size_t group =
        std::min({chunk_, arenas_.memory.evaluationRows, job_.data->of(Split::train).count});
    millisecondsOf(Split::train, group); // compiles
    const double target = submissionMilliseconds(recorder_.device().software());
    const double milliseconds = std::max(millisecondsOf(Split::train, group), 1e-3);
    const auto rows = static_cast<std::size_t>(std::min(static_cast<double>(group) * target / milliseconds,
                                                        static_cast<double>(arenas_.memory.evaluationRows)));
    // Whole workgroups of score(), where that is more than one.
    chunk_ = rows < chunk_ ? std::min(chunk_, arenas_.memory.evaluationRows) : rows / chunk_ * chunk_;
    for (const Split split : {Split::train, Split::test}) {
        const std::size_t count = job_.data->of(split).count;
        if (count >= chunk_) millisecondsOf(split, chunk_);
        if (count % chunk_ != 0) millisecondsOf(split, count % chunk_);
    }
    recorder_.endWhen(nullptr);
}

// The device's time for the first `rows` rows of a split.
double GpuEvaluation::millisecondsOf(Split split, std::size_t rows) {
    recorder_.begin();
    ops_.beginEvaluation();
    scoreRange(ops_, arenas_.shape, split, 0, rows);
    return recorder_.submitAndTime();
}

ScoreSum GpuEvaluation::score(Split split, std::vector<std::uint64_t>& confusion) {
    const std::size_t count = job_.data->of(split).count;
    for (std::size_t first = 0; first < count; first += chunk_) {
        recorder_.begin();
        if (first == 0) ops_.beginEvaluation();
        scoreRange(ops_, arenas_.shape, split, first, std::min(chunk_, count - first));
        recorder_.submit();
    }
    recorder_.finish();
    recorder_.takeFinished();

    const auto* sums = reinterpret_cast<const float*>(arenas_.scoreSums.mapped().data());
    const std::vector<std::uint32_t> counts =
        arenas_.scoreCounts.downloadValues<std::uint32_t>(1 + arenas_.classes * arenas_.classes);
    confusion.assign(counts.begin() + 1, counts.end());
    return {std::accumulate(sums, sums + ops_.scoredGroups(), 0.0), counts[0]};
}

} // namespace lockstep
