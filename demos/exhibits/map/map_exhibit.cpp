#include "demos/exhibits/map/map_exhibit.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/map/map_words.h"
#include "engine/files/atomic_file.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

void MapExhibit::drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const {
    // A square, and a ragged border across it.
    const float r = size * 0.45f;
    draw.AddRect({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, colour, size / 8, 0, size / 12);
    const ImVec2 border[] = {{-1, 0.1f},     {-0.6f, 0.25f}, {-0.45f, -0.15f}, {-0.1f, 0.05f},
                             {0.05f, -0.5f}, {0.4f, -0.35f}, {0.5f, -0.75f},   {0.75f, -1}};
    ImVec2 points[std::size(border)];
    for (std::size_t i = 0; i < std::size(border); ++i)
        points[i] = {centre.x + border[i].x * r, centre.y + border[i].y * r};
    draw.AddPolyline(points, static_cast<int>(std::size(points)), colour, 0, size / 12);
}

MakeMapTrainer MapExhibit::maker(Ui& ui, const MapJob& job, MapMachine machine) const {
    if (machine == MapMachine::cpu)
        return [job, threads = ui.machines.threads()] { return makeCpuMapTrainer(job, threads); };
    return [job, device = ui.machines.deviceOf(laneOf(machine))] { return makeGpuMapTrainer(*device, job); };
}

// A pane that is not drawn remembers what it was before.
const MapPane* MapExhibit::hoveredPane() const {
    for (const MapPane& pane : panes_)
        if (model_.enabled(pane.machine()) && pane.hovered()) return &pane;
    return nullptr;
}

std::optional<std::uint32_t> MapExhibit::hovered() const {
    const MapPane* pane = hoveredPane();
    return pane != nullptr ? pane->hovered() : std::nullopt;
}

// Without a mouse, what is in the middle: the keyboard moves the map below it.
std::uint32_t MapExhibit::probed() const {
    const MapSize size = model_.size();
    const std::uint32_t middle = size.height / 2 * size.width + size.width / 2;
    const std::uint32_t pixel = hovered().value_or(middle);
    return pixel < size.pixels() ? pixel : middle;
}

void MapExhibit::update(Ui& ui) {
    const MapSize size = model_.size();
    const std::uint32_t pixel = probed();
    probe_.update(model_.settings().job,
                  model_.window().point(pixel % size.width, pixel / size.width, size.width, size.height),
                  ui.scripted);
    if (const auto saved = export_.takeFinished(ui.scripted))
        ui.say(Severity::info, fmt::format("Map of {} pixels saved to {}", mapSizeText(saved->size),
                                           std::filesystem::absolute(saved->file).string()));
    model_.update([&](const MapJob& job, MapMachine machine) { return maker(ui, job, machine); }, ui.delta,
                  ui.scripted);
}

bool MapExhibit::moving() const {
    const auto behind = [this](const MapPane& pane) {
        return model_.enabled(pane.machine()) && pane.behind();
    };
    return model_.painting() || model_.busy() || probe_.busy() || export_.busy() ||
           std::ranges::any_of(panes_, behind);
}

void MapExhibit::step(Ui&, StepUnit unit) {
    if (unit != StepUnit::batch) return;
    model_.pause();
    model_.step();
}

void MapExhibit::reroll(Ui&) {
    MapSettings settings = model_.settings();
    ++settings.job.seed;
    model_.change(settings);
}

void MapExhibit::travel(Ui&, Travel travel) {
    if (travel == Travel::back && model_.history().canGoBack()) model_.goBack();
    if (travel == Travel::forward && model_.history().canGoForward()) model_.goForward();
}

void MapExhibit::look(Ui& ui, const MapWindow& window) {
    const std::string refused = model_.look(window, true);
    if (!refused.empty()) ui.say(Severity::info, refused);
}

// By shares of the picture: the window goes where the arrow points.
void MapExhibit::move(Ui& ui, double columns, double rows) {
    const MapSize size = model_.size();
    const MapOffset offset{-std::llround(columns * size.width), -std::llround(rows * size.height)};
    const std::string refused = model_.pan(offset, true);
    if (!refused.empty()) ui.say(Severity::info, refused);
}

void MapExhibit::startSaving(Ui& ui) {
    const MapSize size = mapSizeFromText(pictureSize_);
    if (pictureFile_.empty()) throw std::invalid_argument("name a file to save the picture to");
    requireWritable(pictureFile_);
    const MapJob& job = model_.settings().job;
    const MapWindow window = fitted(model_.settings().window, size);
    if (!window.resolves(size.width, size.height))
        ui.say(Severity::info, "At this size, some neighbouring pixels round to the same fp32 numbers.");
    export_.start({pictureFile_, job, window, size}, maker(ui, job, model_.fastest()));
}

nlohmann::ordered_json MapExhibit::state() const {
    nlohmann::ordered_json json = toJson(model_.settings());
    json["saved_size"] = pictureSize_;
    json["plot"] = lossPlot_.state();
    return json;
}

std::function<void()> MapExhibit::readState(const nlohmann::ordered_json& state) {
    const MapSettings settings = mapSettingsFromJson(state);
    const std::string size =
        mapSizeText(mapSizeFromText(jsonValueOr(state, "saved_size", std::string("2048x2048"))));
    Plot plot;
    if (const auto found = state.find("plot"); found != state.end()) plot.setState(*found);
    return [this, settings, size, plot] {
        model_.begin(settings);
        pictureSize_ = size;
        lossPlot_ = plot;
    };
}

std::string MapExhibit::releaseDevice() {
    const bool painting = model_.releaseDevice();
    const bool saving = export_.release();
    for (MapPane& pane : panes_) pane.release();
    std::string costs;
    if (painting) costs = "The map continues with its missing pixels.";
    if (saving) costs += std::string(costs.empty() ? "" : " ") + "The picture of the map was not saved.";
    return costs;
}

std::unique_ptr<Exhibit> makeMap() { return std::make_unique<MapExhibit>(); }

} // namespace lockstep::demos
