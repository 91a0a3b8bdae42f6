#include "engine/run/rank_team.h"

#include <condition_variable>
#include <exception>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "engine/net/names.h"
#include "engine/step/step_trace.h"

namespace lockstep {

namespace {

/// A thread that does what it is given, one thing at a time.
class RankThread {
  public:
    RankThread() : thread_([this] { work(); }) {}
    ~RankThread() {
        give(nullptr);
        thread_.join();
    }
    RankThread(const RankThread&) = delete;
    RankThread& operator=(const RankThread&) = delete;

    /// Empty: ends the thread.
    void give(std::function<void()> task) {
        const std::lock_guard lock(mutex_);
        task_ = std::move(task);
        given_ = true;
        changed_.notify_all();
    }
    /// Until it is done. Returns what it threw.
    std::exception_ptr wait() {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !given_; });
        return std::exchange(failure_, nullptr);
    }

  private:
    void work() {
        std::unique_lock lock(mutex_);
        for (;;) {
            changed_.wait(lock, [this] { return given_; });
            if (!task_) return;
            lock.unlock();
            std::exception_ptr failure;
            try {
                task_();
            } catch (...) {
                failure = std::current_exception();
            }
            lock.lock();
            failure_ = failure;
            given_ = false;
            changed_.notify_all();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void()> task_;
    bool given_ = false;
    std::exception_ptr failure_;
    std::thread thread_;
};

struct Rank {
    RankThread thread;
    std::unique_ptr<Exchange> exchange;
    TrainJob job;
    std::unique_ptr<Trainer> trainer;
};

std::string textOf(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const std::exception& error) {
        return error.what();
    } catch (...) {
        return "something that is no std::exception";
    }
}

bool isRankError(const std::exception_ptr& failure) {
    try {
        std::rethrow_exception(failure);
    } catch (const RankError&) {
        return true;
    } catch (...) {
        return false;
    }
}

class RankTeam final : public Trainer {
  public:
    RankTeam(const TrainJob& job, const MakeRank& make, const ExchangeSettings& settings,
             std::span<RankWatch> watches);

    const MachineInfo& machine() const override { return machine_; }
    void run(std::uint64_t steps) override {
        onAll([steps](Rank& rank) {
            RankWatch* const watch = rank.exchange->watch();
            if (watch != nullptr) watch->throwIfFailing(rank.job.settings.share.rank);
            rank.trainer->run(steps);
            if (watch != nullptr) watch->collect(*rank.exchange);
        });
        dropLosses();
    }
    std::uint64_t runFor(std::chrono::duration<double, std::milli> budget) override {
        return first().runFor(budget); // refuses
    }
    void finish() override {
        onAll([](Rank& rank) { rank.trainer->finish(); });
        dropLosses();
    }
    std::uint64_t completedSteps() override { return first().completedSteps(); }
    void takeLosses(std::vector<LossPoint>& into) override { first().takeLosses(into); }
    Evaluation evaluate(Split split) override { return first().evaluate(split); }
    std::vector<float> predict(Split split, std::size_t from, std::size_t rows) override {
        return first().predict(split, from, rows);
    }
    std::vector<float> predict(std::span<const float> inputs) override { return first().predict(inputs); }
    bool takeWeights(TrainedWeights& into) override { return first().takeWeights(into); }
    void reloadExamples(std::size_t from, std::size_t count) override {
        onAll([=](Rank& rank) { rank.trainer->reloadExamples(from, count); });
    }
    TrainerState state() override {
        TrainerState state;
        onAll([&](Rank& rank) { // each has to help, and one is enough
            TrainerState own = rank.trainer->state();
            if (rank.job.settings.share.rank == 0) state = std::move(own);
        });
        return state;
    }
    void restore(const TrainerState& state) override {
        onAll([&](Rank& rank) { rank.trainer->restore(state); });
    }
    void setOptimizer(const OptimizerSettings& settings) override {
        onAll([&](Rank& rank) { rank.trainer->setOptimizer(settings); });
    }
    Pace rehearse(double, double, const std::function<bool()>&) override { return {}; }
    double trainingSeconds() const override { return first().trainingSeconds(); }
    double deviceSeconds() const override { return first().deviceSeconds(); }
    double warmUpSeconds() const override { return first().warmUpSeconds(); }
    std::vector<OperationTiming> operations() const override { return first().operations(); }
    std::vector<MemoryUse> predictedMemory() const override { return sumOf(&Trainer::predictedMemory); }
    std::vector<MemoryUse> memory() const override { return sumOf(&Trainer::memory); }
    std::vector<RankMemory> memoryByRank() const override {
        std::vector<RankMemory> all;
        for (const auto& rank : ranks_)
            all.push_back({rank->trainer->predictedMemory(), rank->trainer->memory()});
        return all;
    }
    StepTrace traceStep(const TraceOptions& options) override; // refuses

