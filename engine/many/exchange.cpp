#include "engine/many/exchange.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <limits>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "engine/many/all_reduce.h"
#include "engine/many/messages.h"
#include "engine/many/top_k.h"
#include "engine/platform/clock.h"

namespace lockstep {

namespace {

constexpr std::array<std::string_view, 3> formatNames{"fp32", "fp16", "top-k"};
constexpr std::array<std::string_view, 3> allReduceNames{"ring", "tree", "naive"};

template <class Choice>
Choice fromName(std::string_view text, std::span<const std::string_view> names, const char* what) {
    const auto found = std::ranges::find(names, text);
    if (found != names.end()) return static_cast<Choice>(found - names.begin());
    std::string message = "unknown " + std::string(what) + " '" + std::string(text) + "'; there are";
    for (const std::string_view each : names) message += (each == names[0] ? " " : ", ") + std::string(each);
    throw std::invalid_argument(message);
}

void requireBounds(std::span<const std::size_t> bounds, std::size_t ranks, std::size_t count) {
    if (bounds.size() != ranks + 1 || !std::ranges::is_sorted(bounds) || bounds.back() > count)
        throw std::invalid_argument("bounds of parts have to be ranks + 1 ascending places in the numbers");
}

} // namespace

std::string_view name(ExchangeFormat value) { return formatNames[static_cast<std::size_t>(value)]; }
std::string_view name(AllReduce value) { return allReduceNames[static_cast<std::size_t>(value)]; }
ExchangeFormat exchangeFormatFromName(std::string_view text) {
    return fromName<ExchangeFormat>(text, formatNames, "format of exchanges");
}
AllReduce allReduceFromName(std::string_view text) {
    return fromName<AllReduce>(text, allReduceNames, "all-reduce");
}

/// The thread of an Exchange, and what it shares with the thread that trains.
class Exchange::Worker {
  public:
    /// Something begun. Nothing of it is allocated: the queue keeps its memory from step to step.
    struct Task {
        enum class What { sum, scatterSum, gather, small, roundTrips, beginAnew };
        What what = What::sum;
        About about;
        std::span<float> numbers{};   // of sum and scatterSum
        std::span<double> doubles{};  // of small; of roundTrips, where the seconds go
        std::span<std::byte> bytes{}; // of gather and roundTrips
        std::size_t firstBound = 0;   // of scatterSum (numbers) and gather (bytes): ranks + 1 of bounds_
        std::size_t trips = 0;        // of roundTrips
        ExchangeRecord::Kind kind = ExchangeRecord::Kind::sum;
        double asked = 0;
    };

    Worker(const Connect& connect, const ExchangeSettings& chosen);
    ~Worker();

    const ExchangeSettings settings;
    std::size_t rank = 0, ranks = 1, localRank = 0, localRanks = 1; // of the transport
    double clockOffset = 0;

    Ticket begin(Task task, std::span<const std::size_t> bounds = {}, std::size_t boundScale = 1);
    void wait(Ticket ticket);
    void gatherNow(std::span<std::byte> bytes, std::span<const std::size_t> bounds);
    void abort(const std::string& why);
    void keepRecords(bool on);
    std::vector<ExchangeRecord> takeRecords();
    std::uint64_t bytesSent() const;
    double waitedSeconds() const;

  private:
    struct Failure {
        std::size_t rank;
        std::string why;
    };

    // On the thread.
    void run(const Connect& connect);
    void meet(Messages& messages);
    void serve(Messages& messages);
    void carryOut(const Task& task, Messages& messages);
    void sum(std::span<float> numbers, std::size_t layer, Messages& messages);
    void sumSmall(std::span<double> numbers, Messages& messages);
    void makeRoundTrips(const Task& task, Messages& messages);
    void end(Transport& transport, Failure failure);

    void throwFailure() const; // with mutex_ held
    static std::string_view told(Task::What what);

    // Only the thread's.
    Parcel parcel_;
    TopK topK_;
    std::vector<std::size_t> taskBounds_; // of the task being carried out
    std::vector<std::size_t> ringBounds_;
    std::vector<double> everybodys_;

