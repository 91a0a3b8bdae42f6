// The ranks that a command's training is shared by: threads of this process, or the processes that mpirun has
// started. A command shares its job, makes its lanes' trainers here, and lets rank 0 alone speak.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/kit/machines.h"
#include "demos/options/run_options.h"
#include "engine/many/exchange.h"
#include "engine/many/rank_watch.h"
#include "engine/run/lane.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

class RankSession {
  public:
    /// Where mpirun has started the program, meets the other processes, and mutes all but the first.
    /// device   as --device: numbers, names or UUIDs, separated by commas, for rank after rank of a machine
    /// Throws std::invalid_argument for --ranks under mpirun, and for --parallel without MPI there, naming
    /// the package; RankError as Exchange.
    RankSession(const RankOptions& options, const std::string& device);
    ~RankSession();

    bool shared() const { return options_.shares && ranks_ > 1; }
    bool processes() const { return exchange_ != nullptr; }
    std::size_t ranks() const { return ranks_; }
    /// Whether this process writes results and prints.
    bool speaks() const { return rank_ == 0; }

    /// The devices, for Machines: the first of the list.
    std::string firstDevice() const { return devices_.empty() ? std::string() : devices_.front(); }

    /// Throws RankError, on all processes alike, where one is about something else than rank 0: `what` is
    /// "version", "job", "data". Nothing to do within one process.
    void requireSame(std::string_view what, const std::string& own);
    /// Requires each of an object's values to be the same on all processes, and names its key.
    void requireSame(const nlohmann::ordered_json& settings);

    /// The job as one of the ranks sees it.
    TrainJob share(TrainJob job) const;
    /// As Machines::maker(), of a job that was shared. A CPU rank has its part of this machine's cores.
    Lane::MakeTrainer maker(Machines& machines, const TrainJob& job, LaneSpec spec, MachineShare share);
    /// Lanes of processes make the same steps, and end together.
    void join(LaneOptions& lane);

    /// Every rank's memory, as {"predicted_bytes", "allocated_bytes", "categories"}, by rank. All processes
    /// have to ask, also those whose lane has no trainer (null).
    std::vector<nlohmann::ordered_json> memoryOf(const Trainer* trainer);
    /// What all ranks did in their first steps, for --trace (engine/many/rank_trace.h). All processes have to
    /// call it.
    void writeTrace(const std::string& about, std::size_t layers);
    /// {"kind", "shard", "exchange", "all_reduce", "overlap", "processes"}.
    nlohmann::ordered_json toJson() const;
    /// "each batch is shared by 4 ranks, ...", a line of its own; empty for one.
    std::string text() const;

    /// The exit code of an interrupt that came to any of the processes; 0: none.
    int anyInterrupt(int own);
    /// Whether that holds on all processes.
    bool all(bool own);
    /// Ends the other processes, too, after telling why. Nothing to do within one process.
    void abort(const std::string& why);

  private:
    void watch(std::size_t here);
    const std::string& deviceOf(std::size_t rank) const { return devices_[rank % devices_.size()]; }
    std::size_t threadsOf(std::size_t asked, std::size_t onThisMachine) const;

    RankOptions options_;
    std::vector<std::string> devices_;
    std::vector<RankWatch> watches_;     ///< of this process's ranks, for --trace
    std::unique_ptr<Exchange> exchange_; ///< between processes
    std::atomic<bool> stopped_ = false;  ///< all processes have agreed to
    std::size_t rank_ = 0;
    std::size_t ranks_ = 1;
};

} // namespace lockstep::demos
