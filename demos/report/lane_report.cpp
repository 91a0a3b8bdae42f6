#include "demos/report/lane_report.h"

#include <exception>
#include <new>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t widest = 110;

/// Columns are too narrow for a limit of workgroups; a race, which may have one, says it below its table.
MachineInfo inTable(MachineInfo machine) {
    machine.workgroups = 0;
    return machine;
}

std::string laneTableWith(const std::vector<LaneReport>& lanes, std::vector<TableRow> rows,
                          std::size_t deviceWidth) {
    rows.front().insert(rows.front().begin(), {"lane", "device"});
    for (std::size_t i = 0; i < lanes.size(); ++i) {
        const MachineInfo& machine = lanes[i].machine;
        const std::string device = machine.device.empty() ? "-" : honestDevice(inTable(machine), deviceWidth);
        rows[i + 1].insert(rows[i + 1].begin(), {lanes[i].spec.text(), device});
    }
    return table(rows, 2);
}

} // namespace

Json laneJson(const LaneReport& lane) {
    const auto textOrNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    return {{"lane", lane.spec.text()},
            {"device", textOrNull(lane.machine.device)},
            {"software", lane.machine.software},
            {"threads", lane.machine.threads},
            {"gpu", lane.machine.gpu},
            {"driver", textOrNull(lane.machine.driver)},
            {"kernels", textOrNull(lane.machine.kernels)},
            {"status", name(lane.end.status)},
            {"message", textOrNull(lane.end.message)}};
}

std::string whatRan(const LaneReport& lane, std::size_t laneWidth, const char* leftOut,
                    std::uint64_t skippedSteps) {
    const MachineInfo& machine = lane.machine;
    std::string text = fmt::format("{:<{}}  ", lane.spec.text(), laneWidth);
    if (machine.device.empty()) return text + "did not start\n";
    text += machine.device;
    if (machine.software) text += ", software, not a GPU";
    const std::string part = shareText(machine);
    if (!machine.gpu) text += ", " + part;
    if (!machine.driver.empty()) text += ", driver " + machine.driver;
    const std::string nextLine = "\n" + std::string(laneWidth + 2, ' ');
    text += nextLine + machine.kernels;
    if (machine.gpu && !part.empty()) text += nextLine + "throttled: " + part;
    if (skippedSteps > 0)
        text += fmt::format("{}gradients overflowed in {} steps, which were skipped", nextLine,
                            grouped(skippedSteps));
    if (lane.end.extraSeconds > 0)
        text += fmt::format("{}to the finish line {:.{}f} s; short, so it was timed beyond: {:.2f} s in all",
                            nextLine, lane.end.trainingSeconds, secondsDecimals(lane.end.trainingSeconds),
                            lane.end.timedSeconds());
    return text + fmt::format("{}{}: {:.3f} s warm-up, {:.3f} s evaluation\n", nextLine, leftOut,
                              lane.end.warmUpSeconds, lane.end.evaluationSeconds);
}

std::string howItEnded(const LaneReport& lane, const std::string& where) {
    if (lane.end.status == LaneStatus::finished) return {};
    const std::string reason = lane.end.message.empty() ? "" : ": " + lane.end.message;
    return wrapped(fmt::format("{} {} {}{}", lane.spec.text(), name(lane.end.status), where, reason)) + "\n";
}

void runOrFail(LaneReport& lane, const char* smaller, const std::function<void()>& work) {
    try {
        work();
    } catch (const std::bad_alloc&) {
        lane.end.status = LaneStatus::failed;
        lane.end.message = fmt::format("out of memory; try {}", smaller);
    } catch (const std::exception& error) {
        lane.end.status = LaneStatus::failed;
        lane.end.message = error.what();
    }
}

int secondsDecimals(double least) {
    int decimals = 3;
    if (!(least > 0)) return decimals;
    for (; least < 0.1 && decimals < 6; least *= 10) ++decimals;
    return decimals;
}

std::string laneTable(const std::vector<LaneReport>& lanes, const std::vector<TableRow>& figures) {
    std::string text = laneTableWith(lanes, figures, widest);
    const std::size_t width = text.find('\n');
    if (width <= widest) return text;
    std::size_t longest = 0;
    for (const LaneReport& lane : lanes)
        longest = std::max(longest, honestDevice(inTable(lane.machine)).size());
    return laneTableWith(lanes, figures, longest - std::min(width - widest, longest));
}

Json headlineJson(const Headline& headline, const LaneSpec& faster, const LaneSpec& slower,
                  const char* measuredBy) {
    const auto ifValid = [&headline](const Json& value) { return headline.valid ? value : Json(); };
    return {{"text", headline.text},
            {"comparable", headline.valid},
            {"reason", headline.valid ? Json() : Json(reasonOf(headline))},
            {"faster", ifValid(faster.text())},
            {"slower", ifValid(slower.text())},
            {"ratio", ifValid(headline.ratio)},
            {"measured_by", ifValid(measuredBy)}};
}

void sayByRate(Headline& headline, const LaneReport& faster, const LaneReport& slower, double fast,
               double slow, const RateComparison& how) {
    const EnglishHere english; // files have it, and pages that quote them
    for (const LaneReport* lane : {&faster, &slower}) {
        if (lane->end.trainingSeconds >= how.shortest) continue;
        headline.text = fmt::format("no comparison: {} trained for {} only; {}", lane->spec.text(),
                                    duration(lane->end.trainingSeconds), how.remedy);
        return;
    }
    headline.valid = true;
    headline.text =
        comparison(fullName(faster.spec, faster.machine), fullName(slower.spec, slower.machine),
                   headline.ratio, "trained",
                   fmt::format("{0} {2} against {1} (one after the other, end to end, without warm-up)",
                               shortRate(fast), shortRate(slow), how.unit));
}

} // namespace lockstep::demos
