#include "demos/exhibits/inside/trace_session.h"

#include <chrono>
#include <stdexcept>
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

TraceSession::TraceSession(const RunOptions& settings, std::shared_ptr<const Dataset> data,
                           Machines& machines, std::uint64_t step)
    : data_(std::move(data)), job_(makeJob(settings, *data_)) {
    for (std::size_t machine = 0; machine < machineCount; ++machine) {
        const LaneSpec& spec = settings.lanes[machine];
        titles_[machine] = spec.text();
        seat(machine, machines.maker(job_, spec), nullptr);
    }
    for (std::size_t machine = 0; machine < machineCount; ++machine)
        seats_[machine].lane->post([this, machine, step](Trainer& trainer) {
            first_[machine] = trainer.state();
            warmUp(trainer, *first_[machine]);
            trainer.run(step);
            trainer.finish();
        });
}

void TraceSession::seat(std::size_t machine, Lane::MakeTrainer make, std::unique_ptr<gpu::Device> device) {
    LaneOptions options;
    options.finish.steps = std::uint64_t{1} << 50; // it only ever does what is posted
    options.evaluateEvery = 0;
    options.startPaused = true;
    auto lane = std::make_unique<Lane>(titles_[machine], job_, std::move(make), std::move(options));
    lane->start();
    seats_[machine] = {std::move(device), std::move(lane)};
}

// The old lane may be busy for a moment: it is the new one's thread that waits for it.
void TraceSession::replace(std::size_t machine, Lane::MakeTrainer make, std::unique_ptr<gpu::Device> device) {
    auto old = std::make_shared<Seat>(std::move(seats_[machine]));
    seat(
        machine,
        [old, makeNew = std::move(make)] {
            std::optional<TrainerState> state;
            old->lane->post([&state](Trainer& trainer) { state = trainer.state(); });
            while (!old->lane->waitForPosted(std::chrono::seconds(10))) {
            }
            if (!state)
                throw std::runtime_error("the kernels before have failed, there is nothing to go on from");
            old->lane.reset();
            old->device.reset();
            std::unique_ptr<Trainer> trainer = makeNew();
            trainer->restore(*state);
            return trainer;
        },
        std::move(device));
}

void TraceSession::trace(std::size_t machine) {
    seats_[machine].lane->post([this, machine](Trainer& trainer) {
        StepTrace trace = trainer.traceStep({});
        const std::lock_guard lock(mutex_);
        mail_[machine] = std::move(trace);
    });
}

void TraceSession::reset() {
    for (std::size_t machine = 0; machine < machineCount; ++machine)
        seats_[machine].lane->post([this, machine](Trainer& trainer) { trainer.restore(*first_[machine]); });
}

std::optional<StepTrace> TraceSession::takeTrace(std::size_t machine) {
    const std::lock_guard lock(mutex_);
    return std::exchange(mail_[machine], std::nullopt);
}

bool TraceSession::idle(std::size_t machine) const {
    const Lane& lane = *seats_[machine].lane;
    return lane.done() == lane.posted();
}

bool TraceSession::prepared(std::size_t machine) const {
    const LaneStatus status = seats_[machine].lane->snapshot().status;
    return status != LaneStatus::waiting && status != LaneStatus::preparing;
}

std::string TraceSession::failure(std::size_t machine) const {
    const LaneSnapshot shot = seats_[machine].lane->snapshot();
    return shot.status == LaneStatus::failed ? shot.message : std::string();
}

void TraceSession::wait(std::size_t machine) const {
    while (!seats_[machine].lane->waitForPosted(std::chrono::seconds(10))) {
    }
}

} // namespace lockstep::demos
