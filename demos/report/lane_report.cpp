#include "demos/report/lane_report.h"

#include <exception>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/text.h"

namespace lockstep::demos {

nlohmann::ordered_json laneJson(const LaneReport& lane) {
    using Json = nlohmann::ordered_json;
    const auto textOrNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    return {{"lane", lane.spec.text()},
            {"device", textOrNull(lane.machine.device)},
            {"software", lane.machine.software},
            {"threads", lane.machine.threads},
            {"gpu", lane.machine.gpu},
            {"driver", textOrNull(lane.machine.driver)},
            {"kernels", textOrNull(lane.machine.kernels)},
            {"status", name(lane.status)},
            {"message", textOrNull(lane.message)}};
}

std::string howItEnded(const LaneReport& lane, const std::string& where) {
    if (lane.status == LaneStatus::finished) return {};
    const std::string reason = lane.message.empty() ? "" : ": " + lane.message;
    return wrapped(fmt::format("{} {} {}{}", lane.spec.text(), name(lane.status), where, reason)) + "\n";
}

void runOrFail(LaneReport& lane, const char* smaller, const std::function<void()>& work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        lane.status = LaneStatus::failed;
        lane.message = fmt::format("out of memory; try {}", smaller);
    } catch (const std::exception& error) {
        lane.status = LaneStatus::failed;
        lane.message = error.what();
    }
}

} // namespace lockstep::demos
