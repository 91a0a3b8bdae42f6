// Ranks as processes. A library by itself, the only one that links MPI: engine/many/mpi.h loads it. MPI is
// used on one thread, the one that makes the transport.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <optional>
#include <thread>

#include <mpi.h>

#include "engine/many/transport.h"

namespace lockstep {

namespace {

std::string textOf(int code) {
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    MPI_Error_string(code, text, &length);
    return {text, static_cast<std::size_t>(length)};
}

void require(int code, const char* call) {
    if (code != MPI_SUCCESS) throw std::runtime_error(std::string(call) + ": " + textOf(code));
}

class MpiTransport : public Transport {
  public:
    MpiTransport() {
        int before = 0, got = 0;
        MPI_Initialized(&before);
        if (before != 0) throw std::runtime_error("MPI can be used only once in a process");
        require(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &got), "MPI_Init_thread");
        if (got < MPI_THREAD_FUNNELED)
            throw std::runtime_error("this MPI serves no program that has threads: MPI_THREAD_FUNNELED");
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        rank_ = numberFrom(MPI_Comm_rank, MPI_COMM_WORLD);
        ranks_ = numberFrom(MPI_Comm_size, MPI_COMM_WORLD);
        MPI_Comm machine = MPI_COMM_NULL;
        require(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine),
                "MPI_Comm_split_type");
        localRank_ = numberFrom(MPI_Comm_rank, machine);
        localRanks_ = numberFrom(MPI_Comm_size, machine);
        MPI_Comm_free(&machine);
    }

    // MPI_Finalize() waits for all ranks, for ever: so they meet first, and are not waited for that long.
    // They may have come to their ends at different times: one writes what all have learned.
    ~MpiTransport() override {
        if (failure_) abort(*failure_);
        MPI_Request meeting = MPI_REQUEST_NULL;
        MPI_Ibarrier(MPI_COMM_WORLD, &meeting);
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(5);
        for (int met = 0; met == 0;) {
            if (MPI_Test(&meeting, &met, MPI_STATUS_IGNORE) != MPI_SUCCESS ||
                std::chrono::steady_clock::now() > limit)
                abort("it has ended, and some other has not for five minutes");
            if (met == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
        }
        MPI_Finalize();
    }

    std::size_t rank() const override { return rank_; }
    std::size_t ranks() const override { return ranks_; }
    std::size_t localRank() const override { return localRank_; }
    std::size_t localRanks() const override { return localRanks_; }

    Ticket send(std::size_t to, std::span<const std::byte> bytes) override {
        return begin(
            to, bytes,
            [&](std::span<const std::byte> piece, int count, MPI_Request& request) {
                return MPI_Isend(piece.data(), count, MPI_BYTE, static_cast<int>(to), 0, MPI_COMM_WORLD,
                                 &request);
            },
            false);
    }

    Ticket receive(std::size_t from, std::span<std::byte> bytes) override {
        return begin(
            from, bytes,
            [&](std::span<std::byte> piece, int count, MPI_Request& request) {
                return MPI_Irecv(piece.data(), count, MPI_BYTE, static_cast<int>(from), 0, MPI_COMM_WORLD,
                                 &request);
            },
            true);
    }

    bool done(Ticket ticket) override {
        Message& message = messages_[ticket];
        statuses_.resize(message.requests.size());
        int over = 0;
        const int code = MPI_Testall(static_cast<int>(message.requests.size()), message.requests.data(),
                                     &over, statuses_.data());
        if (code != MPI_SUCCESS) fail(message, code == MPI_ERR_IN_STATUS ? firstError() : code);
        if (over == 0) return false;
        if (message.incoming) requireSizes(message);
        message.requests.clear();
        free_.push_back(ticket);
        return true;
    }

    void abort(const std::string& why) override {
        std::fprintf(stderr, "rank %zu ends all ranks: %s\n", rank_, why.c_str());
        std::fflush(stderr);
        // mpirun passes on what it has read by then, and drops the rest.
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        MPI_Abort(MPI_COMM_WORLD, 1);
        std::_Exit(1); // it does not return
    }

    void giveUp(const RankError& error) override {
        failure_ = error.what();
        for (Message& message : messages_)
            for (MPI_Request& request : message.requests) {
                if (request == MPI_REQUEST_NULL) continue;
                if (message.incoming) MPI_Cancel(&request);
                MPI_Request_free(&request);
            }
    }

  private:
    // MPI counts in int: what is longer goes in pieces.
    static constexpr std::size_t longestPiece = std::size_t{1} << 30;

    struct Message {
        std::size_t other = 0;
        std::size_t size = 0;
        bool incoming = false;
        std::vector<MPI_Request> requests; // of its pieces; none: free
    };

    static std::size_t numberFrom(int (*call)(MPI_Comm, int*), MPI_Comm ranks) {
        int number = 0;
        require(call(ranks, &number), "MPI");
        return static_cast<std::size_t>(number);
    }

    template <class Byte, class Begin>
    Ticket begin(std::size_t other, std::span<Byte> bytes, const Begin& beginPiece, bool incoming) {
        if (free_.empty()) {
            free_.push_back(messages_.size());
            messages_.emplace_back();
        }
        const Ticket ticket = free_.back();
        free_.pop_back();
        Message& message = messages_[ticket];
        message.other = other;
        message.size = bytes.size();
        message.incoming = incoming;
        std::size_t at = 0;
        do {
            const std::span<Byte> piece = bytes.subspan(at, std::min(longestPiece, bytes.size() - at));
            const int code = beginPiece(piece, static_cast<int>(piece.size()),
                                        message.requests.emplace_back(MPI_REQUEST_NULL));
            if (code != MPI_SUCCESS) fail(message, code);
            at += piece.size();
        } while (at < bytes.size());
        return ticket;
    }

    int firstError() const {
        for (const MPI_Status& status : statuses_)
            if (status.MPI_ERROR != MPI_SUCCESS && status.MPI_ERROR != MPI_ERR_PENDING)
                return status.MPI_ERROR;
        return MPI_ERR_OTHER;
    }

    [[noreturn]] static void fail(const Message& message, int code) {
        const std::string who = "rank " + std::to_string(message.other);
        int kind = MPI_SUCCESS;
        MPI_Error_class(code, &kind);
        if (kind == MPI_ERR_TRUNCATE) throw RankError(message.other, who + aboutSomethingElse);
        throw RankError(message.other, who + " is out of reach: " + textOf(code));
    }

    void requireSizes(const Message& message) const {
        std::size_t size = 0;
        for (const MPI_Status& status : statuses_) {
            int count = 0;
            MPI_Get_count(&status, MPI_BYTE, &count);
            size += static_cast<std::size_t>(count);
        }
        if (size != message.size)
            throw RankError(message.other, "rank " + std::to_string(message.other) + aboutSomethingElse);
    }

    static constexpr const char* aboutSomethingElse =
        " is about something else: its message has another size than expected";

    std::size_t rank_ = 0, ranks_ = 1, localRank_ = 0, localRanks_ = 1;
    std::vector<Message> messages_; // by ticket
    std::vector<Ticket> free_;
    std::vector<MPI_Status> statuses_;
    std::optional<std::string> failure_;
};

} // namespace

} // namespace lockstep

/// What engine/many/mpi.cpp looks for.
extern "C" [[gnu::visibility("default")]] lockstep::Transport* lockstepMpiTransport() {
    return new lockstep::MpiTransport();
}
