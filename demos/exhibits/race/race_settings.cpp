#include "demos/exhibits/race/race_settings.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "demos/kit/futures.h"
#include "demos/options/parse.h"
#include "engine/files/json_field.h"
#include "engine/gpu/device.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

Json finishJson(const FinishLine& finish) {
    Json json = Json::object();
    if (finish.epochs > 0) json["epochs"] = finish.epochs;
    if (finish.steps > 0) json["steps"] = finish.steps;
    if (finish.seconds > 0) json["seconds"] = finish.seconds;
    if (finish.accuracy > 0) json["accuracy"] = finish.accuracy;
    if (finish.loss > 0) json["loss"] = finish.loss;
    return json.empty() ? Json() : json;
}

FinishLine finishFrom(const Json& value) {
    FinishLine finish;
    if (value.is_null()) return finish;
    const Json json = jsonCompleted(
        {{"epochs", 0u}, {"steps", 0u}, {"seconds", 0.0}, {"accuracy", 0.0}, {"loss", 0.0}}, value, "finish");
    finish.epochs = jsonValue<std::uint64_t>(json, "epochs");
    finish.steps = jsonValue<std::uint64_t>(json, "steps");
    finish.seconds = jsonValue<double>(json, "seconds");
    finish.accuracy = jsonValue<double>(json, "accuracy");
    finish.loss = jsonValue<double>(json, "loss");
    if (finish.seconds < 0 || finish.loss < 0 || finish.accuracy < 0 || finish.accuracy > 1)
        throw std::invalid_argument(
            "field 'finish': seconds and loss must be above 0, the accuracy from 0 to 1");
    return finish;
}

double numberFrom(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
        throw std::invalid_argument("a finish line needs a number above 0, not '" + text + "'");
    return value;
}

std::uint64_t countFrom(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0)
        throw std::invalid_argument("a finish line needs a whole number of at least 1, not '" + text + "'");
    return value;
}

} // namespace

Json toJson(const RaceSettings& settings) {
    Json json = toJson(settings.run);
    json["finish"] = finishJson(settings.run.finish);
    json["together"] = settings.together;
    return json;
}

RaceSettings raceSettingsFromJson(const Json& json) {
    constexpr std::string_view own[] = {"finish", "together"};
    RaceSettings settings;
    settings.run = runFromJson(json, settings.run, "race", own);
    if (json.contains("finish")) settings.run.finish = finishFrom(json["finish"]);
    settings.together = jsonValueOr(json, "together", false);
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
    const std::string layers = !widths           ? "layers to suit the data"
                               : widths->empty() ? "no hidden layer"
                                                 : fmt::format("{}", fmt::join(*widths, "-"));
    const bool automatic = finishKind(run.finish) == FinishKind::usual;
    return fmt::format("{}  ·  {} {}  ·  {} {:g}  ·  batch {}  ·  seed {}  ·  {}  ·  {}", run.data, layers,
                       name(run.activation), name(optimizer.kind), optimizer.effectiveLearningRate(),
                       run.settings.batch, run.settings.seed,
                       automatic ? "automatic finish" : "until " + run.finish.text(),
                       settings.together ? "head to head" : "time trial");
}

std::span<const std::string> finishKindNames() {
    static const std::vector<std::string> names = {"automatic", "epochs",   "steps",
                                                   "seconds",   "accuracy", "loss"};
    return names;
}

FinishKind finishKind(const FinishLine& line) {
    if (line.accuracy > 0) return FinishKind::accuracy;
    if (line.loss > 0) return FinishKind::loss;
    if (line.epochs > 0) return FinishKind::epochs;
    if (line.steps > 0) return FinishKind::steps;
    return line.seconds > 0 ? FinishKind::seconds : FinishKind::usual;
}

const char* finishUnit(FinishKind kind) {
    switch (kind) {
    case FinishKind::epochs: return "Epochs";
    case FinishKind::steps: return "Steps";
    case FinishKind::seconds: return "Seconds";
    case FinishKind::accuracy: return "At least";
    case FinishKind::loss: return "At most";
    case FinishKind::usual: break;
    }
    return "";
}

FinishLine usualFinish(FinishKind kind) {
    FinishLine line;
    if (kind == FinishKind::epochs) line.epochs = 1;
    if (kind == FinishKind::steps) line.steps = 1000;
    if (kind == FinishKind::seconds) line.seconds = 5;
    if (kind == FinishKind::accuracy) line.accuracy = 0.8;
    if (kind == FinishKind::loss) line.loss = 0.5;
    return line;
}

