#include "engine/step/lane_spec.h"

#include <algorithm>
#include <stdexcept>

#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr std::string_view lanes[] = {
    "cpu:scalar", "cpu:simd",   "cpu:threads",    "cpu:best",  "gpu:one",      "gpu:naive-strided",
    "gpu:naive",  "gpu:tiled",  "gpu:blocked",    "gpu:texel", "gpu:subgroup", "gpu:fused",
    "gpu:half",   "gpu:matrix", "gpu:whole-step", "gpu:best",
};

} // namespace

std::string LaneSpec::text() const {
    return (gpu ? "gpu:" : "cpu:") + rung + (device.empty() ? "" : "@" + device);
}

LaneSpec laneSpecFromText(std::string_view text) { return laneSpecFromText(text, lanes); }

LaneSpec laneSpecFromText(std::string_view text, std::span<const std::string_view> known) {
    const std::size_t at = text.find('@');
    std::string lane(text.substr(0, at));
    if (lane == "cpu" || lane == "gpu") lane += ":best";
    if (std::ranges::find(known, lane) == known.end()) throwUnknownName("lane", lane, known);

    LaneSpec spec;
    spec.gpu = lane.starts_with("gpu");
    spec.rung = lane.substr(4);
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

std::span<const std::string_view> knownLanes() { return lanes; }

bool halfPrecision(const LaneSpec& spec) {
    return spec.gpu && (spec.rung == "half" || spec.rung == "matrix");
}

std::string_view handicap(const LaneSpec& spec) {
    if (halfPrecision(spec)) return "half precision";
    if (spec.gpu) return {};
    if (spec.rung == "scalar") return "one thread, no SIMD";
    if (spec.rung == "threads") return "no SIMD";
    return spec.rung == "simd" ? "one thread" : "";
}

} // namespace lockstep
