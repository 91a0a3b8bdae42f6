#include "demos/kit/rank_session.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/parse.h"
#include "demos/report/memory_report.h"
#include "engine/cpu/cpu_info.h"
#include "engine/many/mpi.h"
#include "engine/platform/folders.h"
#include "engine/run/rank_team.h"

namespace lockstep::demos {

using Json = nlohmann::ordered_json;

RankSession::RankSession(const RankOptions& options, const std::string& device)
    : options_(options), devices_(namesFromText(device)) {
    if (devices_.empty()) devices_.emplace_back();
    const std::optional<std::size_t> processes = ranksByEnvironment();
    if (!options_.shares) {
        if (devices_.size() > 1)
            throw std::invalid_argument(
                "--device takes several devices only with --parallel, a rank on each");
        return;
    }
    if (!processes) {
        ranks_ = options_.ranks > 0 ? options_.ranks : std::max<std::size_t>(2, devices_.size());
        return;
    }
    if (options_.ranks > 0 && options_.ranks != *processes)
        throw std::invalid_argument(fmt::format(
            "--ranks {} does not fit the {} processes that mpirun has started; leave it out there",
            options_.ranks, *processes));
    try {
        exchange_ = std::make_unique<Exchange>([] { return mpiTransport(platform::programFolder()); },
                                               options_.exchange);
    } catch (const RankError&) {
        throw;
    } catch (const std::runtime_error& error) { // no MPI in this build, or on this machine
        throw std::invalid_argument(std::string("--parallel under mpirun: ") + error.what());
    }
    rank_ = exchange_->rank();
    ranks_ = exchange_->ranks();
    if (!speaks()) std::freopen("/dev/null", "w", stdout); // NOLINT: nothing depends on it
}

RankSession::~RankSession() = default;

void RankSession::requireSame(std::string_view what, const std::string& own) {
    if (exchange_) exchange_->agree(what, own);
}

TrainJob RankSession::share(TrainJob job) const {
    if (!shared()) return job;
    job.settings.share = {rank_, ranks_, options_.shard};
    job.exchange = exchange_.get();
    return job;
}

std::size_t RankSession::threadsOf(std::size_t asked, std::size_t onThisMachine) const {
    if (asked > 0 || !shared()) return asked;
    return std::max<std::size_t>(1, usablePhysicalCores().physical / onThisMachine);
}

Lane::MakeTrainer RankSession::maker(Machines& machines, const TrainJob& job, LaneSpec spec,
                                     MachineShare share) {
    if (shared() && spec.row().half)
        throw std::invalid_argument(
            spec.text() + " scales its loss by what overflows on one device; ranks share a batch on "
                          "rungs of fp32");
    const auto specOf = [this, spec](std::size_t rank) {
        LaneSpec own = spec;
        if (own.gpu && own.device.empty()) own.device = deviceOf(rank);
        return own;
    };
    share.threads = threadsOf(share.threads > 0 ? share.threads : machines.threads(),
                              exchange_ ? exchange_->localRanks() : ranks_);
    if (!shared()) return machines.maker(job, spec, share);
    if (exchange_) return machines.maker(job, specOf(exchange_->localRank()), share);
    std::vector<Lane::MakeTrainer> makers;
    for (std::size_t rank = 0; rank < ranks_; ++rank) machines.deviceOf(specOf(rank)); // opened here
    return [this, job, specOf, share, &machines](const std::atomic<bool>* cancelled, Tuning*) {
        const auto make = [&](const TrainJob& own, std::size_t rank) {
            return machines.maker(own, specOf(rank), share)(cancelled, nullptr);
        };
        return makeRankTeam(job, make, options_.exchange);
    };
}

void RankSession::join(LaneOptions& lane) {
    if (shared() && exchange_) lane.agree = [this](std::uint64_t move) { return exchange_->smallest(move); };
}

std::vector<Json> RankSession::memoryOf(const Trainer& trainer) {
    std::vector<Json> all;
    for (const RankMemory& rank : trainer.memoryByRank())
        all.push_back(memoryJson(rank.predicted, rank.allocated));
    if (!exchange_) return all;
    const std::vector<std::string> texts = exchange_->gatherTexts(all.front().dump());
    all.clear();
    for (const std::string& text : texts) all.push_back(Json::parse(text));
    return all;
}

Json RankSession::toJson() const {
    return {{"kind", "data"},
            {"shard", options_.shard},
            {"exchange", name(options_.exchange.format)},
            {"all_reduce", name(options_.exchange.allReduce)},
            {"overlap", options_.exchange.overlap},
            {"processes", processes()}};
}

std::string RankSession::text() const {
    if (!shared()) return {};
    return fmt::format(
        "each batch is shared by {} ranks, {} of them on this machine as {}{}; "
        "gradients are exchanged in {} by {}{}\n",
        ranks_, exchange_ ? exchange_->localRanks() : ranks_, exchange_ ? "processes" : "threads",
        options_.shard > 0 ? ", and so is the optimizer's state" : "", name(options_.exchange.format),
        name(options_.exchange.allReduce), options_.exchange.overlap ? "" : ", without overlap");
}

int RankSession::anyInterrupt(int own) {
    constexpr int most = 255;
    if (!shared() || !exchange_) return own;
    return most - static_cast<int>(exchange_->smallest(static_cast<std::uint64_t>(most - own)));
}

void RankSession::abort(const std::string& why) {
    if (exchange_) exchange_->abort(why);
}

} // namespace lockstep::demos
