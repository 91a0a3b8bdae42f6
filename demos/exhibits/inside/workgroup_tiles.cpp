#include "demos/exhibits/inside/workgroup_tiles.h"

#include <algorithm>
#include <vector>

#include "engine/net/net_shape.h"

namespace lockstep::demos {

namespace {

std::size_t dividedUp(std::size_t value, std::size_t by) { return (value + by - 1) / by; }

/// All of its workgroups have noted their time, and no others.
bool ranAs(const GroupTiles& tiles, const std::vector<gpu::WorkgroupTime>& workgroups) {
    std::size_t across = 0, down = 0, layers = 0;
    for (const gpu::WorkgroupTime& each : workgroups) {
        across = std::max<std::size_t>(across, each.group[0] + 1);
        down = std::max<std::size_t>(down, each.group[1] + 1);
        layers = std::max<std::size_t>(layers, each.group[2] + 1);
    }
    return across == tiles.across() && down == tiles.down() && layers == 1 &&
           workgroups.size() == across * down;
}

} // namespace

std::size_t GroupTiles::across() const { return dividedUp(roundUpToFour(columns), tileColumns); }
std::size_t GroupTiles::down() const { return dividedUp(rows, tileRows); }

MatrixPart GroupTiles::tile(std::size_t group) const {
    const std::size_t row = group / across() * tileRows, column = group % across() * tileColumns;
    return {row, column, std::min(tileRows, rows - std::min(row, rows)),
            std::min(tileColumns, columns - std::min(column, columns))};
}

std::size_t GroupTiles::groupOf(std::size_t row, std::size_t column) const {
    return row / tileRows * across() + column / tileColumns;
}

bool isProduct(const TracedOperation& operation) {
    const Operation kind = operation.shownAs();
    return kind == Operation::dense || kind == Operation::denseBackwardInputs ||
           kind == Operation::denseBackwardWeights;
}

std::optional<GroupTiles> tilesOf(const StepTrace& trace, const TracedOperation& operation) {
    if (!isProduct(operation) || operation.replaced || operation.workgroups.empty()) return std::nullopt;
    for (const TensorId& id : operation.writes) {
        const TracedTensor* output = trace.find(id);
        const bool matrix = id.kind == TensorKind::dSums || id.kind == TensorKind::dWeights ||
                            id.kind == TensorKind::weights ||
                            (id.kind == TensorKind::activations && id.layer > 0); // A[0] is fetched
        if (!matrix || output == nullptr) continue;
        const auto [columns, rows] = operation.itemsPerGroup;
        const GroupTiles tiles{id, output->rows, output->columns, rows, columns};
        return ranAs(tiles, operation.workgroups) ? std::optional(tiles) : std::nullopt;
    }
    return std::nullopt;
}

} // namespace lockstep::demos
