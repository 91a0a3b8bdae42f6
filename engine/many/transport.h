// Messages between the ranks that train one network together: between threads of one process
// (localTransports()), or between processes and machines by MPI (mpi.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace lockstep {

/// A rank that is gone, does not answer, or is about something else.
class RankError : public std::runtime_error {
  public:
    RankError(std::size_t failedRank, const std::string& message)
        : std::runtime_error(message), rank(failedRank) {}
    std::size_t rank; ///< whose fault it is, as far as this rank can tell
};

/// One rank's end. Used by one thread at a time, the one that made it. Nothing here waits.
class Transport {
  public:
    using Ticket = std::uint64_t;

    virtual ~Transport() = default;
    Transport() = default;
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    virtual std::size_t rank() const = 0;  ///< of this end, from 0
    virtual std::size_t ranks() const = 0; ///< how many there are
    /// Ranks on this rank's machine, and which of them this one is, from 0: by it, ranks share out the
    /// machine's devices and cores.
    virtual std::size_t localRank() const = 0;
    virtual std::size_t localRanks() const = 0;

    /// Begins to send or to receive. The bytes have to stay until it is done. Messages from one rank to
    /// another arrive in the order in which they were sent, and have the size that the receiver expects.
    virtual Ticket send(std::size_t to, std::span<const std::byte> bytes) = 0;
    virtual Ticket receive(std::size_t from, std::span<std::byte> bytes) = 0;
    /// Whether it is over; true only once for each ticket. Throws RankError where the other side is gone.
    virtual bool done(Ticket ticket) = 0;

    /// Who keeps rank `other` waiting, and so this one, if it is known: `other` itself where it is not.
    virtual std::size_t awaited(std::size_t other) const { return other; }
    /// Whether that is known.
    virtual bool knowsAwaited() const { return false; }

    /// Ends all ranks, after `why` has been told: between processes, those of the others and this one, with
    /// exit code 1; between threads, the others' done() throws RankError from then on.
    virtual void abort(const std::string& why) = 0;
    /// Takes no further part, because of `error`, and lets go of all bytes. Between threads, the others'
    /// done() throws the same error from then on. Between processes nobody can be told: the end of this
    /// object is abort() then, where it would otherwise wait for all others to end, too.
    virtual void giveUp(const RankError& error) = 0;
};

/// The ends of `ranks` threads of this process. Each may be used by another thread.
std::vector<std::unique_ptr<Transport>> localTransports(std::size_t ranks);

} // namespace lockstep
