// Where the tensors of a run lie: their sizes in memory, their places in the arenas, and for how much of a
// plan each of them is needed. Backends allocate their arenas from it, and what a run will take is known
// before it begins.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/net/param_layout.h"
#include "engine/plan/plan.h"

namespace lockstep {

/// How a backend stores the tensors of a batch.
struct TensorStorage {
    std::size_t rows = 0;         ///< that A, t and Z have room for
    std::size_t gradientRows = 0; ///< the same of dZ; evaluations need none
    std::size_t targetWidth = 1;
    std::size_t widthGrain = 4; ///< widths are rounded up to a multiple of it, except that of targets
    std::size_t alignment = 64; ///< bytes: a tensor begins at a multiple of it
    /// A, Z and dZ are fp16, and there are fp16 copies of the weights for the products to read: the update
    /// writes them, so no operation of the plan does.
    bool half = false;
    /// Tensors of the batch that no operation needs at the same time may share memory. What a plan leaves
    /// behind is then only what its last operation wrote.
    bool reuse = false;
    RankShare share = {}; ///< whose shards the optimizer's state is
};

/// Operations of a plan, by their places.
struct Lifetime {
    std::size_t first = 0;
    std::size_t last = 0;
};

/// A tensor as it is stored: [rows][stride], of which the first `columns` numbers of each row count.
struct StoredTensor {
    TensorId id; ///< never `updated`: a step replaces parameters and state where they are
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t stride = 0;
    NumberFormat format = NumberFormat::fp32;
    TensorArena arena = TensorArena::activations;
    std::uint64_t offset = 0; ///< bytes, in its arena
    /// When its numbers are needed: from the operation that writes them to the last one that reads them, by
    /// their places in the plan. Several times, where they are computed anew.
    std::vector<Lifetime> lifetimes = {};
    bool trains = false; ///< the plan changes it for the next step: parameters, and what the optimizer keeps

    std::size_t firstUse() const { return lifetimes.front().first; }
    std::size_t lastUse() const { return lifetimes.back().last; }
    std::uint64_t bytes() const { return std::uint64_t{rows} * stride * bytesOf(format); }
};

class TensorTable {
  public:
    TensorTable() = default;
    /// The tensors that the plan's operations read and write.
    TensorTable(const NetShape& net, const OptimizerSettings& optimizer, const StepPlan& plan,
                const TensorStorage& storage);

    std::span<const StoredTensor> rows() const { return rows_; }
    bool has(const TensorId& id) const;
    /// Throws std::out_of_range for a tensor that the plan does not touch.
    const StoredTensor& at(const TensorId& id) const;
    /// Bytes of an arena; 0 where the plan needs none of its tensors.
    std::uint64_t arenaBytes(TensorArena arena) const { return arenas_[static_cast<std::size_t>(arena)]; }

  private:
    StoredTensor& stored(const TensorId& id);
    void read(const TensorId& id, std::size_t operation);
    void write(const TensorId& id, std::size_t operation);
    void place(StoredTensor& tensor, bool reuse);

    NetShape net_;
    ParamLayout layout_;
    TensorStorage storage_;
    std::vector<StoredTensor> rows_;
    std::vector<std::vector<std::size_t>> index_; ///< by kind and layer: the row, or none
    std::array<std::uint64_t, tensorArenas> arenas_{};
};

} // namespace lockstep
