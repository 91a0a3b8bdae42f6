#include "demos/exhibits/race/race_settings.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "demos/kit/futures.h"
#include "demos/kit/machines.h"
#include "demos/options/parse.h"
#include "demos/report/memory_report.h"
#include "demos/report/repeats.h"
#include "demos/words/text.h"
#include "demos/words/typed_number.h"
#include "engine/cpu/cpu_info.h"
#include "engine/files/json_field.h"
#include "engine/gpu/device.h"
#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/plan/rounding.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

/// A way to end a race: by a count, or by a limit.
struct FinishKind {
    const char* name;  ///< in the list, and of the JSON's field
    const char* title; ///< above the number
    FinishLine usual;  ///< to begin with
    std::uint64_t FinishLine::*count;
    double FinishLine::*limit;
};

constexpr FinishKind finishKinds[] = {
    {"epochs", "Epochs", {.epochs = 1}, &FinishLine::epochs, nullptr},
    {"steps", "Steps", {.steps = 1000}, &FinishLine::steps, nullptr},
    {"seconds", "Seconds", {.seconds = 5}, nullptr, &FinishLine::seconds},
    {"accuracy", "At least", {.accuracy = 0.8}, nullptr, &FinishLine::accuracy},
    {"loss", "At most", {.loss = 0.5}, nullptr, &FinishLine::loss},
};

bool ends(const FinishLine& line, const FinishKind& kind) {
    return kind.count != nullptr ? line.*kind.count > 0 : line.*kind.limit > 0;
}

/// The kind that the form shows: of several a target before a length. Null: automatic.
const FinishKind* shownKind(const FinishLine& line) {
    for (const std::size_t i : {3u, 4u, 0u, 1u, 2u})
        if (ends(line, finishKinds[i])) return &finishKinds[i];
    return nullptr;
}

Json finishJson(const FinishLine& line) {
    Json json;
    for (const FinishKind& kind : finishKinds)
        if (ends(line, kind))
            json[kind.name] = kind.count != nullptr ? Json(line.*kind.count) : Json(line.*kind.limit);
    return json;
}

FinishLine finishFrom(const Json& value) {
    FinishLine line;
    if (value.is_null()) return line;
    Json json;
    for (const FinishKind& kind : finishKinds) json[kind.name] = 0u;
    json = jsonCompleted(json, value, "finish");
    for (const FinishKind& kind : finishKinds)
        if (kind.count != nullptr)
            line.*kind.count = jsonValue<std::uint64_t>(json, kind.name);
        else
            line.*kind.limit = jsonValue<double>(json, kind.name);
    if (line.seconds < 0 || line.loss < 0 || line.accuracy < 0 || line.accuracy > 1)
        throw std::invalid_argument(
            "field 'finish': seconds and loss must be above 0, the accuracy from 0 to 1");
    return line;
}

constexpr std::size_t mostThreads = 4096; // of a ThreadTeam
constexpr std::size_t mostWorkgroups = std::numeric_limits<std::uint32_t>::max();

/// 0 where the field is missing: no limit.
std::size_t limitFrom(const Json& json, const char* field, std::size_t most) {
    const std::size_t limit = jsonValueOr(json, field, std::size_t{0});
    if (limit > most)
        throw std::invalid_argument(fmt::format("the field '{}' must be from 0 to {}", field, most));
    return limit;
}

std::string savedText(const TrainSettings& settings) {
    std::string text;
    if (settings.precision.rounds()) text += "  ·  " + translatedParts(emulationText(settings.precision));
    if (settings.precision.wide()) text += "  ·  fp64";
    for (const std::string& each : savingTexts(settings.memory)) text += "  ·  " + each;
    return text;
}

std::string throttleText(const MachineShare& share) {
    std::string text;
    if (share.threads > 0) text += "  ·  " + counted(share.threads, "CPU thread");
    if (share.workgroups > 0)
        text += translatedFormat("  ·  at most {} at once", counted(share.workgroups, "workgroup"));
    return text;
}

/// The number of that kind, as it is typed: "10", "85%".
std::string numberText(const FinishLine& line, const FinishKind& kind) {
    if (kind.count != nullptr) return std::to_string(line.*kind.count);
    const bool share = kind.limit == &FinishLine::accuracy;
    return share ? translatedFormat("{:g}%", 100 * line.accuracy)
                 : translatedFormat("{:g}", line.*kind.limit);
}

