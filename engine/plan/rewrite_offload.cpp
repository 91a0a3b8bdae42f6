// Activations in the host's memory. The backward pass needs what each layer has read (A[l], and Z[l - 1]
// where a derivative is computed from it), the lowest layers' last: in a deep network, most of it lies idle
// from its forward product on. Here it is copied to the host's memory as soon as it is written, beside the
// product that reads it, and copied back one operation before the backward pass asks for it, beside that
// operation. In between, other layers lie in its place (TensorTable's `reuse` sees that). A copy has the same
// bits, so the results have them, too. The price is the bus: twice the bytes of each copied tensor.
// Source: Rhu et al. 2016, "vDNN: Virtualized deep neural networks for scalable, memory-efficient neural
// network design", arXiv 1602.08124.
//
// A copy has to lower the most that a step needs at once, or it is not made. The outputs of the last hidden
// layer stay, for the backward pass begins with them. So do others, as far as there is room below the peak
// that no copy can lower: behind a wide first layer, often all narrow ones.
//
// Copies are recorded like dispatches, into the same queue: the engine has one for training. No barrier
// stands between a copy and the kernel beside it; whether they run at the same time is for the device to
// decide.
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "engine/plan/rewrites.h"
#include "engine/plan/tensor_table.h"

namespace lockstep {

namespace {

constexpr std::size_t nowhere = static_cast<std::size_t>(-1);

/// What the backward pass needs of a level, and the operations between which it lies idle, by their places in
/// the plan.
struct IdleLevel {
    std::size_t level = 0;
    std::size_t written = nowhere;
    std::size_t lastRead = nowhere; ///< by the forward pass
    std::size_t needed = nowhere;   ///< by the backward pass
    bool again = false;             ///< which computes it itself (recomputeForward())

    /// The operation that runs beside the copy back.
    std::size_t fetched() const { return needed - 1; }
    bool idle() const { return needed != nowhere && !again && fetched() > lastRead + 1; }
};

/// A tensor of such a level, and for which operations the device can do without it.
struct Absence {
    const StoredTensor& tensor;
    std::size_t begin;
    std::size_t end;
};

/// The lowest level first.
std::vector<IdleLevel> idleLevels(const StepPlan& plan, const NetShape& net) {
    std::vector<IdleLevel> levels(net.layers()); // the outputs, one more, are the loss's
    bool backward = false;
    for (std::size_t at = 0; at < plan.operations.size(); ++at) {
        const PlannedOperation& operation = plan.operations[at];
        const Operands operands = operandsOf(net, {}, operation);
        const auto each = [&](const std::vector<TensorId>& ids, const auto& note) {
            for (const TensorId& id : ids) {
                const bool sums = id.kind == TensorKind::sums;
                if (!sums && id.kind != TensorKind::activations) continue;
                if (const std::size_t level = id.layer + (sums ? 1 : 0); level < levels.size())
                    note(levels[level]);
            }
        };
        each(operands.reads, [&](IdleLevel& level) {
            if (!backward)
                level.lastRead = at;
            else if (level.needed == nowhere)
                level.needed = at;
        });
        each(operands.writes, [&](IdleLevel& level) {
            if (!backward) level.written = at;
            level.again |= backward && level.needed == nowhere;
        });
        backward |= operation.operation == Operation::lossAndGradient;
    }
    for (std::size_t level = 0; level < levels.size(); ++level) levels[level].level = level;
    std::erase_if(levels, [](const IdleLevel& level) { return !level.idle(); });
    return levels;
}

std::vector<Absence> absencesOf(const IdleLevel& idle, const NetShape& net, const TensorTable& tensors) {
    std::vector<Absence> absences;
    for (const TensorId& id : operandsOf(net, {}, {Operation::storeActivations, idle.level}).reads)
        absences.push_back({tensors.at(id), 1 + (id.kind == TensorKind::sums ? idle.written : idle.lastRead),
                            idle.fetched()});
    return absences;
}

/// For each example of a batch.
TensorTable tensorsOf(const StepPlan& plan, const NetShape& net) {
    return {net, {}, plan, {.rows = 1, .gradientRows = 1, .alignment = 1, .reuse = true}};
}

/// Leaves the levels whose copies lower the peak of an arena. Of the others, the highest stay first: they are
/// needed again soonest.
void keepWhatFits(std::vector<IdleLevel>& levels, const StepPlan& plan, const NetShape& net,
                  const TensorTable& tensors) {
    std::array<std::vector<std::uint64_t>, tensorArenas> needed; // bytes of an example, by operation
    needed.fill(std::vector<std::uint64_t>(plan.operations.size()));
    const auto neededIn = [&](const StoredTensor& tensor) -> std::vector<std::uint64_t>& {
        return needed[static_cast<std::size_t>(tensor.arena)];
    };
    for (const StoredTensor& tensor : tensors.rows())
        for (const Lifetime& life : tensor.lifetimes)
            for (std::size_t at = life.first; at <= life.last; ++at) neededIn(tensor)[at] += tensor.bytes();
    for (const IdleLevel& level : levels)
        for (const Absence& absence : absencesOf(level, net, tensors))
            for (std::size_t at = absence.begin; at < absence.end; ++at)
                neededIn(absence.tensor)[at] -= absence.tensor.bytes();
    const auto peaks = needed;
    const auto fits = [&](const Absence& absence) {
        const std::vector<std::uint64_t>& with = neededIn(absence.tensor);
        const std::uint64_t peak = std::ranges::max(peaks[static_cast<std::size_t>(absence.tensor.arena)]);
        return std::all_of(with.begin() + static_cast<std::ptrdiff_t>(absence.begin),
                           with.begin() + static_cast<std::ptrdiff_t>(absence.end),
                           [&](std::uint64_t bytes) { return bytes + absence.tensor.bytes() <= peak; });
    };
    for (std::size_t at = levels.size(); at-- > 0;) {
        const std::vector<Absence> absences = absencesOf(levels[at], net, tensors);
        if (!std::ranges::all_of(absences, fits)) continue;
        for (const Absence& absence : absences)
            for (std::size_t place = absence.begin; place < absence.end; ++place)
                neededIn(absence.tensor)[place] += absence.tensor.bytes();
        levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(at));
    }
}

} // namespace

void offloadActivations(StepPlan& plan, const NetShape& net) {
    for (const PlannedOperation& each : plan.operations)
        if (!each.parts.empty() && each.operation != Operation::denseBackwardWeightsAndUpdate)
            throw std::logic_error("activations cannot be copied out of '" +
                                   std::string(name(each.operation)) + "'");
    std::vector<IdleLevel> levels = idleLevels(plan, net);
    const TensorTable tensors = tensorsOf(plan, net);
    keepWhatFits(levels, plan, net, tensors);
    StepPlan copied;
    for (std::size_t at = 0; at < plan.operations.size(); ++at) {
        for (const IdleLevel& level : levels)
            if (level.fetched() == at)
                copied.operations.push_back({Operation::fetchActivations, level.level});
        copied.operations.push_back(plan.operations[at]);
        for (const IdleLevel& level : levels)
            if (level.written == at) copied.operations.push_back({Operation::storeActivations, level.level});
    }
    // A tensor has one place for all of its lifetimes, so a lower peak may not be within reach.
    const auto bytes = [](const TensorTable& table) {
        return table.arenaBytes(TensorArena::activations) + table.arenaBytes(TensorArena::sums);
    };
    if (bytes(tensorsOf(copied, net)) < bytes(tensors)) plan = std::move(copied);
}

} // namespace lockstep
