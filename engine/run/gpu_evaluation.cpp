#include "engine/run/gpu_evaluation.h"

#include <algorithm>
#include <limits>

#include "engine/step/work_sizer.h"

namespace lockstep {

GpuEvaluation::GpuEvaluation(gpu::Device& device, GpuArenas& arenas, Kernels& kernels, const TrainJob& job,
                             const StepKernels& how)
    : job_(job), arenas_(arenas), recorder_(device), ops_(recorder_, arenas, kernels, job.settings, how) {
    ops_.submitEachOperation(true); // a chunk may take long
}

void GpuEvaluation::warmUp() {
    const std::size_t group = std::min({chunk_, arenas_.capacity, job_.data->of(Split::train).count});
    millisecondsOf(Split::train, group); // compiles
    const double target = submissionMilliseconds(recorder_.device().software());
    const double milliseconds = std::max(millisecondsOf(Split::train, group), 1e-3);
    const auto rows = static_cast<std::size_t>(
        std::min(static_cast<double>(group) * target / milliseconds, static_cast<double>(arenas_.capacity)));
    // Whole workgroups of score(), where that is more than one.
    chunk_ = rows < chunk_ ? std::min(chunk_, arenas_.capacity) : rows / chunk_ * chunk_;
    for (const Split split : {Split::train, Split::test}) {
        const std::size_t count = job_.data->of(split).count;
        if (count >= chunk_) millisecondsOf(split, chunk_);
        if (count % chunk_ != 0) millisecondsOf(split, count % chunk_);
    }
}

// Of the device, for the first `rows` rows of a split.
double GpuEvaluation::millisecondsOf(Split split, std::size_t rows) {
    recorder_.begin();
    ops_.beginEvaluation();
    scoreRange(ops_, arenas_.shape, split, 0, rows);
    return recorder_.submitAndTime();
}

Evaluation GpuEvaluation::evaluate(Split split) {
    Evaluation result;
    result.accuracy = result.loss = std::numeric_limits<double>::quiet_NaN();
    result.count = job_.data->of(split).count;
    if (result.count == 0) return result;
    const std::size_t count = result.count;
    for (std::size_t first = 0; first < count; first += chunk_) {
        recorder_.begin();
        if (first == 0) ops_.beginEvaluation();
        scoreRange(ops_, arenas_.shape, split, first, std::min(chunk_, count - first));
        recorder_.submit();
    }
    recorder_.finish();
    recorder_.takeFinished();

    const auto* sums = reinterpret_cast<const float*>(arenas_.scoreSums.mapped().data());
    const auto* counts = reinterpret_cast<const std::uint32_t*>(arenas_.scoreCounts.mapped().data());
    double loss = 0;
    for (std::size_t group = 0; group < ops_.scoredGroups(); ++group)
        loss += static_cast<double>(sums[group]);
    result.loss = loss / static_cast<double>(lossTerms(arenas_.shape.loss, count, arenas_.shape.outputs()));
    if (arenas_.classes > 0) result.accuracy = static_cast<double>(counts[0]) / static_cast<double>(count);
    result.confusion.assign(counts + 1, counts + 1 + arenas_.classes * arenas_.classes);
    return result;
}

std::vector<float> GpuEvaluation::predict(Split split, std::size_t first, std::size_t rows) {
    requireRows(job_.data->of(split), first, rows);
    const std::size_t outputs = arenas_.shape.outputs();
    const std::size_t levels = arenas_.shape.layers();
    std::vector<float> result;
    result.reserve(rows * outputs);
    for (std::size_t done = 0; done < rows; done += chunk_) {
        const std::size_t count = std::min(chunk_, rows - done);
        recorder_.begin();
        ops_.gatherRange(split, first + done, count);
        for (std::size_t layer = 0; layer < levels; ++layer) ops_.dense(layer);
        recorder_.submit();
        recorder_.finish();
        const std::size_t stride = arenas_.stride(levels);
        const std::vector<float> padded = arenas_.outputs(count);
        for (std::size_t row = 0; row < count; ++row) {
            const auto begin = padded.begin() + static_cast<std::ptrdiff_t>(row * stride);
            result.insert(result.end(), begin, begin + static_cast<std::ptrdiff_t>(outputs));
        }
    }
    recorder_.takeFinished();
    return result;
}

} // namespace lockstep
