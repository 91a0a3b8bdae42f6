#include "engine/many/messages.h"

#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "engine/platform/clock.h"

namespace lockstep {

Messages::Messages(Transport& transport, double patienceSeconds, const std::atomic<bool>& ended)
    : transport_(transport), rank_(transport.rank()), ranks_(transport.ranks()),
      patienceSeconds_(patienceSeconds), ended_(ended) {}

void Messages::begin(std::string_view what, std::uint64_t step, std::size_t layer) {
    what_ = what;
    step_ = step;
    layer_ = layer;
    stage_ = 0;
}

void Messages::send(std::size_t to, std::span<const std::byte> bytes) { finish(beginSend(to, bytes), to); }

void Messages::receive(std::size_t from, std::span<std::byte> bytes) {
    finish(transport_.receive(from, bytes), from);
}

void Messages::sendAndReceive(std::size_t to, std::span<const std::byte> sent, std::size_t from,
                              std::span<std::byte> received) {
    const Transport::Ticket receiving = transport_.receive(from, received);
    const Transport::Ticket sending = beginSend(to, sent);
    finish(receiving, from);
    finish(sending, to);
}

Transport::Ticket Messages::beginSend(std::size_t to, std::span<const std::byte> bytes) {
    bytesSent_ += bytes.size();
    ++messagesSent_;
    return transport_.send(to, bytes);
}

// An answer is usually there at once, or comes soon: looks again and again, then lets others on, who compute
// on the same cores; in the end it sleeps in between.
void Messages::finish(Transport::Ticket ticket, std::size_t other) {
    constexpr std::uint64_t spins = 100, yields = 100;
    constexpr std::chrono::microseconds nap(40);
    const double limit =
        patienceSeconds_ * (1 + static_cast<double>(stage_) / static_cast<double>(4 * ranks_));
    double began = 0;
    for (std::uint64_t looks = 0; !transport_.done(ticket); ++looks) {
        if (ended_) throw WaitEnded{};
        if (looks < spins) continue;
        const double now = platform::secondsNow();
        if (looks == spins) began = now;
        if (now - began > limit) losePatience(other, limit);
        if (looks < spins + yields)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(nap);
    }
}

void Messages::losePatience(std::size_t other, double seconds) const {
    const std::size_t late = transport_.awaited(other);
    char text[200];
    std::snprintf(text, sizeof text,
                  "rank %zu has kept rank %zu waiting for %.3g s: %.*s, layer %zu, step %llu", late, rank_,
                  seconds, static_cast<int>(what_.size()), what_.data(), layer_,
                  static_cast<unsigned long long>(step_));
    std::string message = text;
    if (ranks_ > 2 && !transport_.knowsAwaited())
        message += "; rank " + std::to_string(late) + " may itself be waiting for another";
    throw RankError(late, message);
}

} // namespace lockstep
