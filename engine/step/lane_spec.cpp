#include "engine/step/lane_spec.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

#include "engine/net/names.h"

namespace lockstep {

namespace {

std::vector<std::string_view> lanesWith(bool RungRow::*use) {
    std::vector<std::string_view> lanes;
    for (const RungRow& row : rungTable)
        if (row.*use) lanes.push_back(row.lane);
    return lanes;
}

} // namespace

Rung rungFromName(std::string_view name, bool gpu) {
    std::vector<std::string_view> known;
    for (const RungRow& row : rungTable) {
        if (row.gpu() != gpu) continue;
        if (row.name() == name) return row.rung;
        if (row.trains) known.push_back(row.name());
    }
    throwUnknownName(gpu ? "GPU rung" : "CPU rung", name, known);
}

std::string LaneSpec::text() const { return std::string(row().lane) + (device.empty() ? "" : "@" + device); }

LaneSpec laneSpecFromText(std::string_view text, std::span<const std::string_view> known) {
    const std::size_t at = text.find('@');
    std::string lane(text.substr(0, at));
    if (lane == "cpu" || lane == "gpu") lane += ":best";
    if (std::ranges::find(known, lane) == known.end()) throwUnknownName("lane", lane, known);

    const RungRow& row = *std::ranges::find(rungTable, lane, &RungRow::lane);
    LaneSpec spec{row.gpu(), row.rung, {}};
    if (at == std::string_view::npos) return spec;
    spec.device = text.substr(at + 1);
    if (!spec.gpu)
        throw std::invalid_argument("lane '" + std::string(text) +
                                    "' names a device, but a CPU lane has none to choose (write '" + lane +
                                    "')");
    if (spec.device.empty())
        throw std::invalid_argument("lane '" + std::string(text) + "' names no device after '@' (write '" +
                                    lane + "' or '" + lane + "@0')");
    return spec;
}

std::span<const std::string_view> knownLanes() {
    static const std::vector<std::string_view> lanes = lanesWith(&RungRow::trains);
    return lanes;
}

std::span<const std::string_view> knownPopulationLanes() {
    static const std::vector<std::string_view> lanes = lanesWith(&RungRow::populations);
    return lanes;
}

void requireFormat(const PrecisionSettings& precision, const LaneSpec& spec) {
    const auto rounds = [](const RungRow& row) {
        return row.trains && !row.half && row.rung != Rung::wholeStep;
    };
    const RungRow& own = spec.row();
    if (precision.wide() && own.rung != Rung::scalar)
        throw std::invalid_argument(concat("'", own.lane, "' does not compute in fp64; --format fp64 is for ",
                                           rowOf(Rung::scalar).lane));
    if (!precision.rounds() || rounds(own)) return;
    std::string right;
    for (const RungRow& row : rungTable)
        if (row.gpu() == own.gpu() && rounds(row)) right += concat(right.empty() ? "" : ", ", row.lane);
    throw std::invalid_argument(concat("'", own.lane, "' ",
                                       own.rung == Rung::bf16 ? "always computes in bf16"
                                       : own.half             ? "always computes in fp16"
                                                              : "stores nothing that could be rounded",
                                       "; --format ", name(precision.format), " is for ", right));
}

std::string_view handicap(const LaneSpec& spec) {
    const RungRow& row = spec.row();
    if (row.half) return "half precision";
    if (spec.gpu) return {};
    if (row.allCores) return row.vectors ? "" : "no SIMD";
    return row.vectors ? "one thread" : "one thread, no SIMD";
}

} // namespace lockstep