FinishLine finishFromText(FinishKind kind, const std::string& text) {
    FinishLine line;
    if (kind == FinishKind::epochs) line.epochs = countFrom(text);
    if (kind == FinishKind::steps) line.steps = countFrom(text);
    if (kind == FinishKind::seconds) line.seconds = numberFrom(text);
    if (kind == FinishKind::accuracy) line.accuracy = shareFromText(text);
    if (kind == FinishKind::loss) line.loss = numberFrom(text);
    if (kind == FinishKind::accuracy && line.accuracy == 0)
        throw std::invalid_argument("an accuracy of 0 is reached before the start; write 0.85 or 85%");
    return line;
}

std::string finishValueText(const FinishLine& line) {
    switch (finishKind(line)) {
    case FinishKind::epochs: return std::to_string(line.epochs);
    case FinishKind::steps: return std::to_string(line.steps);
    case FinishKind::seconds: return fmt::format("{:g}", line.seconds);
    case FinishKind::accuracy: return fmt::format("{:g}%", 100 * line.accuracy);
    case FinishKind::loss: return fmt::format("{:g}", line.loss);
    case FinishKind::usual: break;
    }
    return {};
}

namespace {

bool generated(const std::string& data) {
    return data != "fashion-mnist" && data.find(':') == std::string::npos;
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
    const FinishKind before = finishKind(line);
    form.add("finish", "Finish line", 130, [&](const char* control) {
        auto kind = static_cast<std::size_t>(before);
        if (!ui.combo(control, kind, finishKindNames())) return false;
        line = usualFinish(static_cast<FinishKind>(kind));
        return true;
    });
    if (before != FinishKind::usual)
        form.text("finish at", finishUnit(before), 80, finishValueText(line),
                  [&](const std::string& typed) { line = finishFromText(before, typed); });
    form.add("mode", "Lanes run", 210, [&](const char* control) {
        static const std::vector<std::string> modes = {"time trial", "head to head"};
        std::size_t mode = settings.together ? 1 : 0;
        if (!ui.segments(control, mode, modes)) return false;
        settings.together = mode == 1;
        return true;
    });
}

void drawLanes(Ui& ui, RunForm& form, RaceSettings& settings, const std::vector<std::string>& names) {
    std::vector<LaneSpec> lanes = plannedLanes(settings);
    bool changed = false;
    std::optional<std::size_t> removed;
    for (std::size_t i = 0; i < lanes.size(); ++i)
        form.add(fmt::format("lane {}", i + 1), fmt::format("Lane {}", i + 1).c_str(), 156,
                 [&](const char* control) {
                     std::string lane = lanes[i].text();
                     ImGui::SetNextItemWidth(ui.px(lanes.size() > 1 ? 118 : 156));
                     if (chooseText(ui, control, lane, names)) {
                         lanes[i] = laneSpecFromText(lane);
                         changed = true;
                     }
                     if (lanes.size() == 1) return false;
                     ImGui::SameLine(0, ui.px(3));
                     if (ui.namedButton(fmt::format("×##remove lane {}", i + 1).c_str(),
                                        fmt::format("Remove lane {}", i + 1).c_str()))
                         removed = i;
                     return false;
                 });
    if (lanes.size() < mostLanes)
        form.field("Add lane", "", 100, [&](const char* control) {
            if (!ui.button(control)) return;
            lanes.push_back(laneSpecFromText("cpu:scalar"));
            changed = true;
        });
    if (removed) lanes.erase(lanes.begin() + static_cast<std::ptrdiff_t>(*removed));
    if (changed || removed) settings.run.lanes = lanes;
}

} // namespace

void RaceSetup::draw(Ui& ui, RaceSettings& settings) {
    findDevices(ui.scripted);
    RunOptions& run = settings.run;
    RunForm form(ui, "race ", ImGui::GetStyle().WindowPadding.x);
    form.data(run.data);
    if (generated(run.data)) {
        form.samples(run.dataOptions.samples);
        form.noise(run.dataOptions.noise);
    }
    form.hidden(run.hiddenWidths, run.data);
    form.activation(run.activation);
    form.optimizer(run.settings.optimizer);
    form.rate(run.settings.optimizer);
    form.batch(run.settings.batch);
    form.seed(run.settings.seed);
    drawFinish(ui, form, settings);
    form.newRow();
    drawLanes(ui, form, settings, lanes_);
    form.end();
}

// Asking the drivers takes a while.
void RaceSetup::findDevices(bool wait) {
    if (lanes_.empty()) {
        lanes_ = rungNames();
        devices_ = std::async(std::launch::async, findLanes);
    }
    if (devices_.valid() && (wait || ready(devices_))) lanes_ = devices_.get();
}

} // namespace lockstep::demos
