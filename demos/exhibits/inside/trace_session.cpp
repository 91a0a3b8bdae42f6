#include "demos/exhibits/inside/trace_session.h"

#include <chrono>
#include <utility>

namespace lockstep::demos {

namespace {

// The first steps after the start take longer: caches are cold, and memory is touched for the first time.
// They are made and undone, so that the first one shown is like all others.
void warmUp(Trainer& trainer, const TrainerState& first) {
    constexpr std::uint64_t steps = 3;
    trainer.run(steps);
    trainer.finish();
    trainer.restore(first);
}

} // namespace

TraceSession::TraceSession(const InsideSettings& settings, std::shared_ptr<const Dataset> data,
                           Machines& machines, std::uint64_t step)
    : data_(std::move(data)), job_(settings.job(*data_)) {
    for (std::size_t machine = 0; machine < machineCount; ++machine) {
        LaneOptions options;
        options.finish.steps = std::uint64_t{1} << 50; // it only ever does what is posted
        options.evaluateEvery = 0;
        options.startPaused = true;
        const LaneSpec& spec = settings.lanes[machine];
        lanes_[machine] =
            std::make_unique<Lane>(spec.text(), job_, machines.maker(job_, spec), std::move(options));
    }
    for (std::size_t machine = 0; machine < machineCount; ++machine) {
        lanes_[machine]->start();
        lanes_[machine]->post([this, machine, step](Trainer& trainer) {
            first_[machine] = trainer.state();
            warmUp(trainer, *first_[machine]);
            trainer.run(step);
            trainer.finish();
        });
    }
}

void TraceSession::trace(std::size_t machine) {
    lanes_[machine]->post([this, machine](Trainer& trainer) {
        StepTrace trace = trainer.traceStep({});
        const std::lock_guard lock(mutex_);
        mail_[machine] = std::move(trace);
    });
}

void TraceSession::reset() {
    for (std::size_t machine = 0; machine < machineCount; ++machine)
        lanes_[machine]->post([this, machine](Trainer& trainer) { trainer.restore(*first_[machine]); });
}

std::optional<StepTrace> TraceSession::takeTrace(std::size_t machine) {
    const std::lock_guard lock(mutex_);
    return std::exchange(mail_[machine], std::nullopt);
}

bool TraceSession::idle(std::size_t machine) const {
    const Lane& lane = *lanes_[machine];
    return lane.done() == lane.posted();
}

bool TraceSession::prepared(std::size_t machine) const {
    const LaneStatus status = lanes_[machine]->snapshot().status;
    return status != LaneStatus::waiting && status != LaneStatus::preparing;
}

std::string TraceSession::failure(std::size_t machine) const {
    const LaneSnapshot shot = lanes_[machine]->snapshot();
    return shot.status == LaneStatus::failed ? shot.message : std::string();
}

void TraceSession::wait(std::size_t machine) const {
    while (!lanes_[machine]->waitForPosted(std::chrono::seconds(10))) {
    }
}

} // namespace lockstep::demos
