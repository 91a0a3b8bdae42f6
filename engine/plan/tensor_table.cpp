#include "engine/plan/tensor_table.h"

#include <algorithm>
#include <stdexcept>

#include "engine/net/shards.h"

namespace lockstep {

namespace {

constexpr std::size_t noRow = static_cast<std::size_t>(-1);

std::uint64_t roundUp(std::uint64_t value, std::uint64_t grain) {
    return (value + grain - 1) / grain * grain;
}

bool liveTogether(const StoredTensor& a, const StoredTensor& b) {
    for (const Lifetime& one : a.lifetimes)
        for (const Lifetime& other : b.lifetimes)
            if (one.first <= other.last && other.first <= one.last) return true;
    return false;
}

bool readsWeightCopies(Operation operation) {
    return operation == Operation::dense || operation == Operation::denseBackwardInputs;
}

} // namespace

TensorTable::TensorTable(const NetShape& net, const OptimizerSettings& optimizer, const StepPlan& plan,
                         const TensorStorage& storage)
    : net_(net), layout_(net), storage_(storage),
      index_(std::size(tensorKinds), std::vector<std::size_t>(net.layers() + 1, noRow)) {
    for (std::size_t at = 0; at < plan.operations.size(); ++at) {
        const PlannedOperation& operation = plan.operations[at];
        const Operands operands = operandsOf(net, optimizer, operation);
        for (const TensorId& id : operands.reads) read(id, at);
        for (const TensorId& id : operands.writes) write(id, at);
        if (storage.half &&
            readsWeightCopies(operation.operation)) // the update writes them, for the next step
            read({TensorKind::weightCopies, operation.layer}, at);
    }
    // Copies of weights outlive the step, and keep their memory to themselves.
    for (StoredTensor& tensor : rows_) place(tensor, storage.reuse && ofBatch(tensor.arena));
}

bool TensorTable::has(const TensorId& id) const {
    return index_.at(static_cast<std::size_t>(id.kind)).at(id.layer) != noRow;
}

const StoredTensor& TensorTable::at(const TensorId& id) const {
    if (!has(id)) throw std::out_of_range("the plan does not touch " + name(id));
    return rows_[index_[static_cast<std::size_t>(id.kind)][id.layer]];
}

StoredTensor& TensorTable::stored(const TensorId& id) {
    std::size_t& row = index_[static_cast<std::size_t>(id.kind)][id.layer];
    if (row != noRow) return rows_[row];
    row = rows_.size();
    const TensorArena arena = rowOf(id.kind).arena;
    const std::size_t batch = arena == TensorArena::dSums ? storage_.gradientRows : storage_.rows;
    const TensorSize size = sizeOf(id, net_, batch, storage_.targetWidth);
    const std::size_t grain = arena == TensorArena::targets ? 1 : ofBatch(arena) ? storage_.widthGrain : 4;
    rows_.push_back({.id = {id.kind, id.layer},
                     .rows = size.rows,
                     .columns = size.columns,
                     .stride = roundUp(size.columns, grain),
                     .format = formatOf(id.kind, storage_.half),
                     .arena = arena});
    return rows_.back();
}

void TensorTable::read(const TensorId& id, std::size_t operation) {
    StoredTensor& tensor = stored(id);
    if (tensor.lifetimes.empty())
        tensor.lifetimes.push_back({operation, operation}); // there since the step before
    else
        tensor.lifetimes.back().last = operation;
}

void TensorTable::write(const TensorId& id, std::size_t operation) {
    StoredTensor& tensor = stored(id);
    tensor.trains = tensor.trains || id.updated;
    const bool changed = !tensor.lifetimes.empty() && tensor.lifetimes.back().last == operation;
    if (!changed) tensor.lifetimes.push_back({operation, operation});
}

// With `reuse`, a tensor takes the lowest place at which it meets none of those that live at the same time.
void TensorTable::place(StoredTensor& tensor, bool reuse) {
    std::uint64_t& end = arenas_[static_cast<std::size_t>(tensor.arena)];
    if (byParamLayout(tensor.arena)) {
        const LayerLayout& layer = layout_.layer(tensor.id.layer);
        std::size_t first = rowOf(tensor.id.kind).vector ? layer.biasOffset : layer.weightOffset;
        std::size_t floats = layout_.size();
        const bool state = tensor.arena == TensorArena::state1 || tensor.arena == TensorArena::state2;
        if (storage_.share.shard > 0) {
            const Shards shards(layout_, storage_.share);
            if (state) { // a part of weights and biases together
                first = shards.stateOf(tensor.id.layer);
                floats = shards.stateSize();
            } else if (tensor.arena == TensorArena::gradients) {
                first = first - layer.weightOffset + shards.gradients(tensor.id.layer).begin;
                floats = shards.gradientSize();
            }
        }
        tensor.offset = first * bytesOf(tensor.format);
        end = floats * bytesOf(tensor.format);
        return;
    }
    const std::uint64_t size = roundUp(tensor.bytes(), storage_.alignment);
    const auto taken = [&](std::uint64_t offset) -> std::uint64_t { // the end of what is in the way; or 0
        for (const StoredTensor* other = rows_.data(); other != &tensor; ++other)
            if (other->arena == tensor.arena && (!reuse || liveTogether(*other, tensor)) &&
                offset < other->offset + other->bytes() && other->offset < offset + size)
                return roundUp(other->offset + other->bytes(), storage_.alignment);
        return 0;
    };
    while (const std::uint64_t next = taken(tensor.offset)) tensor.offset = next;
    end = std::max(end, tensor.offset + size);
}

} // namespace lockstep