    mutable std::mutex mutex_;
    std::condition_variable begun_, over_;
    std::vector<Task> queue_; // from next_ on; emptied when all are over, so that it keeps its memory
    std::vector<std::size_t> bounds_;
    std::size_t next_ = 0;
    Ticket lastBegun_ = 0, lastOver_ = 0;
    bool met_ = false, closing_ = false;
    std::optional<Failure> failure_;
    std::exception_ptr notConnected_;
    std::optional<std::string> abortReason_;
    std::atomic<bool> ended_ = false; // waits for messages stop
    bool keepsRecords_ = false;
    std::vector<ExchangeRecord> records_;
    std::uint64_t bytesSent_ = 0;
    double waitedSeconds_ = 0;

    const int exceptions_ = std::uncaught_exceptions();
    std::thread thread_;
};

Exchange::Worker::Worker(const Connect& connect, const ExchangeSettings& chosen)
    : settings(chosen), parcel_(chosen.format), topK_(chosen.topShare) {
    if (!(settings.topShare > 0 && settings.topShare <= 1))
        throw std::invalid_argument("the share of numbers that top-k sends has to be above 0 and at most 1");
    if (!(settings.patienceSeconds > 0))
        throw std::invalid_argument("the patience has to be above 0 seconds");
    thread_ = std::thread([this, &connect] { run(connect); });
    std::unique_lock lock(mutex_);
    over_.wait(lock, [&] { return met_ || failure_ || notConnected_; });
    if (met_) return;
    closing_ = true;
    lock.unlock();
    begun_.notify_all();
    thread_.join();
    if (notConnected_) std::rethrow_exception(notConnected_);
    throwFailure();
}

Exchange::Worker::~Worker() {
    {
        const std::lock_guard lock(mutex_);
        closing_ = true;
        if (std::uncaught_exceptions() > exceptions_) ended_ = true;
    }
    begun_.notify_all();
    thread_.join();
}

Exchange::Ticket Exchange::Worker::begin(Task task, std::span<const std::size_t> bounds,
                                         std::size_t boundScale) {
    task.asked = platform::secondsNow();
    Ticket ticket = 0;
    {
        const std::lock_guard lock(mutex_);
        throwFailure();
        task.firstBound = bounds_.size();
        for (const std::size_t bound : bounds) bounds_.push_back(bound * boundScale);
        queue_.push_back(task);
        ticket = ++lastBegun_;
    }
    begun_.notify_one();
    if (!settings.overlap) wait(ticket);
    return ticket;
}

void Exchange::Worker::wait(Ticket ticket) {
    std::unique_lock lock(mutex_);
    if (lastOver_ < ticket && !failure_) {
        const double began = platform::secondsNow();
        over_.wait(lock, [&] { return lastOver_ >= ticket || failure_; });
        waitedSeconds_ += platform::secondsNow() - began;
    }
    throwFailure();
}

void Exchange::Worker::gatherNow(std::span<std::byte> bytes, std::span<const std::size_t> bounds) {
    wait(begin({.what = Task::What::gather, .about = {}, .bytes = bytes, .kind = ExchangeRecord::Kind::small},
               bounds));
}

void Exchange::Worker::abort(const std::string& why) {
    std::unique_lock lock(mutex_);
    if (!abortReason_) abortReason_ = why;
    ended_ = true;
    begun_.notify_all();
    over_.wait(lock, [&] { return failure_.has_value(); });
}

void Exchange::Worker::keepRecords(bool on) {
    const std::lock_guard lock(mutex_);
    keepsRecords_ = on;
}

std::vector<ExchangeRecord> Exchange::Worker::takeRecords() {
    const std::lock_guard lock(mutex_);
    return std::exchange(records_, {});
}

std::uint64_t Exchange::Worker::bytesSent() const {
    const std::lock_guard lock(mutex_);
    return bytesSent_;
}

double Exchange::Worker::waitedSeconds() const {
    const std::lock_guard lock(mutex_);
    return waitedSeconds_;
}

void Exchange::Worker::throwFailure() const {
    if (failure_) throw RankError(failure_->rank, failure_->why);
}

void Exchange::Worker::run(const Connect& connect) {
    std::unique_ptr<Transport> transport;
    try {
        transport = connect();
    } catch (...) {
        const std::lock_guard lock(mutex_);
        notConnected_ = std::current_exception();
        over_.notify_all();
        return;
    }
    rank = transport->rank();
    ranks = transport->ranks();
    localRank = transport->localRank();
    localRanks = transport->localRanks();
    const std::string own = "rank " + std::to_string(rank);
    try {
        Messages messages(*transport, settings.patienceSeconds, ended_);
        meet(messages);
        serve(messages);
    } catch (const RankError& error) {
        end(*transport, {error.rank, error.what()});
    } catch (const WaitEnded&) {
        end(*transport, {rank, own + " has ended by an error"});
    } catch (const std::exception& error) {
        end(*transport, {rank, own + ": " + error.what()});
    }
    // The transport ends here, on its thread. Between processes, a failed one ends the process with it: not
    // before the thread that trains has heard why.
    std::unique_lock lock(mutex_);
    if (!failure_) return;
    begun_.wait(lock, [&] { return closing_ || abortReason_; });
    if (abortReason_) transport->abort(*abortReason_);
}

// Everything that waits, or will, gets the same error; but first the transport lets go of the numbers, which
// may be gone once their owner has it.
void Exchange::Worker::end(Transport& transport, Failure failure) {
    std::unique_lock lock(mutex_);
    const std::optional<std::string> reason = abortReason_;
    lock.unlock();
    if (reason) {
        transport.abort(*reason); // ends the process, or returns
        failure = {rank, "rank " + std::to_string(rank) + " has ended all ranks: " + *reason};
    }
    transport.giveUp(RankError(failure.rank, failure.why));
    lock.lock();
    failure_ = failure;
    over_.notify_all();
}

std::string_view Exchange::Worker::told(Task::What what) {
    constexpr std::array<std::string_view, 6> texts{"sum",       "scattered sum", "gathering",
                                                    "small sum", "round trips",   "beginning"};
    return texts[static_cast<std::size_t>(what)];
}

// Everybody learns how far its clock is from rank 0's: it is read in the middle of a round trip, so that the
// quickest tells best.
void Exchange::Worker::meet(Messages& messages) {
    constexpr int trips = 16;
    messages.begin("meeting", 0, 0);
    double own = 0, zeros = 0;
    const auto bytesOf = [](double& number) { return std::as_writable_bytes(std::span(&number, 1)); };
    if (rank == 0)
        for (std::size_t other = 1; other < ranks; ++other)
            for (int trip = 0; trip < trips; ++trip) {
                messages.receive(other, bytesOf(own));
                zeros = platform::secondsNow();
                messages.send(other, bytesOf(zeros));
            }
    double quickest = std::numeric_limits<double>::infinity();
    for (int trip = 0; rank != 0 && trip < trips; ++trip) {
        own = platform::secondsNow();
        messages.send(0, bytesOf(own));
        messages.stage(1);
        messages.receive(0, bytesOf(zeros));
        const double back = platform::secondsNow();
        if (back - own < quickest) clockOffset = zeros - (own + back) / 2;
        quickest = std::min(quickest, back - own);
    }
    const std::lock_guard lock(mutex_);
    met_ = true;
    over_.notify_all();
}

// One after the other, until all are over that were begun before the Exchange ended.
void Exchange::Worker::serve(Messages& messages) {
    for (;;) {
        Task task;
        {
            std::unique_lock lock(mutex_);
            begun_.wait(lock, [&] { return next_ < queue_.size() || closing_ || ended_; });
            if (ended_) throw WaitEnded{};
            if (next_ == queue_.size()) return;
            task = queue_[next_++];
            const auto first = bounds_.begin() + static_cast<std::ptrdiff_t>(task.firstBound);
            const bool bounded = task.what == Task::What::scatterSum || task.what == Task::What::gather;
            if (bounded) taskBounds_.assign(first, first + static_cast<std::ptrdiff_t>(ranks + 1));
            if (next_ == queue_.size()) {
                queue_.clear();
                bounds_.clear();
                next_ = 0;
            }
        }
        ExchangeRecord record{.kind = task.kind, .step = task.about.step, .layer = task.about.layer};
        const std::uint64_t bytesBefore = messages.bytesSent(), messagesBefore = messages.messagesSent();
        record.asked = task.asked + clockOffset;
        record.begun = platform::secondsNow() + clockOffset;
        messages.begin(told(task.what), task.about.step, task.about.layer);
        if (ranks > 1) carryOut(task, messages);
        record.ended = platform::secondsNow() + clockOffset;
        record.bytesSent = messages.bytesSent() - bytesBefore;
        record.messagesSent = messages.messagesSent() - messagesBefore;
        {
            const std::lock_guard lock(mutex_);
            bytesSent_ += record.bytesSent;
            if (keepsRecords_ && task.what != Task::What::beginAnew) records_.push_back(record);
            ++lastOver_;
        }
        over_.notify_all();
    }
}

void Exchange::Worker::carryOut(const Task& task, Messages& messages) {
    switch (task.what) {
    case Task::What::sum: return sum(task.numbers, task.about.layer, messages);
    case Task::What::scatterSum: return ringScatterSum(messages, task.numbers, taskBounds_, parcel_);
    case Task::What::gather:
        return task.kind == ExchangeRecord::Kind::small ? directGather(messages, task.bytes, taskBounds_)
                                                        : ringGather(messages, task.bytes, taskBounds_);
    case Task::What::small: return sumSmall(task.doubles, messages);
    case Task::What::roundTrips: return makeRoundTrips(task, messages);
    case Task::What::beginAnew: topK_.forget(); return;
    }
}

void Exchange::Worker::sum(std::span<float> numbers, std::size_t layer, Messages& messages) {
    if (settings.format == ExchangeFormat::topK) return topK_.sum(messages, numbers, layer);
    switch (settings.allReduce) {
    case AllReduce::ring: return ringSum(messages, numbers, parcel_, ringBounds_);
    case AllReduce::tree: return treeSum(messages, numbers, parcel_);
    case AllReduce::naive: return naiveSum(messages, numbers, parcel_);
    }
}

void Exchange::Worker::sumSmall(std::span<double> numbers, Messages& messages) {
    const std::size_t count = numbers.size();
    everybodys_.resize(count * ranks);
    std::ranges::copy(numbers, everybodys_.begin() + static_cast<std::ptrdiff_t>(count * rank));
    ringBounds_.resize(ranks + 1);
    for (std::size_t r = 0; r <= ranks; ++r) ringBounds_[r] = r * count * sizeof(double);
    directGather(messages, std::as_writable_bytes(std::span(everybodys_)), ringBounds_);
    for (std::size_t i = 0; i < count; ++i) {
        numbers[i] = everybodys_[i];
        for (std::size_t r = 1; r < ranks; ++r) numbers[i] += everybodys_[r * count + i];
    }
}

void Exchange::Worker::makeRoundTrips(const Task& task, Messages& messages) {
    double& quickest = task.doubles[0];
    quickest = std::numeric_limits<double>::infinity();
    for (std::size_t trip = 0; rank < 2 && trip < task.trips; ++trip) {
        const double began = platform::secondsNow();
        if (rank == 0) messages.send(1, task.bytes);
        messages.receive(1 - rank, task.bytes);
        if (rank == 1) messages.send(0, task.bytes);
        quickest = std::min(quickest, platform::secondsNow() - began);
    }
    if (rank != 0) quickest = 0; // rank 0's counts
    sumSmall(task.doubles, messages);
}

Exchange::Exchange(const Connect& connect, const ExchangeSettings& settings)
    : worker_(std::make_unique<Worker>(connect, settings)) {}
Exchange::~Exchange() = default;

std::size_t Exchange::rank() const { return worker_->rank; }
std::size_t Exchange::ranks() const { return worker_->ranks; }
std::size_t Exchange::localRank() const { return worker_->localRank; }
std::size_t Exchange::localRanks() const { return worker_->localRanks; }
const ExchangeSettings& Exchange::settings() const { return worker_->settings; }
double Exchange::clockOffset() const { return worker_->clockOffset; }

Exchange::Ticket Exchange::sum(std::span<float> values, const About& about) {
    return worker_->begin({.what = Worker::Task::What::sum,
                           .about = about,
                           .numbers = values,
                           .kind = ExchangeRecord::Kind::sum});
}

void Exchange::beginAnew() {
    worker_->begin({.what = Worker::Task::What::beginAnew, .about = {}, .kind = ExchangeRecord::Kind::small});
}

Exchange::Ticket Exchange::sumSmall(std::span<double> values, const About& about) {
    return worker_->begin({.what = Worker::Task::What::small,
                           .about = about,
                           .doubles = values,
                           .kind = ExchangeRecord::Kind::small});
}

Exchange::Ticket Exchange::scatterSum(std::span<float> values, std::span<const std::size_t> bounds,
                                      const About& about) {
    requireBounds(bounds, ranks(), values.size());
    if (settings().format == ExchangeFormat::topK)
        throw std::invalid_argument("a scattered sum cannot be one of the largest numbers only");
    return worker_->begin({.what = Worker::Task::What::scatterSum,
                           .about = about,
                           .numbers = values,
                           .kind = ExchangeRecord::Kind::scatterSum},
                          bounds);
}

Exchange::Ticket Exchange::gather(std::span<float> values, std::span<const std::size_t> bounds,
                                  const About& about) {
    requireBounds(bounds, ranks(), values.size());
    return worker_->begin({.what = Worker::Task::What::gather,
                           .about = about,
                           .bytes = std::as_writable_bytes(values),
                           .kind = ExchangeRecord::Kind::gather},
                          bounds, sizeof(float));
}

void Exchange::wait(Ticket ticket) { worker_->wait(ticket); }

std::uint64_t Exchange::smallest(std::uint64_t own) {
    std::vector<std::uint64_t> all(ranks());
    std::vector<std::size_t> bounds(ranks() + 1);
    for (std::size_t r = 0; r < bounds.size(); ++r) bounds[r] = r * sizeof own;
    all[rank()] = own;
    worker_->gatherNow(std::as_writable_bytes(std::span(all)), bounds);
    return std::ranges::min(all);
}

std::vector<std::string> Exchange::gatherTexts(const std::string& own) {
    // First the lengths, then the texts, end to end.
    std::vector<std::uint64_t> lengths(ranks());
    std::vector<std::size_t> bounds(ranks() + 1);
    for (std::size_t r = 0; r < bounds.size(); ++r) bounds[r] = r * sizeof(std::uint64_t);
    lengths[rank()] = own.size();
    worker_->gatherNow(std::as_writable_bytes(std::span(lengths)), bounds);
    for (std::size_t r = 0; r < ranks(); ++r) bounds[r + 1] = bounds[r] + lengths[r];
    std::string all(bounds.back(), '\0');
    all.replace(bounds[rank()], own.size(), own);
    worker_->gatherNow(std::as_writable_bytes(std::span(all)), bounds);
    std::vector<std::string> texts;
    for (std::size_t r = 0; r < ranks(); ++r) texts.push_back(all.substr(bounds[r], lengths[r]));
    return texts;
}

void Exchange::agree(std::string_view what, const std::string& own) {
    const std::vector<std::string> texts = gatherTexts(own);
    for (std::size_t r = 1; r < texts.size(); ++r)
        if (texts[r] != texts[0])
            throw RankError(r, "ranks do not agree about the " + std::string(what) + ": rank 0 has '" +
                                   texts[0] + "', rank " + std::to_string(r) + " has '" + texts[r] + "'");
}

double Exchange::roundTripSeconds(std::size_t bytes, std::size_t trips) {
    if (ranks() < 2) throw std::invalid_argument("a round trip needs two ranks");
    std::vector<std::byte> message(bytes);
    double seconds = 0;
    worker_->wait(worker_->begin({.what = Worker::Task::What::roundTrips,
                                  .about = {},
                                  .doubles = {&seconds, 1},
                                  .bytes = message,
                                  .trips = trips,
                                  .kind = ExchangeRecord::Kind::small}));
    return seconds;
}

void Exchange::abort(const std::string& why) { worker_->abort(why); }
void Exchange::keepRecords(bool on) { worker_->keepRecords(on); }
std::vector<ExchangeRecord> Exchange::takeRecords() { return worker_->takeRecords(); }
std::uint64_t Exchange::bytesSent() const { return worker_->bytesSent(); }
double Exchange::waitedSeconds() const { return worker_->waitedSeconds(); }

} // namespace lockstep
