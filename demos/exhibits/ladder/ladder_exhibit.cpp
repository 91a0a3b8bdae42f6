#include "demos/exhibits/ladder/ladder_exhibit.h"

#include <algorithm>
#include <span>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "demos/options/run_options.h"
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
    LadderSettings settings = model_.settings();
    ++settings.seed;
    change(settings);
    textsStale_ = true;
}

void LadderExhibit::change(const LadderSettings& settings) { model_.change(settings); }

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
    const LadderSettings settings = ladderSettingsFromJson(state);
    const std::vector<RungRow>& rungs = model_.rungs();
    const std::string lane =
        laneSpecFromText(jsonValueOr(state, "rung", std::string("gpu:naive"))).text(); // says what there is
    const auto rung = std::ranges::find(rungs, lane, &RungRow::lane);
    if (rung == rungs.end())
        throw std::invalid_argument("the field 'rung' of 'ladder' names '" + lane + "', which is none");
    const auto index = static_cast<std::size_t>(rung - rungs.begin());
    const auto tab = static_cast<Tab>(wordOf(state, "tab", tabWords));
    const auto product = static_cast<Product>(wordOf(state, "product", productWords));
    const auto moment = jsonValueOr(state, "access", std::size_t{0});
    const bool whole = jsonValueOr(state, "all_lines", false);
    const auto by = static_cast<SweepBy>(wordOf(state, "sweep_by", sweepWords));
    const bool answer = jsonValueOr(state, "answer_shown", false);
    return [this, settings, index, tab, product, moment, whole, by, answer] {
        change(settings);
        model_.pick(index);
        tab_ = tab;
        access_.set(product, moment);
        source_.setWhole(whole);
        crossover_.setBy(by);
        answerShown_ = answer;
        textsStale_ = true;
    };
}

bool LadderExhibit::dropFile(Ui&, const std::filesystem::path& file) {
    if (file.extension() != ".csv") return false;
    LadderSettings settings = model_.settings();
    settings.data = "csv:" + file.string();
    if (readAtOnce(file)) settings.load(); // what is wrong with it is said now, and nothing has changed
    change(settings);
    return true;
}

std::string LadderExhibit::releaseDevice() {
    access_.stop();
    const bool trained = !model_.losses().empty();
    model_.releaseDevice();
    return trained ? "What was measured stays; training starts again from its first step." : "";
}

} // namespace lockstep::demos
