#include "demos/exhibits/ladder/ladder_exhibit.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/json_field.h"
#include "engine/net/names.h"

namespace lockstep::demos {

void LadderExhibit::drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const {
    // Two rails and three rungs.
    const float r = size / 2;
    const float thickness = size / 10;
    for (const float x : {-0.5f, 0.5f})
        draw.AddLine({centre.x + x * r, centre.y - r}, {centre.x + x * r, centre.y + r}, colour, thickness);
    for (const float y : {-0.55f, 0.0f, 0.55f})
        draw.AddLine({centre.x - 0.5f * r, centre.y + y * r}, {centre.x + 0.5f * r, centre.y + y * r}, colour,
                     thickness);
}

void LadderExhibit::update(Ui& ui) {
    access_.update(ui.delta);
    model_.update(ui.machines, ui.graphics.device(), ui.delta, ui.scripted, ui.masked);
}

void LadderExhibit::step(Ui&, StepUnit unit) {
    if (unit != StepUnit::batch) return;
    model_.pause();
    model_.step();
}

void LadderExhibit::reroll(Ui&) {
    RunOptions settings = model_.settings();
    ++settings.settings.seed;
    model_.change(settings);
}

namespace {

constexpr std::string_view tabWords[] = {"training", "memory", "source", "roofline", "crossover", "rungs"};
constexpr std::string_view sweepWords[] = {"batch", "width"};
constexpr std::string_view productWords[] = {"forward", "inputs", "weights"};

/// Which of the words a field says.
std::size_t wordOf(const nlohmann::ordered_json& state, const char* field,
                   std::span<const std::string_view> words) {
    const std::string word = jsonValueOr(state, field, std::string(words[0]));
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) throwUnknownName(field, word, words);
    return static_cast<std::size_t>(found - words.begin());
}

} // namespace

nlohmann::ordered_json LadderExhibit::state() const {
    nlohmann::ordered_json json = toJson(model_.settings());
    json["rung"] = model_.rung().lane;
    json["tab"] = tabWords[static_cast<std::size_t>(tab_)];
    json["product"] = productWords[static_cast<std::size_t>(access_.product())];
    json["access"] = access_.moment();
    json["all_lines"] = source_.whole();
    json["sweep_by"] = sweepWords[static_cast<std::size_t>(crossover_.by())];
    json["answer_shown"] = answerShown_;
    return json;
}

std::function<void()> LadderExhibit::readState(const nlohmann::ordered_json& state) {
    constexpr std::string_view own[] = {"rung",      "tab",      "product",     "access",
                                        "all_lines", "sweep_by", "answer_shown"};
    const RunOptions settings = runFromJson(state, firstLadderRun(), "ladder", own, drawnLimits);
    const std::vector<RungRow>& rungs = model_.rungs();
    const std::string lane =
        laneSpecFromText(jsonValueOr(state, "rung", std::string("gpu:naive"))).text(); // says what there is
    const auto rung = std::ranges::find(rungs, lane, &RungRow::lane);
    if (rung == rungs.end()) throw std::invalid_argument("field 'rung': '" + lane + "' is not a rung");
    const auto index = static_cast<std::size_t>(rung - rungs.begin());
    const auto tab = static_cast<Tab>(wordOf(state, "tab", tabWords));
    const auto product = static_cast<Product>(wordOf(state, "product", productWords));
    const auto moment = jsonValueOr(state, "access", std::size_t{0});
    const bool whole = jsonValueOr(state, "all_lines", false);
    const auto by = static_cast<SweepBy>(wordOf(state, "sweep_by", sweepWords));
    const bool answer = jsonValueOr(state, "answer_shown", false);
    return [this, settings, index, tab, product, moment, whole, by, answer] {
        model_.change(settings);
        model_.pick(index);
        tab_ = tab;
        access_.set(product, moment);
        source_.setWhole(whole);
        crossover_.setBy(by);
        answerShown_ = answer;
    };
}

bool LadderExhibit::dropFile(Ui&, const std::filesystem::path& file) {
    if (file.extension() != ".csv") return false;
    RunOptions settings = model_.settings();
    takeDroppedFile(settings, file);
    model_.change(settings);
    return true;
}

std::string LadderExhibit::releaseDevice() {
    access_.stop();
    const bool trained = !model_.losses().empty();
    model_.releaseDevice();
    return trained ? "Measurements stay. Training restarts from its first step." : "";
}

std::unique_ptr<Exhibit> makeLadder() { return std::make_unique<LadderExhibit>(); }

} // namespace lockstep::demos