FinishLine typedFinish(const FinishKind& kind, const std::string& typed) {
    FinishLine line;
    const std::string text = withDecimalPoint(typed);
    const bool share = kind.limit == &FinishLine::accuracy;
    if (kind.count != nullptr) {
        const char* const end = text.data() + text.size();
        if (std::from_chars(text.data(), end, line.*kind.count).ptr != end) line = {};
    } else {
        line.*kind.limit = share ? shareFromText(text) : parseNumber(trimmed(text)).value;
    }
    if (ends(line, kind)) return line;
    if (share) throw std::invalid_argument("an accuracy of 0 is reached before the start; write 0.85 or 85%");
    throw std::invalid_argument(
        kind.count ? translatedFormat("a finish line needs a whole number of at least 1, not '{}'", typed)
                   : translatedFormat("a finish line needs a number above 0, not '{}'", typed));
}

/// Every lane that can run here. Devices beyond the first get their best rung only.
std::vector<std::string> findLanes() {
    std::vector<std::string> names = rungNames();
    try {
        const std::vector<gpu::DeviceReport> devices = gpu::listDevices();
        if (devices.size() > 1)
            for (const gpu::DeviceReport& device : devices)
                if (device.refused.empty()) names.push_back(fmt::format("gpu:best@{}", device.index));
    } catch (const gpu::GpuError&) {
        // Without a device there is nothing to list; starting such a lane says why.
    }
    return names;
}

void drawFinish(Ui& ui, RunForm& form, RaceSettings& settings) {
    FinishLine& line = settings.run.finish;
    const FinishKind* before = shownKind(line);
    form.add("finish", "Finish line", 130, [&](const char* control) {
        std::vector<std::string> names{"automatic"};
        for (const FinishKind& kind : finishKinds) names.emplace_back(kind.name);
        std::size_t chosen = before != nullptr ? static_cast<std::size_t>(before - finishKinds) + 1 : 0;
        if (!ui.combo(control,
                      "What ends the race: a number of steps or epochs, a time, a loss or an accuracy.",
                      chosen, names))
            return false;
        line = chosen > 0 ? finishKinds[chosen - 1].usual : FinishLine{};
        return true;
    });
    if (before != nullptr)
        form.text("finish at", before->title,
                  "The value at which the race ends, in the unit of the finish line.", 80,
                  numberText(line, *before),
                  [&](const std::string& typed) { line = typedFinish(*before, typed); });
    form.add("mode", "Lanes run", 210, [&](const char* control) {
        static const std::vector<std::string> modes = {"time trial", "head to head"};
        std::size_t mode = settings.together ? 1 : 0;
        if (!ui.segments(control,
                         "A time trial runs one lane after another, so they do not compete for the machine. "
                         "Head to head runs all at once.",
                         mode, modes))
            return false;
        settings.together = mode == 1;
        return true;
    });
    form.add("repeat", "Repeat", 110, [&](const char* control) {
        int runs = static_cast<int>(settings.repeat);
        if (!ui.intSlider(control,
                          "Runs of the race, one after the other. The result shows each lane's median and "
                          "the range of all runs.",
                          runs, 1, mostRepeats))
            return false;
        settings.repeat = static_cast<std::size_t>(std::clamp(runs, 1, static_cast<int>(mostRepeats)));
        return true;
    });
}

// Each where a lane feels it.
void drawThrottle(RunForm& form, RaceSettings& settings, std::size_t allThreads) {
    const std::vector<LaneSpec> lanes = plannedLanes(settings);
    if (std::ranges::any_of(lanes, [](const LaneSpec& lane) { return !lane.gpu; }))
        form.threads(settings.run.threads, allThreads);
    if (std::ranges::any_of(lanes, &LaneSpec::gpu)) form.workgroups(settings.run.workgroups);
}

void drawLanes(Ui& ui, RunForm& form, RaceSettings& settings, const std::vector<std::string>& names) {
    const std::vector<LaneSpec> before = plannedLanes(settings);
    std::vector<LaneSpec> lanes = before;
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < lanes.size(); ++i)
        form.add(fmt::format("lane {}", i + 1), translatedFormat("Lane {}", i + 1).c_str(), 156,
                 [&](const char* control) {
                     std::string lane = lanes[i].text();
                     ImGui::SetNextItemWidth(ui.px(lanes.size() > 1 ? 118 : 156));
                     if (chooseText(ui, control, laneWords, lane, names)) lanes[i] = laneSpecFromText(lane);
                     if (lanes.size() == 1) return false;
                     ImGui::SameLine(0, ui.px(3));
                     if (ui.namedButton(fmt::format("×##remove lane {}", i + 1).c_str(),
                                        fmt::format("Remove lane {}", i + 1).c_str(),
                                        "Removes this lane from the next race."))
                         removed = i;
                     return false;
                 });
    if (lanes.size() < mostLanes)
        form.field("Add lane", "", 100, [&](const char* control) {
            if (ui.button(control, "Adds another lane to the next race."))
                lanes.push_back(laneSpecFromText("cpu:scalar"));
        });
    if (removed) lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(*removed));
    if (lanes != before) settings.run.lanes = lanes;
}

} // namespace

