// Messages that are waited for, with patience, and counted: what the sums (all_reduce.h) are written in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/many/transport.h"

namespace lockstep {

/// Thrown out of a wait that another thread has ended.
struct WaitEnded {};

class Messages {
  public:
    /// ended   true: waits stop, by WaitEnded
    Messages(Transport& transport, double patienceSeconds, const std::atomic<bool>& ended);

    std::size_t rank() const { return rank_; }
    std::size_t ranks() const { return ranks_; }
    std::size_t next() const { return (rank_ + 1) % ranks_; }              ///< around the ring
    std::size_t previous() const { return (rank_ + ranks_ - 1) % ranks_; } ///< the other way

    /// What the following is about, for errors: "sum", of a layer in a step.
    void begin(std::string_view what, std::uint64_t step, std::size_t layer);

    /// How far this exchange has come. If one rank is missing, all soon wait, and all for different ranks.
    /// Whoever has come further waits a little longer, at most half as long again: so the one whose neighbour
    /// is missing speaks first, and everybody hears the right name, where Transport::awaited() knows nothing.
    void stage(std::size_t number) { stage_ = number; }
    void nextStage() { ++stage_; }

    /// Each returns when it is over. Throws RankError when patience ends.
    void send(std::size_t to, std::span<const std::byte> bytes);
    void receive(std::size_t from, std::span<std::byte> bytes);
    void sendAndReceive(std::size_t to, std::span<const std::byte> sent, std::size_t from,
                        std::span<std::byte> received);

    std::uint64_t bytesSent() const { return bytesSent_; }
    std::uint64_t messagesSent() const { return messagesSent_; }

  private:
    Transport::Ticket beginSend(std::size_t to, std::span<const std::byte> bytes);
    void finish(Transport::Ticket ticket, std::size_t other);
    [[noreturn]] void losePatience(std::size_t other, double seconds) const;

    Transport& transport_;
    const std::size_t rank_, ranks_;
    const double patienceSeconds_;
    const std::atomic<bool>& ended_;
    std::string_view what_;
    std::uint64_t step_ = 0;
    std::size_t layer_ = 0;
    std::size_t stage_ = 0;
    std::uint64_t bytesSent_ = 0;
    std::uint64_t messagesSent_ = 0;
};

} // namespace lockstep
