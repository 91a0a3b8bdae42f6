// Looking into the lanes while they train: timings of operations, answers, evaluations on demand.
#include <algorithm>
#include <chrono>

#include "demos/exhibits/race/race_model.h"

namespace lockstep::demos {

namespace {

/// On the thread that uses the trainer.
void answer(const ProbeWish& wish, const TrainJob& job, Trainer& trainer, LaneProbe& probe) {
    std::vector<OperationTiming> operations;
    std::optional<LaneAnswers> answers;
    std::optional<Evaluation> evaluation;
    const std::uint64_t step = trainer.completedSteps();
    if (wish.operations) operations = trainer.operations();
    const std::size_t count = job.data->test.count;
    if (wish.rows > 0 && wish.first < count) {
        const std::size_t rows = std::min(wish.rows, count - wish.first);
        answers = LaneAnswers{step, wish.first, rows, trainer.predict(Split::test, wish.first, rows)};
    }
    if (wish.evaluation) evaluation = trainer.evaluate(Split::test);

    const std::lock_guard lock(probe.mutex);
    if (wish.operations) probe.operations = std::move(operations);
    if (answers) probe.answers = std::move(answers);
    if (evaluation) {
        probe.evaluation = std::move(evaluation);
        probe.evaluatedStep = step;
    }
    probe.pending = false;
}

bool answered(LaneProbe& probe) {
    const std::lock_guard lock(probe.mutex);
    return !probe.pending;
}

} // namespace

void RaceModel::probe(const ProbeWish& wish, bool wait) {
    if (!run_ || !run_->race) return;
    for (std::size_t i = 0; i < run_->probes.size(); ++i) {
        LaneProbe& probe = run_->probes[i];
        Lane& lane = run_->race->lane(i);
        const LaneStatus status = lane.snapshot().status;
        if (status == LaneStatus::waiting || status == LaneStatus::preparing) continue;
        if (status >= LaneStatus::finished) {
            // The lane's thread is done with the trainer, and the last question may have been dropped.
            // Its last evaluation is as of its last step, so that it is not asked for another.
            if (lane.trainer() != nullptr && status != LaneStatus::failed)
                answer({wish.operations, false, wish.first, wish.rows}, run_->job, *lane.trainer(), probe);
            continue;
        }
        {
            const std::lock_guard lock(probe.mutex);
            if (probe.pending) continue;
            probe.pending = true;
        }
        // The run's data and probes outlive its race, and with it the lane's thread.
        lane.post([wish, &job = run_->job, &probe](Trainer& trainer) { answer(wish, job, trainer, probe); });
        while (wait && !answered(probe) && !lane.snapshot().over())
            lane.waitFor(std::chrono::milliseconds(1));
    }
}

} // namespace lockstep::demos
