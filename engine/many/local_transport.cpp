// Ranks as threads of one process. A message is copied once, by whichever side comes second.
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "engine/many/transport.h"

namespace lockstep {

namespace {

/// The way from one rank to another. The k-th message sent is the k-th received, so that counting those that
/// have arrived tells of each whether it has.
class Channel {
  public:
    enum class Side { send, receive };

    /// Its number. False in `fits`: the other side has another size in mind.
    std::uint64_t post(Side side, std::span<const std::byte> from, std::span<std::byte> to, bool& fits) {
        const std::lock_guard lock(mutex_);
        const std::uint64_t number = side == Side::send ? sent_++ : received_++;
        if (side == Side::send) outgoing_.push_back(from);
        if (side == Side::receive) awaited_.push_back(to);
        fits = true;
        if (outgoing_.empty() || awaited_.empty()) return number;
        fits = outgoing_.front().size() == awaited_.front().size();
        if (!fits) return number;
        if (!awaited_.front().empty())
            std::memcpy(awaited_.front().data(), outgoing_.front().data(), awaited_.front().size());
        outgoing_.erase(outgoing_.begin());
        awaited_.erase(awaited_.begin());
        arrived_.fetch_add(1, std::memory_order_release);
        return number;
    }

    bool arrived(std::uint64_t number) const { return arrived_.load(std::memory_order_acquire) > number; }

    /// After this, nothing is read from where that side has sent from, or written where it receives.
    void leave(Side side) {
        const std::lock_guard lock(mutex_);
        if (side == Side::send) outgoing_.clear();
        if (side == Side::receive) awaited_.clear();
    }

  private:
    std::mutex mutex_;
    std::vector<std::span<const std::byte>> outgoing_; // sent, not received; one of the two is empty
    std::vector<std::span<std::byte>> awaited_;        // the other way round
    std::uint64_t sent_ = 0, received_ = 0;
    std::atomic<std::uint64_t> arrived_ = 0;
};

/// What the ends of all ranks share.
class Hub {
  public:
    explicit Hub(std::size_t count) : ranks(count), gone(count), awaits(count), channels_(count * count) {
        for (std::size_t rank = 0; rank < count; ++rank) awaits[rank] = rank;
    }

    Channel& channel(std::size_t from, std::size_t to) { return channels_[from * ranks + to]; }

    /// The first failure is everybody's.
    void fail(std::size_t rank, const std::string& why) {
        const std::lock_guard lock(mutex_);
        if (!failure_) failure_.emplace(Failure{rank, why});
        failed_ = true;
    }
    void throwFailure() {
        if (!failed_) return;
        const std::lock_guard lock(mutex_);
        throw RankError(failure_->rank, failure_->why);
    }

    const std::size_t ranks;
    std::vector<std::atomic<bool>> gone;          ///< by rank: its end is no more
    std::vector<std::atomic<std::size_t>> awaits; ///< by rank: whom it waits for; itself: for none

  private:
    struct Failure {
        std::size_t rank;
        std::string why;
    };
    std::vector<Channel> channels_;
    std::mutex mutex_;
    std::optional<Failure> failure_;
    std::atomic<bool> failed_ = false;
};

class LocalTransport : public Transport {
  public:
    LocalTransport(std::shared_ptr<Hub> hub, std::size_t rank) : hub_(std::move(hub)), rank_(rank) {}
    ~LocalTransport() override { leave(); }

    std::size_t rank() const override { return rank_; }
    std::size_t ranks() const override { return hub_->ranks; }
    std::size_t localRank() const override { return rank_; }
    std::size_t localRanks() const override { return hub_->ranks; }

    Ticket send(std::size_t to, std::span<const std::byte> bytes) override {
        return begin(Channel::Side::send, to, bytes, {});
    }
    Ticket receive(std::size_t from, std::span<std::byte> bytes) override {
        return begin(Channel::Side::receive, from, {}, bytes);
    }

    bool done(Ticket ticket) override {
        const std::size_t kinds = 2 * hub_->ranks;
        const std::size_t other = ticket % kinds / 2;
        const auto side = ticket % 2 == 0 ? Channel::Side::send : Channel::Side::receive;
        const bool gone = hub_->gone[other]; // before looking: it may have answered, and gone then
        const bool arrived = channel(side, other).arrived(ticket / kinds);
        hub_->awaits[rank_] = arrived ? rank_ : other;
        if (arrived) return true;
        hub_->throwFailure();
        if (gone) throw RankError(other, "rank " + std::to_string(other) + " has ended");
        return false;
    }

    bool knowsAwaited() const override { return true; }
    std::size_t awaited(std::size_t other) const override {
        std::size_t last = other;
        for (std::size_t steps = 0; steps < hub_->ranks; ++steps) {
            const std::size_t next = hub_->awaits[last];
            if (next == last) return last;
            last = next;
        }
        return other; // all wait for each other
    }

    void abort(const std::string& why) override {
        hub_->fail(rank_, "rank " + std::to_string(rank_) + " has ended all ranks: " + why);
    }
    void giveUp(const RankError& error) override {
        hub_->fail(error.rank, error.what());
        leave();
    }

  private:
    Channel& channel(Channel::Side side, std::size_t other) {
        return side == Channel::Side::send ? hub_->channel(rank_, other) : hub_->channel(other, rank_);
    }

    Ticket begin(Channel::Side side, std::size_t other, std::span<const std::byte> from,
                 std::span<std::byte> to) {
        bool fits = false;
        const std::uint64_t number = channel(side, other).post(side, from, to, fits);
        if (!fits)
            hub_->fail(other, "rank " + std::to_string(other) + " and rank " + std::to_string(rank_) +
                                  " are about different things: their messages have different sizes");
        return (number * hub_->ranks + other) * 2 + (side == Channel::Side::send ? 0 : 1);
    }

    void leave() {
        for (std::size_t other = 0; other < hub_->ranks; ++other)
            for (const auto side : {Channel::Side::send, Channel::Side::receive})
                channel(side, other).leave(side);
        hub_->gone[rank_] = true;
    }

    std::shared_ptr<Hub> hub_;
    std::size_t rank_;
};

} // namespace

std::vector<std::unique_ptr<Transport>> localTransports(std::size_t ranks) {
    if (ranks == 0) throw std::invalid_argument("at least one rank is needed");
    const auto hub = std::make_shared<Hub>(ranks);
    std::vector<std::unique_ptr<Transport>> ends;
    for (std::size_t rank = 0; rank < ranks; ++rank)
        ends.push_back(std::make_unique<LocalTransport>(hub, rank));
    return ends;
}

} // namespace lockstep
