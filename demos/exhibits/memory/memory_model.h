// "Memory" without its looks: what a run takes as it is and with each remedy, predicted whenever a setting
// changes, and measured on request.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/machines.h"
#include "demos/kit/run_settings.h"
#include "demos/kit/worker.h"
#include "engine/plan/memory_use.h"
#include "engine/plan/plan.h"
#include "engine/plan/tensor_table.h"

namespace lockstep::demos {

struct MemoryOptions {
    RunOptions run; ///< with one lane
    /// The most that may be taken of the device's own memory (of the host's, for a lane on the processor).
    /// Empty: what is free.
    std::optional<std::uint64_t> budgetMebibytes;

    bool operator==(const MemoryOptions&) const = default;
};

/// Weights, gradients, optimizer state and activations in the proportions 40 : 40 : 80 : 20, against a budget
/// of 80: the arithmetic of a large language model on one card, in MiB instead of GB.
MemoryOptions classicMemory();
/// Throws std::invalid_argument naming the field.
MemoryOptions memoryOptionsFromJson(const nlohmann::ordered_json& state);
nlohmann::ordered_json toJson(const MemoryOptions& options);
/// Lanes whose kernels are known before any is compared, so that their memory is.
std::vector<std::string> memoryLanes();

/// Bytes by MemoryCategory.
using CategoryBytes = std::array<std::uint64_t, std::size(memoryCategories)>;
std::uint64_t sumOf(const CategoryBytes& bytes);

/// What a run is going to take.
struct MemoryForecast {
    StepPlan plan;
    TensorTable tensors;  ///< lifetimes are places in the plan
    std::size_t rows = 0; ///< of a batch's tensors that a step uses; the others are for evaluations
    CategoryBytes own{};  ///< in the memory that computes
    CategoryBytes away{}; ///< of a device: in the host's
    bool fits = true;
    std::string refusal; ///< why it does not, where not for the budget
    /// Bytes of activations and gradients that each operation of the plan, or a later one, still needs.
    std::vector<std::uint64_t> needed;

    std::uint64_t bytes() const { return sumOf(own); }
    /// What the run leaves to the host, of one category.
    std::uint64_t left(MemoryCategory category) const {
        const bool leaves = category == MemoryCategory::optimizer || category == MemoryCategory::activations;
        return leaves ? away[static_cast<std::size_t>(category)] : 0;
    }
    std::uint64_t left() const { return left(MemoryCategory::optimizer) + left(MemoryCategory::activations); }
    std::size_t usedRows(const StoredTensor& tensor) const {
        return ofBatch(tensor.arena) ? std::min(tensor.rows, rows) : tensor.rows;
    }
    std::uint64_t usedBytes(const StoredTensor& tensor) const {
        return std::uint64_t{usedRows(tensor)} * tensor.stride * bytesOf(tensor.format);
    }
    std::uint64_t mostNeeded() const { return needed.empty() ? 0 : std::ranges::max(needed); }
};

/// What a run took, once it was made and has trained.
struct MemoryMeasure {
    std::uint64_t own = 0;
    std::uint64_t away = 0;
    bool asPredicted = false; ///< in every category and place, to the byte
    double secondsPerStep = 0;
    std::string failure; ///< instead of all that; empty: it has run
};

/// One way to train the same network.
struct MemoryChoice {
    std::string_view id;
    const char* label = "";
    const char* words = "";
    LaneSpec lane;
    MemorySettings memory;
    MemoryForecast forecast = {};
    std::string key = {}; ///< under which it is measured: settings, lane, remedies and device
};

class MemoryModel {
  public:
    MemoryModel() : options_(classicMemory()) {}

    const MemoryOptions& options() const { return options_; }
    void change(MemoryOptions options);
    /// Takes the lane and the remedies of a choice.
    void choose(const MemoryChoice& choice);

    /// Once per frame: loads the data, predicts where something has changed, and brings what was measured.
    /// With `wait`, all of it is there when this returns. Throws what is wrong with settings, data or device.
    void update(Machines& machines, bool wait);

    /// The run without any remedy first. Empty while the data are being loaded, or where it cannot be made.
    const std::vector<MemoryChoice>& choices() const { return choices_; }
    /// The choice that the settings are.
    const MemoryChoice& chosen() const;
    /// The network and its settings; null while the data are being loaded.
    const TrainJob* job() const { return job_ ? &*job_ : nullptr; }
    /// The chosen lane's device has one memory for everything: offloading saves none of it.
    bool oneMemory() const { return oneMemory_; }
    /// Where the chosen run is beyond a budget that was set: a batch and options with which it would not be.
    /// May be empty.
    const std::string& advice() const { return advice_; }
    /// The data are on their way.
    bool loading() const { return !job_ && !failed_; }
    /// What the budget is, in bytes: the one that was set, what the device has left, or, for a lane on the
    /// processor, what the machine has. 0: not known.
    std::uint64_t budget() const { return budget_; }

    /// Makes every choice that fits into the machine, one after the other, and times some of its steps. While
    /// the data are being loaded, once they are there.
    ///   rough   fewer of them
    void measure(Machines& machines, bool rough);
    void stop() {
        wanted_.reset();
        work_.cancel();
    }
    bool measuring() const { return wanted_ || !work_.idle(); }
    /// The label of the choice being measured; empty: none.
    std::string doing() const { return work_.doing(); }
    /// Null: not measured.
    const MemoryMeasure* measured(const MemoryChoice& choice) const;
    void forgetMeasured() { measured_.clear(); }
    /// Gives up everything on the device, and waits for it. What was measured is kept. Returns whether it was
    /// measuring.
    bool releaseDevice();

  private:
    void takeJob(Machines& machines, bool wait);
    void predict(Machines& machines);
    std::string keyOf(const MemoryChoice& choice, const std::string& device) const;

    MemoryOptions options_;
    DataLoader loader_;
    std::shared_ptr<const Dataset> data_;
    std::optional<TrainJob> job_;
    std::vector<MemoryChoice> choices_;
    MemorySettings memory_; ///< what the network has a use for of those that are set
    bool oneMemory_ = false;
    std::uint64_t budget_ = 0;
    std::string advice_;
    bool failed_ = false;        ///< settings or data are wrong
    bool changed_ = true;        ///< since they were predicted
    std::optional<bool> wanted_; ///< to be measured as soon as there is a job: whether roughly
    std::map<std::string, MemoryMeasure> measured_; ///< by MemoryChoice::key
    WorkQueue work_; ///< last: its thread uses none of the above, but tells news to them
};

} // namespace lockstep::demos
