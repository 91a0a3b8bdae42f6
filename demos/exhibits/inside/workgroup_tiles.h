// Which outputs each workgroup of a product computes: the tiles of its output matrix.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "engine/step/step_trace.h"

namespace lockstep::demos {

/// A rectangle of a matrix; as a size alone, its corner is the first element.
struct MatrixPart {
    std::size_t row = 0; ///< the first
    std::size_t column = 0;
    std::size_t rows = 0;
    std::size_t columns = 0;

    bool operator==(const MatrixPart&) const = default;
};

/// A matrix cut into tiles, one per workgroup, numbered as gl_WorkGroupID counts them: along x, then y.
struct GroupTiles {
    TensorId output;
    std::size_t rows = 0; ///< of the output, without padding
    std::size_t columns = 0;
    std::size_t tileRows = 0; ///< outputs of a workgroup
    std::size_t tileColumns = 0;

    /// Workgroups along x; they compute the padding of rows, too.
    std::size_t across() const;
    std::size_t down() const; ///< workgroups along y
    /// What workgroup `group` computes, without padding.
    MatrixPart tile(std::size_t group) const;
    /// The workgroup that computes an output.
    std::size_t groupOf(std::size_t row, std::size_t column) const;
};

bool isProduct(const TracedOperation& operation);

/// The tiles of the workgroups that ran. Empty for operations that are no product, for edited shaders, which
/// may divide it otherwise, and where the workgroups that noted their time are not one for every tile.
std::optional<GroupTiles> tilesOf(const StepTrace& trace, const TracedOperation& operation);

} // namespace lockstep::demos