  private:
    /// On every rank's thread at once. What one rank throws ends the wait of the others; it is thrown here,
    /// and not what they throw for its loss.
    template <class Work> void onAll(const Work& work) {
        for (const auto& rank : ranks_)
            rank->thread.give([&rank = *rank, &work] {
                try {
                    work(rank);
                } catch (...) {
                    if (rank.exchange) rank.exchange->abort(textOf(std::current_exception()));
                    throw;
                }
            });
        std::exception_ptr cause;
        for (const auto& rank : ranks_)
            if (const std::exception_ptr failure = rank->thread.wait();
                failure && (!cause || (isRankError(cause) && !isRankError(failure))))
                cause = failure;
        if (cause) std::rethrow_exception(cause);
    }
    /// Those of the other ranks are rank 0's.
    void dropLosses() {
        for (std::size_t rank = 1; rank < ranks_.size(); ++rank) try {
                dropped_.clear();
                ranks_[rank]->trainer->takeLosses(dropped_);
            } catch (const NonFiniteError&) { // rank 0 tells
            }
    }
    std::vector<MemoryUse> sumOf(std::vector<MemoryUse> (Trainer::*uses)() const) const {
        std::vector<MemoryUse> all;
        for (const auto& rank : ranks_)
            for (const MemoryUse& use : ((*rank->trainer).*uses)()) addUse(all, use);
        return all;
    }
    Trainer& first() const { return *ranks_.front()->trainer; }

    std::vector<std::unique_ptr<Rank>> ranks_;
    std::vector<LossPoint> dropped_;
    MachineInfo machine_;
};

RankTeam::RankTeam(const TrainJob& job, const MakeRank& make, const ExchangeSettings& settings,
                   std::span<RankWatch> watches) {
    const std::size_t count = job.settings.share.ranks;
    if (count < 2) throw std::invalid_argument("a team has two ranks at least");
    if (!watches.empty() && watches.size() != count)
        throw std::invalid_argument("a team needs one watch for each rank, or none");
    std::vector<std::unique_ptr<Transport>> ends = localTransports(count);
    for (std::size_t rank = 0; rank < count; ++rank) {
        ranks_.push_back(std::make_unique<Rank>());
        ranks_.back()->job = job;
        ranks_.back()->job.settings.share.rank = rank;
    }
    onAll([&](Rank& rank) {
        const std::size_t at = rank.job.settings.share.rank;
        rank.exchange = std::make_unique<Exchange>([&] { return std::move(ends[at]); }, settings);
        rank.job.exchange = rank.exchange.get();
        rank.exchange->setWatch(watches.empty() ? nullptr : &watches[at]);
        rank.exchange->keepRecords(!watches.empty());
        rank.trainer = make(rank.job, at);
    });
    machine_ = first().machine();
    for (std::size_t rank = 1; rank < count; ++rank)
        machine_.threads += ranks_[rank]->trainer->machine().threads;
}

StepTrace RankTeam::traceStep(const TraceOptions& options) { return first().traceStep(options); }

} // namespace

std::unique_ptr<Trainer> makeRankTeam(const TrainJob& job, const MakeRank& make,
                                      const ExchangeSettings& settings, std::span<RankWatch> watches) {
    return std::make_unique<RankTeam>(job, make, settings, watches);
}

} // namespace lockstep