bool operator==(const RaceSettings& a, const RaceSettings& b) {
    return a.run == b.run && a.run.finish == b.run.finish && a.together == b.together &&
           a.repeat == b.repeat && a.run.threads == b.run.threads && a.run.workgroups == b.run.workgroups;
}

Json toJson(const RaceSettings& settings) {
    Json json = toJson(settings.run);
    json["finish"] = finishJson(settings.run.finish);
    json["together"] = settings.together;
    json["repeat"] = settings.repeat;
    json["threads"] = settings.run.threads;
    json["gpu_workgroups"] = settings.run.workgroups;
    return json;
}

RaceSettings raceSettingsFromJson(const Json& json) {
    constexpr std::string_view own[] = {"finish", "together", "repeat", "threads", "gpu_workgroups"};
    RaceSettings settings;
    settings.run = runFromJson(json, settings.run, "race", own);
    if (json.contains("finish")) settings.run.finish = finishFrom(json["finish"]);
    settings.together = jsonValueOr(json, "together", false);
    settings.repeat = jsonValueOr(json, "repeat", settings.repeat);
    if (settings.repeat < 1 || settings.repeat > mostRepeats)
        throw std::invalid_argument(fmt::format("the field 'repeat' must be from 1 to {}", mostRepeats));
    settings.run.threads = limitFrom(json, "threads", mostThreads);
    settings.run.workgroups = limitFrom(json, "gpu_workgroups", mostWorkgroups);
    return settings;
}

std::vector<LaneSpec> plannedLanes(const RaceSettings& settings) {
    if (!settings.run.lanes.empty()) return settings.run.lanes;
    return {laneSpecFromText("cpu:best"), laneSpecFromText("gpu:best")};
}

std::string setupText(const RaceSettings& settings) {
    const RunOptions& run = settings.run;
    const OptimizerSettings& optimizer = run.settings.optimizer;
    const auto widths = run.hiddenWidths ? run.hiddenWidths : suitableLayers(run.data);
    const std::string layers = !widths           ? std::string(translated("automatic layers"))
                               : widths->empty() ? std::string(translated("no hidden layer"))
                                                 : fmt::format("{}", fmt::join(*widths, "-"));
    return translatedFormat("{}  ·  {} {}  ·  {} {:g}  ·  batch {}  ·  seed {}  ·  {}  ·  {}{}", run.data,
                            layers, name(run.activation), name(optimizer.kind),
                            optimizer.effectiveLearningRate(), run.settings.batch, run.settings.seed,
                            run.finish == FinishLine{} ? std::string(translated("automatic finish"))
                                                       : translatedFormat("until {}", finishText(run.finish)),
                            translated(settings.together ? "head to head" : "time trial"),
                            settings.repeat > 1 ? "  ·  " + counted(settings.repeat, "run") : "") +
           savedText(run.settings) + throttleText(run.share());
}

void RaceSetup::draw(Ui& ui, RaceSettings& settings, const std::vector<std::string>& table) {
    // Asking the drivers takes a while.
    if (lanes_.empty()) {
        lanes_ = rungNames();
        devices_ = std::async(std::launch::async, findLanes);
    }
    if (devices_.valid() && (ui.scripted || ready(devices_))) lanes_ = devices_.get();
    RunOptions& run = settings.run;
    RunForm form(ui, "race ", ImGui::GetStyle().WindowPadding.x);
    form.data(run.data);
    if (run.data != "fashion-mnist" && run.data.find(':') == std::string::npos) { // generated
        form.samples(run.dataOptions.samples);
        form.noise(run.dataOptions.noise);
    }
    form.table(run.dataOptions.table, run.data, table);
    form.hidden(run.hiddenWidths, run.data);
    form.activation(run.activation);
    form.optimizer(run.settings.optimizer);
    form.rate(run.settings.optimizer);
    form.batch(run.settings.batch);
    form.format(run.settings.precision.format);
    form.parameters(run.settings.precision);
    form.seed(run.settings.seed);
    drawFinish(ui, form, settings);
    const std::size_t threads = ui.machines.threads();
    drawThrottle(form, settings, threads > 0 ? threads : usablePhysicalCores().physical);
    const auto widths = run.hiddenWidths ? run.hiddenWidths : suitableLayers(run.data);
    if (widths)
        form.memory(run.settings, widths->size());
    else
        form.memory(run.settings);
    form.newRow();
    drawLanes(ui, form, settings, lanes_);
    form.end();
}

} // namespace lockstep::demos
