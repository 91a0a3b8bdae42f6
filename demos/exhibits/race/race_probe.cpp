// Looking into the lanes while they train: timings of operations, answers, evaluations on demand.
#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "demos/exhibits/race/race_model.h"
#include "demos/kit/futures.h"

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

/// A lane that is over: its thread is done with the trainer, and the last question may have been dropped. Its
/// last evaluation is as of its last step, so that it is not asked for another.
bool RaceModel::ask(std::size_t index, const ProbeWish& wish, bool wait) {
    Lane& lane = run_->race->lane(index);
    std::future<void>& asked = run_->asked[index];
    if (lane.trainer() == nullptr || lane.snapshot().status == LaneStatus::failed) return true;
    if (asked.valid()) return false;
    const ProbeWish rest{wish.operations, false, wish.first, wish.rows};
    asked =
        std::async(std::launch::async, [rest, &job = run_->job, &trainer = *lane.trainer(),
                                        &probe = run_->probes[index]] { answer(rest, job, trainer, probe); });
    if (wait) asked.wait();
    return true;
}

/// Whether an answer is still on its way. Throws what has kept another from coming, as std::runtime_error:
/// where that is the loss of a device, it need not be the window's.
bool RaceModel::asking() {
    bool open = false;
    for (std::size_t i = 0; i < run_->asked.size(); ++i) {
        std::future<void>& asked = run_->asked[i];
        if (!asked.valid()) continue;
        if (!ready(asked)) {
            open = true;
            continue;
        }
        try {
            asked.get();
        } catch (const std::exception& error) {
            throw std::runtime_error(run_->lanes[i].spec.text() + ": " + error.what());
        }
    }
    return open;
}

bool RaceModel::probe(const ProbeWish& wish, bool wait) {
    bool all = true;
    if (!run_ || !run_->race) return all;
    for (std::size_t i = 0; i < run_->probes.size(); ++i) {
        LaneProbe& probe = run_->probes[i];
        Lane& lane = run_->race->lane(i);
        const LaneStatus status = lane.snapshot().status;
        if (status == LaneStatus::waiting || status == LaneStatus::preparing) continue;
        if (status >= LaneStatus::finished) {
            all = ask(i, wish, wait) && all;
            continue;
        }
        {
            const std::lock_guard lock(probe.mutex);
            all = all && !probe.pending;
            if (probe.pending) continue;
            probe.pending = true;
        }
        // The run's data and probes outlive its race, and with it the lane's thread.
        lane.post([wish, &job = run_->job, &probe](Trainer& trainer) { answer(wish, job, trainer, probe); });
        while (wait && !answered(probe) && !lane.snapshot().over())
            lane.waitFor(std::chrono::milliseconds(1));
    }
    return all;
}

} // namespace lockstep::demos
