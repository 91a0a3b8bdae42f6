// What ranks do together: they add up the numbers of all ranks, whole or in parts, and gather the parts of
// all ranks. Everything is built from messages (transport.h), so that every algorithm can be read here, and
// gives the same bits between threads and between processes.
//
// Each rank has one Exchange. The training thread begins an exchange and goes on; a thread of the Exchange
// carries out one after the other, in the order in which they began. All ranks have to begin the same ones in
// the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/many/transport.h"

namespace lockstep {

/// How numbers of gradients travel.
enum class ExchangeFormat {
    fp32,
    fp16, ///< rounded to fp16 before each message; sums are formed in fp32
    topK, ///< only the largest of them; what is left out is added to the next step's (error feedback)
};

/// Who sends which part to whom.
enum class AllReduce {
    ring,  ///< n - 1 messages to the next rank with sums of a part each, and n - 1 with the whole sums
    tree,  ///< pairs, pairs of pairs, ... up to rank 0, and the same way back
    naive, ///< everything to rank 0, and the sum back from it
};

struct ExchangeSettings {
    ExchangeFormat format = ExchangeFormat::fp32;
    AllReduce allReduce = AllReduce::ring;
    /// Training goes on while gradients are exchanged. Off: beginning an exchange also waits for it.
    bool overlap = true;
    double topShare = 0.01; ///< of a layer's numbers that topK sends; one at least
    /// For a message; then the rank that it is for or from counts as lost. Half as long again at most, for
    /// those who learn of it from others (messages.h).
    double patienceSeconds = 30;
};

std::string_view name(ExchangeFormat value);                  ///< "fp32", "fp16", "top-k"
std::string_view name(AllReduce value);                       ///< "ring", "tree", "naive"
ExchangeFormat exchangeFormatFromName(std::string_view text); ///< throws std::invalid_argument
AllReduce allReduceFromName(std::string_view text);           ///< throws std::invalid_argument

/// What an exchange was, for charts and for counting.
struct ExchangeRecord {
    enum class Kind { sum, scatterSum, gather, small };
    Kind kind = Kind::sum;
    std::uint64_t step = 0;
    std::size_t layer = 0;
    /// Seconds of rank 0's clock (clockOffset()): asked for, begun by the thread, over.
    double asked = 0, begun = 0, ended = 0;
    std::uint64_t bytesSent = 0;
    std::uint64_t messagesSent = 0;
};

class RankWatch; // rank_watch.h

class Exchange {
  public:
    using Connect = std::function<std::unique_ptr<Transport>()>;
    using Ticket = std::uint64_t;
    /// What an exchange is about, for records and messages.
    struct About {
        std::uint64_t step = 0;
        std::size_t layer = 0;
    };

    /// `connect` runs on the thread of the Exchange, which is the only one that uses the transport. Throws
    /// what it throws, and RankError if the ranks do not meet.
    Exchange(const Connect& connect, const ExchangeSettings& settings);
    /// Waits for what has begun, unless it failed. While an exception leaves the block, the others are told
    /// that this rank has ended; between processes, all end: to have them say why, catch it, and abort().
    ~Exchange();
    Exchange(const Exchange&) = delete;
    Exchange& operator=(const Exchange&) = delete;

    std::size_t rank() const;
    std::size_t ranks() const;
    std::size_t localRank() const;
    std::size_t localRanks() const;
    const ExchangeSettings& settings() const;

    // Each begins something in place, and returns at once. The numbers have to stay, untouched, until wait();
    // bounds are copied. All ranks end with the same bits. Throws RankError once any exchange has failed, and
    // std::invalid_argument for bounds that do not fit.

    /// values = their sums over all ranks, by the settings' algorithm and format.
    Ticket sum(std::span<float> values, const About& about);
    /// values = their sums over all ranks, for a few numbers that must not be rounded, such as a step's loss.
    /// They are added in the order of ranks.
    Ticket sumSmall(std::span<double> values, const About& about);
    /// values[bounds[r], bounds[r + 1]) = the sums, on rank r; the contents elsewhere are unspecified.
    /// `bounds` has ranks() + 1 ascending places. Parts may be empty. With one rank, nothing happens. Not for
    /// topK. In fp16, the terms are rounded on their way; the sum is not, because it is not sent.
    Ticket scatterSum(std::span<float> values, std::span<const std::size_t> bounds, const About& about);
    /// values[bounds[r], bounds[r + 1]) = those of rank r, on every rank. Never rounded.
    Ticket gather(std::span<float> values, std::span<const std::size_t> bounds, const About& about);

    /// Waits until it is over. Throws RankError once any exchange has failed.
    void wait(Ticket ticket);

    /// What topK has left out so far belongs to a training that is over. Nothing is sent.
    void beginAnew();

    /// The smallest of all ranks' numbers, on every rank. Begins and waits.
    std::uint64_t smallest(std::uint64_t own);
    /// The texts of all ranks, by rank, on every rank. Begins and waits.
    std::vector<std::string> gatherTexts(const std::string& own);
    /// Throws RankError, naming the first rank whose text is another than rank 0's and both texts; `what`
    /// says what it is about: "version", "job", "data". On all ranks alike.
    void agree(std::string_view what, const std::string& own);

    /// Seconds that a message of so many bytes takes from rank 0 to rank 1 and back: the quickest of some. On
    /// every rank the same. Begins and waits. Throws std::invalid_argument where there is one rank.
    double roundTripSeconds(std::size_t bytes, std::size_t trips);

    /// The watch that notes what the rank does in each step; null at first: none. Trainers ask for it when
    /// they are made.
    void setWatch(RankWatch* watch) { watch_ = watch; }
    RankWatch* watch() const { return watch_; }

    /// Ends all ranks, as Transport::abort(). Between threads, this one's exchanges fail from now on, too.
    void abort(const std::string& why);

    /// Records of exchanges that are over, oldest first, since the last call. Kept only after
    /// keepRecords(true).
    void keepRecords(bool on);
    std::vector<ExchangeRecord> takeRecords();
    /// Bytes sent so far, of all exchanges.
    std::uint64_t bytesSent() const;
    /// Seconds that wait() has waited so far: what was not hidden behind computing.
    double waitedSeconds() const;
    /// rank 0's steady clock = this rank's + so many seconds, measured when the ranks met: half of the
    /// quickest of some round trips.
    double clockOffset() const;

  private:
    class Worker;
    std::unique_ptr<Worker> worker_;
    RankWatch* watch_ = nullptr;
};

} // namespace lockstep
