#include "demos/kit/rank_session.h"

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/parse.h"
#include "demos/report/memory_report.h"
#include "demos/words/streams.h"
#include "engine/cpu/cpu_info.h"
#include "engine/many/mpi.h"
#include "engine/many/rank_trace.h"
#include "engine/platform/folders.h"
#include "engine/run/make_trainer.h"
#include "engine/run/rank_team.h"

namespace lockstep::demos {

using Json = nlohmann::ordered_json;

namespace {

// "0,1" is a list of numbers; a name may have commas of its own.
std::vector<std::string> devicesOf(const std::string& device) {
    std::vector<std::string> names = namesFromText(device);
    const auto isNumber = [](const std::string& name) {
        return std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
    };
    if (names.size() < 2 || !std::ranges::all_of(names, isNumber)) names = {device};
    return names;
}

} // namespace

RankSession::RankSession(const RankOptions& options, const std::string& device)
    : options_(options), devices_(devicesOf(device)) {
    const std::optional<std::size_t> processes = ranksByEnvironment();
    if (!options_.shares) {
        if (devices_.size() > 1)
            throw std::invalid_argument(
                "--device takes several devices only with --parallel, a rank on each");
        if (processes && *processes > 1 && rankByEnvironment() == 0)
            printError(
                "note: mpirun has started {} processes, and each trains for itself; --parallel data lets "
                "them share the training\n",
                *processes);
        return;
    }
    constexpr std::size_t mostThreads = 64;
    if (options_.ranks > mostThreads)
        throw std::invalid_argument(
            fmt::format("--ranks takes 1 to {} ranks of one process, not {}", mostThreads, options_.ranks));
    if (!processes) {
        ranks_ = options_.ranks > 0 ? options_.ranks : std::max<std::size_t>(2, devices_.size());
        watch(ranks_);
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
    watch(1);
    if (!watches_.empty()) {
        exchange_->keepRecords(true);
        exchange_->setWatch(&watches_.front());
    }
    if (!speaks()) std::freopen("/dev/null", "w", stdout); // NOLINT: nothing depends on it
}

RankSession::~RankSession() = default;

void RankSession::requireSame(std::string_view what, const std::string& own) {
    if (exchange_) exchange_->agree(what, own);
}

void RankSession::requireSame(const Json& settings) {
    if (!exchange_) return;
    for (const auto& [key, value] : settings.items()) exchange_->agree(key, value.dump());
}

void RankSession::watch(std::size_t here) {
    if (options_.traceFile.empty()) return;
    watches_ = std::vector<RankWatch>(here);
    for (RankWatch& each : watches_) each.keep(true);
}

void RankSession::writeTrace(const std::string& about, std::size_t layers) {
    if (!shared() || watches_.empty()) return;
    RankTrace trace{about, ranks_, layers, {}};
    for (RankWatch& each : watches_) {
        const std::vector<RankSpan> spans = each.takeSpans();
        trace.spans.insert(trace.spans.end(), spans.begin(), spans.end());
    }
    if (exchange_)
        trace = gatherTrace(*exchange_, trace);
    else
        std::ranges::stable_sort(trace.spans, {}, &RankSpan::begin);
    if (speaks()) writeRankTrace(options_.traceFile, trace);
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
    if (shared() && (spec.row().foldsUpdate || spec.rung == Rung::wholeStep))
        throw std::invalid_argument(spec.text() +
                                    " keeps no gradients that ranks could add up; take another rung");
    if (shared() && spec.gpu && spec.row().half)
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
    std::vector<gpu::Device*> devices; // opened here, before their threads begin
    for (std::size_t rank = 0; rank < ranks_; ++rank) devices.push_back(machines.deviceOf(specOf(rank)));
    return [this, job, specOf, share, devices](const std::atomic<bool>* cancelled, Tuning*) {
        const auto make = [&](const TrainJob& own, std::size_t rank) {
            return makeTrainer(own, specOf(rank), share, devices[rank], cancelled);
        };
        return makeRankTeam(job, make, options_.exchange, watches_);
    };
}

void RankSession::join(LaneOptions& lane) {
    if (!shared() || !exchange_) return;
    lane.agree = [this](std::uint64_t move) {
        if (!watches_.empty()) watches_.front().collect(*exchange_);
        if (stopped_) return LaneOptions::stops; // with an earlier lane: no rank asks about later ones
        const std::uint64_t agreed = exchange_->smallest(move);
        stopped_ = agreed == LaneOptions::stops;
        return agreed;
    };
    lane.lost = [this](const std::string& why) { abort(why); };
}

std::vector<Json> RankSession::memoryOf(const Trainer* trainer) {
    std::vector<Json> all;
    if (trainer != nullptr)
        for (const RankMemory& rank : trainer->memoryByRank())
            all.push_back(memoryJson(rank.predicted, rank.allocated));
    if (!exchange_) return all;
    const std::vector<std::string> texts = exchange_->gatherTexts(all.empty() ? "null" : all.front().dump());
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
    return fmt::format("each batch is shared by {} ranks, {} of them on this machine as {}{}; "
                       "gradients are exchanged in {} by {}{}\n",
                       ranks_, exchange_ ? exchange_->localRanks() : ranks_,
                       exchange_ ? "processes" : "threads",
                       options_.shard == 0   ? ""
                       : options_.shard == 1 ? ", and so is the optimizer's state"
                                             : ", and so are the optimizer's state and the gradients",
                       name(options_.exchange.format), name(options_.exchange.allReduce),
                       options_.exchange.overlap ? "" : ", without overlap");
}

int RankSession::anyInterrupt(int own) {
    constexpr int most = 255;
    if (!shared() || !exchange_) return own;
    return most - static_cast<int>(exchange_->smallest(static_cast<std::uint64_t>(most - own)));
}

bool RankSession::all(bool own) {
    return shared() && exchange_ ? exchange_->smallest(own ? 1 : 0) == 1 : own;
}

void RankSession::abort(const std::string& why) {
    if (exchange_) exchange_->abort(why);
}

} // namespace lockstep::demos
