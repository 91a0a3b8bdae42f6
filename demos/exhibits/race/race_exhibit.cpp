#include "demos/exhibits/race/race_exhibit.h"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/race/race_words.h"
#include "demos/report/race_report.h"
#include "demos/words/text.h"
#include "engine/net/names.h"

namespace lockstep::demos {

namespace {

enum View : std::size_t { curvesView, timesView, answersView, resultView };

const std::vector<std::string> viewNames = {"Curves", "Time", "Answers", "Result"};
constexpr std::string_view viewWords[] = {"curves", "time", "answers", "result"};
constexpr double secondsBetweenProbes = 1;
constexpr double scriptedProbes = 1.0 / 6; // ten frames

constexpr const char* whatARaceIs = "Every lane trains the same network, from the same initial weights, on "
                                    "the same batches in the same order. "
                                    "Only the machine differs, or the kernels that run on it.";
constexpr const char* honestRules[] = {
    ("A time trial runs one lane at a time, so the lanes don't compete for the machine. Head to head they "
     "share it: fun to watch, but not a measurement."),
    ("Lanes are compared only if they computed the same losses and reached the finish line. Each is named "
     "with its device and its number of threads."),
    ("The clock runs from the first training step to the last. Uploads, compilation and evaluation are timed "
     "separately."),
};

constexpr const char* madeByFrames =
    "A script drives this race frame by frame; at full speed, rates may be higher.";

} // namespace

void RaceExhibit::drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const {
    // Two lanes, one ahead.
    const float r = size / 2;
    for (const float lane : {-0.45f, 0.45f}) {
        const float y = centre.y + lane * r;
        draw.AddLine({centre.x - r, y}, {centre.x + r, y}, faded(colour, 0.5f), size / 12);
        draw.AddCircleFilled({centre.x + (lane < 0 ? 0.55f : -0.2f) * r, y}, size / 6, colour);
    }
}

void RaceExhibit::update(Ui& ui) {
    model_.noteDrawing(ui.graphics.drawnSeconds());
    model_.update(ui.machines, ui.delta, ui.scripted);
    notice(ui);
    probe(ui);
}

// What has just begun or ended.
void RaceExhibit::notice(Ui& ui) {
    const RaceRun* run = model_.shown();
    if (const std::uint64_t number = run == nullptr ? 0 : run->number; number != noticed_) {
        noticed_ = number;
        wasOver_ = false;
        if (run == nullptr) return;
        setupOpen_ = viewChosen_ = false;
        nextProbe_ = 0;
        if (view_ == resultView) view_ = curvesView;
        if (!run->remark.empty()) ui.say(Severity::warning, run->remark);
    }
    if (run == nullptr || run->over == wasOver_) return;
    wasOver_ = run->over;
    for (const LaneResult& lane : run->lanes)
        if (lane.end.status == LaneStatus::failed)
            ui.say(Severity::error, lane.spec.text() + ": " + lane.end.message);
    if (!viewChosen_) view_ = resultView;
    nextProbe_ = 0; // what the lanes have to say in the end
}

// Only what is shown is asked for: an answer costs a lane a pause.
void RaceExhibit::probe(Ui& ui) {
    const RaceRun* run = model_.shown();
    if (run == nullptr || ui.now < nextProbe_) return;
    if (view_ != answersView && view_ != timesView) return;
    if (run->over && nextProbe_ > 0) return;
    ProbeWish wish;
    if (view_ == answersView) wish = answers_.wish(*run);
    wish.operations = view_ == timesView;
    const bool all = model_.probe(wish, ui.scripted);
    // Of a race that is over, nothing is asked twice.
    nextProbe_ = run->over && !all ? 0 : ui.now + (ui.scripted ? scriptedProbes : secondsBetweenProbes);
}

void RaceExhibit::draw(Ui& ui) {
    drawHeadline(ui);
    drawSetup(ui);
    const RaceRun* run = model_.shown();
    std::vector<LaneSpec> lanes = plannedLanes(model_.settings);
    if (run != nullptr) {
        lanes.clear();
        for (const LaneResult& lane : run->lanes) lanes.push_back(lane.spec);
    }
    drawLanes(ui, run, lanes);
    drawViews(ui);
}

void RaceExhibit::drawHeadline(Ui& ui) {
    const RaceRun* run = model_.shown();
    std::string text = matchText(plannedLanes(model_.settings));
    if (run != nullptr)
        text = run->over ? ui.timing(run->headline.text) : liveText(*run);
    else if (model_.loading())
        text = "loading " + model_.settings.run.data;
    if (run != nullptr && !run->over && model_.paused()) text = "paused: " + text;
    ImGui::PushFont(ui.fonts.title);
    ui.paragraph(text);
    ImGui::PopFont();
    if (run != nullptr && run->byFrames && !ui.presenter) ui.muted(madeByFrames);
}

void RaceExhibit::drawSetup(Ui& ui) {
    const RaceRun* run = model_.shown();
    if (ui.presenter && run != nullptr && !setupOpen_ && !model_.changed())
        return; // room for the race itself
    const bool open = ui.toggle("Settings", setupOpen_);
    if (open) setupOpen_ = !setupOpen_;
    ImGui::SameLine();
    ImGui::AlignTextToFramePadding();
    if (run != nullptr && model_.changed()) {
        if (ui.primaryButton("Start with these settings")) this->run(ui);
    } else {
        const std::string text = setupText(model_.settings);
        ui.muted(fittedText(text, ImGui::GetContentRegionAvail().x));
        if (ImGui::IsItemHovered() && run != nullptr)
            ui.detail(
                {.title = "This race", .formula = {}, .values = {}, .text = jobText(run->job, run->finish)});
    }
    if (!setupOpen_) return;
    const ImVec2 pad = ImGui::GetStyle().WindowPadding;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.ChannelsSplit(2);
    draw.ChannelsSetCurrent(1);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = ImGui::GetContentRegionAvail().x;
    ImGui::SetCursorScreenPos({start.x + pad.x, start.y + pad.y});
    ImGui::BeginGroup();
    setup_.draw(ui, model_.settings);
    ImGui::EndGroup();
    const float bottom = ImGui::GetItemRectMax().y + pad.y;
    draw.ChannelsSetCurrent(0);
    draw.AddRectFilled(start, {start.x + width, bottom}, ui.theme.panel, ui.px(8));
    draw.ChannelsMerge();
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({width, bottom - start.y});
}

void RaceExhibit::drawViews(Ui& ui) {
    const RaceRun* run = model_.shown();
    if (run == nullptr && model_.earlier() == nullptr && setupOpen_) {
        ui.muted("Press Run or the space bar to start the race. Its curves and timings appear here.");
        return;
    }
    if (ui.segments("##race view", view_, viewNames)) {
        viewChosen_ = true;
        nextProbe_ = 0;
    }
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const ImVec2 size{room.x, std::max(room.y, ui.px(ui.presenter ? 150 : 240))};
    if (view_ == curvesView) curves_.draw(ui, run, model_.earlier(), size);
    if (view_ == timesView) times_.draw(ui, run);
    if (view_ == answersView) {
        answers_.draw(ui, run, size);
        if (answers_.takeAsked()) nextProbe_ = 0;
    }
    if (view_ == resultView) drawResult(ui, run);
}

void RaceExhibit::drawDetails(Ui& ui) {
    ui.heading("A race");
    ui.paragraph(whatARaceIs, ui.theme.muted);
    ImGui::Dummy({0, ui.px(4)});
    ui.heading("What makes it honest");
    for (const char* rule : honestRules) ui.paragraph(rule, ui.theme.muted);
    if (const RaceRun* run = model_.shown()) {
        ImGui::Dummy({0, ui.px(4)});
        ui.heading("This race");
        ui.paragraph(jobText(run->job, run->finish), ui.theme.muted);
    }
}

std::uint64_t RaceExhibit::trainedExamples() const {
    std::uint64_t examples = 0;
    const RaceRun* run = model_.shown();
    if (run == nullptr || !run->race) return examples;
    for (std::size_t i = 0; i < run->race->size(); ++i) examples += run->race->lane(i).snapshot().examples;
    return examples;
}

void RaceExhibit::run(Ui&) { model_.start(); }

void RaceExhibit::step(Ui&, StepUnit unit) {
    if (unit == StepUnit::epoch)
        model_.stepEpoch();
    else
        model_.step(1);
}

void RaceExhibit::reset(Ui&) { model_.reset(); }

void RaceExhibit::reroll(Ui&) {
    ++model_.settings.run.settings.seed;
    model_.reset();
}

nlohmann::ordered_json RaceExhibit::state() const {
    nlohmann::ordered_json json = toJson(model_.settings);
    json["view"] = viewWords[view_];
    json["curves"] = curves_.state();
    return json;
}

std::function<void()> RaceExhibit::readState(const nlohmann::ordered_json& state) {
    if (!state.is_object()) throw std::invalid_argument("the state of 'race' must be an object");
    nlohmann::ordered_json settings = state;
    settings.erase("view");
    settings.erase("curves");
    const RaceSettings read = raceSettingsFromJson(settings);
    std::size_t view = curvesView;
    if (state.contains("view")) {
        const auto word = state["view"].is_string() ? state["view"].get<std::string>() : std::string();
        const auto found = std::ranges::find(viewWords, word);
        if (found == std::end(viewWords)) throwUnknownName("field 'view':", word, viewWords);
        view = static_cast<std::size_t>(found - std::begin(viewWords));
    }
    RaceCurves curves = curves_;
    curves.setState(state.value("curves", nlohmann::ordered_json::object()));
    return [this, read, view, curves] {
        curves_ = curves;
        model_.settings = read;
        view_ = view;
        model_.reset();
    };
}

bool RaceExhibit::dropFile(Ui& ui, const std::filesystem::path& file) {
    if (file.extension() != ".csv") return false;
    takeDroppedFile(model_.settings.run, file);
    ui.say(Severity::info, fmt::format("The next race trains on {}", file.filename().string()),
           "Press Run to start it.");
    return true;
}

std::string RaceExhibit::releaseDevice() {
    const bool cutShort = model_.release();
    // What was being looked at stays, and the lanes show what became of them.
    if (cutShort) viewChosen_ = wasOver_ = true;
    answers_.release();
    if (!cutShort) return {};
    return fmt::format(
        "The race is over: {}. Its curves and results stay. Press Run to start another race beside them.",
        whereItEnded(*model_.shown()));
}

std::unique_ptr<Exhibit> makeRace() { return std::make_unique<RaceExhibit>(); }

} // namespace lockstep::demos
