// Exhibit: the same training on several machines, side by side or in turn.
#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/draw/icons.h"
#include "demos/exhibits/race/race_answers.h"
#include "demos/exhibits/race/race_curves.h"
#include "demos/exhibits/race/race_history_view.h"
#include "demos/exhibits/race/race_lanes.h"
#include "demos/exhibits/race/race_measured.h"
#include "demos/exhibits/race/race_model.h"
#include "demos/exhibits/race/race_pictures.h"
#include "demos/exhibits/race/race_replay.h"
#include "demos/exhibits/race/race_result.h"
#include "demos/exhibits/race/race_times.h"
#include "demos/exhibits/race/race_words.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/pacer.h"
#include "demos/report/race_report.h"
#include "demos/report/tuning_notice.h"
#include "demos/words/table_words.h"
#include "demos/words/text.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

enum View : std::size_t { curvesView, timesView, answersView, resultView, historyView };

const std::vector<std::string> viewNames = {"Curves", "Time", "Answers", "Result", "History"};
constexpr std::string_view viewWords[] = {"curves", "time", "answers", "result", "history"};
constexpr double secondsBetweenProbes = 1;
constexpr double shareOfLooks = 0.02;      // of a lane's time, for its pictures
constexpr double longestUnasked = 60;      // seconds of a replay that starts by itself
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

class RaceExhibit : public Exhibit {
  public:
    std::string_view id() const override { return "race"; }
    const char* title() const override { return "Race"; }
    const char* blurb() const override { return "The same training on CPU and GPU"; }
    const char* words() const override {
        return "Trains one network on several lanes and compares their speed. All compute the same "
               "mathematics.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Two lanes, one ahead.
        const float r = size / 2;
        for (const float lane : {-0.45f, 0.45f}) {
            const float y = centre.y + lane * r;
            draw.AddLine({centre.x - r, y}, {centre.x + r, y}, faded(colour, 0.5f), size / 12);
            draw.AddCircleFilled({centre.x + (lane < 0 ? 0.55f : -0.2f) * r, y}, size / 6, colour);
        }
    }

    void update(Ui& ui) override {
        model_.noteDrawing(ui.graphics.drawnSeconds());
        model_.rough = ui.masked;
        model_.update(ui.machines, ui.delta, ui.scripted);
        notice(ui);
        probe(ui);
        replay_.advance(ui.delta);
    }

    void draw(Ui& ui) override {
        drawHeadline(ui);
        const RaceRun* run = model_.shown();
        if (ui.lessonShown && !lessonShown_) pastShown_ = false; // a lesson speaks of the race to come
        lessonShown_ = ui.lessonShown;
        pictures_.show(ui, run != nullptr ? run->data : dataOfNext(ui));
        if (run == nullptr) return drawStart(ui);
        const std::optional<float> strip = stripHeight(*run);
        drawLanes(ui, *run, replay_, pictures_, strip);
        if (const std::optional<std::size_t> lane = run->tuningLane()) {
            if (tuning_.draw(ui, run->lanes[*lane].spec.text(), run->lanes[*lane].end.tuning))
                model_.skipTuning();
            if (strip) return; // it has no room for both
        }
        drawViews(ui, *run);
    }

    void drawDetails(Ui& ui) override {
        if (!ui.lessonShown) {
            ui.heading("A race");
            ui.paragraph(whatARaceIs);
            ImGui::Dummy({0, ui.px(4)});
        }
        if (const RaceRun* run = model_.shown()) {
            ui.heading("This race");
            for (const auto& [name, value] : jobRows(run->job, run->finish)) ui.row(name, value);
            ImGui::Dummy({0, ui.px(4)});
        }
        ui.heading("What makes it fair");
        if (ui.more("more about fair races"))
            for (const char* rule : honestRules) ui.paragraph(rule);
    }

    bool running() const override { return model_.running(); }
    bool timesProcessor() const override { return model_.timesProcessor(); }
    bool moving() const override { return running() || model_.busy() || replay_.playing() || dataComing_; }
    std::uint64_t trainedExamples() const override {
        std::uint64_t examples = 0;
        const RaceRun* run = model_.shown();
        if (run == nullptr || !run->race) return examples;
        for (std::size_t i = 0; i < run->race->size(); ++i)
            examples += run->race->lane(i).snapshot().examples;
        return examples;
    }
    std::vector<LaneSnapshot> lanesShown() const override {
        std::vector<LaneSnapshot> lanes;
        if (const RaceRun* run = model_.shown())
            for (const LaneResult& lane : run->lanes) lanes.push_back(replay_.shown(lane));
        return lanes;
    }
    void run(Ui&) override { model_.start(); }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit != StepUnit::kernel; }
    void step(Ui&, StepUnit unit) override {
        if (unit == StepUnit::epoch)
            model_.stepEpoch();
        else
            model_.step(1);
    }
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui&) override {
        ++model_.settings.run.settings.seed;
        model_.reset();
    }
    void setSpeed(Speed speed) override { model_.setSpeed(speed); }
    EditHistory& edits() override { return edits_; }

    void measured(MeasuredValues& values) const override { addMeasured(values, model_); }
    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(model_.settings);
        json["view"] = viewWords[view_];
        json["curves"] = curves_.state();
        if (history_.keep) json["history"] = historyJson(model_.history());
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        if (!state.is_object()) throw std::invalid_argument("the state of 'race' must be an object");
        nlohmann::ordered_json settings = state;
        settings.erase("view");
        settings.erase("curves");
        settings.erase("history");
        const RaceSettings read = raceSettingsFromJson(settings);
        const std::size_t view = jsonWordOr(state, "view", viewWords);
        RaceCurves curves;
        curves.setState(state.value("curves", nlohmann::ordered_json::object()));
        std::optional<std::vector<PastRun>> history; // a state without one leaves it as it is
        if (state.contains("history")) history = historyFromJson(state["history"]);
        return [this, read, view, curves, history] {
            curves_ = curves;
            model_.settings = read;
            view_ = view;
            pastShown_ = false;
            model_.reset();
            if (!history) return;
            model_.setHistory(*history);
            history_ = RaceHistory();
            history_.keep = true;
        };
    }
    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        if (file.extension() == ".png") {
            const RaceRun* run = model_.shown();
            if (run == nullptr)
                throw std::invalid_argument(
                    "start a race on images first; its networks then say what the picture shows");
            constexpr std::uint64_t largestPicture = std::uint64_t{16} << 20;
            answers_.takePicture(*run, decodePng(readFileBytes(file, largestPicture), file.string()));
            view_ = answersView;
            nextProbe_ = 0;
            return true;
        }
        if (!isTableFile(file)) return false;
        const std::string filled = takeDroppedFile(model_.settings.run, file);
        ui.say(filled.empty() ? Severity::info : Severity::warning,
               translatedFormat("The next race trains on {}.{}{}", file.filename().string(),
                                filled.empty() ? "" : " ", filled),
               "Press Run to start it.");
        return true;
    }
    std::string releaseDevice() override {
        const bool cutShort = model_.release();
        // What was being looked at stays, and the lanes show what became of them.
        if (cutShort) wasOver_ = true;
        answers_.release();
        pictures_.release();
        if (!cutShort) return {};
        return translatedFormat(
            "The race is over: {}. Its curves and results stay. Press Run to start another race beside them.",
            whereItEnded(*model_.shown()));
    }

  private:
    // How the table of the next race is understood, or what is wrong with it; nothing for other data.
    std::vector<std::string> tableWords(Ui& ui) {
        if (!model_.settings.run.data.starts_with("csv:")) return {};
        const std::string key = dataKey(model_.settings.run);
        if (key != tableKey_) {
            tableWords_.clear();
            try {
                const std::shared_ptr<const Dataset> data = model_.dataOfNext(ui.scripted);
                if (!data) return {};
                tableWords_ = understood(*data);
            } catch (const std::exception& error) {
                tableWords_ = {translatedParts(error.what())};
            }
            tableKey_ = key;
        }
        return tableWords_;
    }

    // The data of the race to come, for its pictures. Null while they load, and where something is wrong with
    // them: the start says what.
    std::shared_ptr<const Dataset> dataOfNext(const Ui& ui) {
        const std::string key = dataKey(model_.settings.run);
        dataComing_ = false;
        if (key == wrongData_) return nullptr;
        try {
            std::shared_ptr<const Dataset> data = model_.dataOfNext(ui.scripted);
            dataComing_ = !data;
            wrongData_.clear();
            return data;
        } catch (const std::exception&) {
            wrongData_ = key;
            return nullptr;
        }
    }

    // What has just begun or ended.
    void notice(Ui& ui) {
        const RaceRun* run = model_.shown();
        if (const std::uint64_t number = run == nullptr ? 0 : run->number; number != noticed_) {
            noticed_ = number;
            wasOver_ = false;
            replay_.stop();
            if (run == nullptr) return;
            setupOpen_ = false;
            viewsWanted_ = false;
            history_.pick = {};
            nextProbe_ = 0;
            if (!run->remark.empty()) ui.say(Severity::warning, run->remark);
        }
        if (run == nullptr || run->over == wasOver_) return;
        wasOver_ = run->over;
        for (const LaneResult& lane : run->lanes)
            if (lane.end.status == LaneStatus::failed)
                ui.say(Severity::error, lane.spec.text() + ": " + lane.end.message);
        nextProbe_ = 0; // what the lanes have to say in the end
        // A time trial has shown one lane after the other: now all of them, side by side.
        if (ui.scripted || run->settings.together || !canReplay(*run)) return;
        replay_.start(*run);
        if (replay_.length() > longestUnasked) replay_.stop();
    }

    // Only what is shown is asked for: an answer costs a lane a pause. Where times are compared, lanes fill
    // their pictures where they stop anyway (EpochLooks).
    void probe(Ui& ui) {
        const RaceRun* run = model_.shown();
        if (run == nullptr || ui.now < nextProbe_) return;
        const bool viewed = view_ == answersView || view_ == timesView;
        if (run->over && nextProbe_ > 0) return;
        ProbeWish wish;
        if (view_ == answersView) wish = answers_.wish(*run);
        wish.operations = view_ == timesView;
        wish.pictures = pictureRows(*run->data) > 0 && (run->over || !run->timed);
        if (!viewed && !wish.pictures) return;
        const bool all = model_.probe(wish, ui.scripted);
        double pause = secondsBetweenProbes;
        if (!viewed)
            for (const LaneProbe& probe : run->probes)
                pause = std::max(pause, pauseAfter(probe.seconds, shareOfLooks));
        // A race that is over is not asked twice.
        nextProbe_ = run->over && !all ? 0 : ui.now + (ui.scripted ? scriptedProbes : pause);
    }

    std::string displayText(const Ui& ui) const {
        const RaceRun* run = model_.shown();
        if (run == nullptr) return invitation(plannedLanes(model_.settings));
        if (!run->over) {
            const bool software = ui.graphics.device().report().type == gpu::DeviceType::software;
            const std::string live = liveText(*run, !ui.masked, software);
            return model_.paused() ? translatedFormat("paused: {}", live) : live;
        }
        return ui.timing(verdict(run->lanes, run->headline));
    }

    // The headline with the buttons on its right, what it rests on, and the settings while they are open.
    void drawHeadline(Ui& ui) {
        const RaceRun* run = model_.shown();
        const ImVec2 start = ImGui::GetCursorScreenPos();
        const float room = ImGui::GetContentRegionAvail().x;
        const float tools = toolsWidth();
        const bool beside = tools < 0.6f * room;
        ui.headline(displayText(ui), beside ? room - tools : room);
        const ImVec2 end = ImGui::GetItemRectMax();
        const float spacing = ImGui::GetStyle().ItemSpacing.y;
        const float row = beside ? start.y : end.y + spacing;
        const float left = beside ? start.x + room - tools : start.x;
        if (replay_.playing()) {
            const float from = beside ? end.x + ui.px(16) : left + tools;
            const float to = beside ? left : start.x + room;
            ImGui::SetCursorScreenPos({from, row + ImGui::GetStyle().FramePadding.y});
            ui.muted(replayText(ui, to - from));
        }
        ImGui::SetCursorScreenPos({beside ? left + ImGui::GetStyle().ItemSpacing.x : left, row});
        drawTools(ui);
        ImGui::SetCursorScreenPos({start.x, std::max(end.y, row + ImGui::GetFrameHeight()) + spacing});
        if (run == nullptr && !setupOpen_)
            ui.muted(fittedText(setupText(model_.settings), ImGui::GetContentRegionAvail().x));
        else if (run != nullptr && run->over)
            drawEvidence(ui, *run);
        if (setupOpen_) drawSetup(ui);
    }

    static void drawEvidence(Ui& ui, const RaceRun& run) {
        const std::string because = ui.masked ? "" : becauseText(run); // which one it is differs, too
        const float room = ImGui::GetContentRegionAvail().x;
        if (!because.empty()) ui.paragraph(ui.presenter ? fittedText(because, room) : because);
        if (const std::string skipped = skippedText(run); !skipped.empty())
            ui.paragraph(skipped, ui.theme.warning);
        // A comparison's numbers are under Result; why there is none belongs here.
        if (!run.headline.valid && !ui.presenter)
            ui.paragraph(ui.timing(shownReason(run.headline)), ui.theme.muted);
        const std::string busy = ui.masked ? "" : busyText(run.load);
        if (busy.empty()) return;
        const std::string warning = translatedFormat("Warning: {}.", busy);
        ui.paragraph(ui.presenter ? fittedText(warning, room) : warning, ui.theme.warning);
    }

    // The first screen: who runs, as large as possible, and the button that starts it.
    void drawStart(Ui& ui) {
        const std::vector<LaneSpec> lanes = plannedLanes(model_.settings);
        const ImGuiStyle& style = ImGui::GetStyle();
        const ImVec2 padding{ui.px(26), ui.px(12)};
        const float button = ui.fonts.title->FontSize + 2 * padding.y;
        const float below = button + style.ItemSpacing.y;
        pastShown_ = pastShown_ && !model_.history().empty();
        if (pastShown_) {
            const ImVec2 room = ImGui::GetContentRegionAvail();
            history_.draw(ui, model_, 0, {room.x, 0.45f * (room.y - below)});
            curves_.draw(ui, nullptr, pickedRuns(model_.history(), history_.pick, 0), below);
        } else {
            drawStartingLanes(ui, lanes, pictures_, ImGui::GetContentRegionAvail().y - below);
        }
        if (model_.loading()) return ui.muted(translatedFormat("Loading {}…", model_.settings.run.data));
        ImGui::PushFont(ui.fonts.title);
        ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, padding);
        const bool pressed =
            iconButton(ui, "Start the race", "Trains every lane with these settings, from the same weights.",
                       Icon::run, {.primary = true});
        if (!model_.history().empty()) {
            ImGui::SameLine();
            if (ui.toggle("History", "Shows earlier races in place of the lanes.", pastShown_))
                pastShown_ = !pastShown_;
        }
        ImGui::PopStyleVar();
        ImGui::PopFont();
        if (pressed) this->run(ui);
    }

    // With a gap.
    float toolsWidth() const {
        const RaceRun* run = model_.shown();
        std::vector<const char*> labels{"Settings"};
        if (run != nullptr && model_.changed()) labels.push_back("Start with these settings");
        if (gpuLost()) labels.push_back("Why?");
        const ImGuiStyle& style = ImGui::GetStyle();
        float width = 0;
        if (run != nullptr && canReplay(*run))
            width += replayLetters() + 2 * style.FramePadding.x + style.ItemSpacing.x;
        for (const char* label : labels)
            width += textWidth(label) + 2 * style.FramePadding.x + style.ItemSpacing.x;
        return width;
    }

    /// As wide for either word, so that the buttons beside it stay where they are.
    static float replayLetters() { return std::max(textWidth("Stop replay"), textWidth("Replay")); }

    /// The question that most people have then.
    bool gpuLost() const {
        const RaceRun* run = model_.shown();
        return run != nullptr && run->over && run->headline.valid &&
               !run->lanes[run->headline.faster].spec.gpu && run->lanes[run->headline.slower].spec.gpu;
    }

    // The answer from this race, and the way to the lesson below it.
    void drawWhy(Ui& ui, const RaceRun& run) {
        if (ui.button("Why?", "Says why the processor was faster in this race.")) ImGui::OpenPopup("why");
        // To the left: on the right, it would cover the lanes' flags.
        const ImVec2 below{ImGui::GetItemRectMax().x, ImGui::GetItemRectMax().y + ui.px(4)};
        const float width = std::min(ui.px(420), ImGui::GetIO().DisplaySize.x);
        ImGui::SetNextWindowPos({std::max(0.0f, below.x - width), below.y}, ImGuiCond_Always);
        ImGui::SetNextWindowSize({width, 0});
        if (!ImGui::BeginPopup("why")) return;
        const std::string why = whyText(ui, run);
        ui.paragraph(why.empty() ? "The lanes' times do not tell: run more steps, or repeat the race." : why);
        if (ui.button("Open the lesson##why", "Opens the lesson on why a GPU can be slower than a CPU. This "
                                              "race is here again when you close it."))
            ui.linkWish = "why-is-my-gpu-slower.md";
        ImGui::EndPopup();
    }

    void drawTools(Ui& ui) {
        const RaceRun* run = model_.shown();
        if (gpuLost()) {
            drawWhy(ui, *run);
            ImGui::SameLine();
        }
        if (run != nullptr && model_.changed()) {
            if (ui.primaryButton("Start with these settings", "Starts a new race with the settings above."))
                this->run(ui);
            ImGui::SameLine();
        }
        if (run != nullptr && canReplay(*run)) {
            const ImVec2 padding = ImGui::GetStyle().FramePadding;
            const float own = textWidth(replay_.playing() ? "Stop replay" : "Replay");
            ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                                {padding.x + (replayLetters() - own) / 2, padding.y});
            if (replay_.playing()) {
                if (ui.button("Stop replay", "Ends the replay and returns to the finished race."))
                    replay_.stop();
            } else if (ui.button("Replay",
                                 "Plays the race again from its recorded times; nothing is trained.")) {
                replay_.start(*run);
            }
            ImGui::PopStyleVar();
            ImGui::SameLine();
        }
        if (ui.toggle("Settings", settingsWords, setupOpen_)) setupOpen_ = !setupOpen_;
    }

    /// As much as fits into the width: half a number says something else.
    std::string replayText(const Ui& ui, float width) const {
        const std::string clock = ui.timing(duration(replay_.seconds()));
        const std::string stretch = ui.timing(translatedFormat("{:.1f}", replay_.stretch()));
        std::vector<std::string> texts{translatedFormat("Replay: {}", clock)};
        if (replay_.stretch() != 1)
            texts = {
                translatedFormat("Replay, slowed down {} times: all lanes on one clock, {}", stretch, clock),
                translatedFormat("slowed down {} times: {}", stretch, clock), texts[0]};
        for (const std::string& text : texts)
            if (textWidth(text) <= width) return text;
        return fittedText(clock, width);
    }

    void drawSetup(Ui& ui) {
        const ImVec2 pad = ImGui::GetStyle().WindowPadding;
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.ChannelsSplit(2);
        draw.ChannelsSetCurrent(1);
        const ImVec2 start = ImGui::GetCursorScreenPos();
        const float width = ImGui::GetContentRegionAvail().x;
        ImGui::SetCursorScreenPos({start.x + pad.x, start.y + pad.y});
        ImGui::BeginGroup();
        setup_.draw(ui, model_.settings, tableWords(ui));
        ImGui::EndGroup();
        const float bottom = ImGui::GetItemRectMax().y + pad.y;
        draw.ChannelsSetCurrent(0);
        draw.AddRectFilled(start, {start.x + width, bottom}, ui.theme.panel, ui.px(8));
        draw.ChannelsMerge();
        ImGui::SetCursorScreenPos(start);
        ImGui::Dummy({width, bottom - start.y});
    }

    // The height of a small plot, while a race runs and no other view has been chosen: there is little to
    // plot yet, and the lanes are the race.
    std::optional<float> stripHeight(const RaceRun& run) const {
        if (run.over || run.stepped || viewsWanted_ || view_ != curvesView) return {};
        return ImGui::GetFrameHeightWithSpacing() + 7 * ImGui::GetTextLineHeight();
    }

    void drawViews(Ui& ui, const RaceRun& run) {
        const float top = ImGui::GetCursorScreenPos().y;
        drawView(ui, run);
        // A click on the plot asks for a large one. On release, so that a button there gets its click first.
        const ImGuiIO& io = ImGui::GetIO();
        if (ImGui::IsMouseReleased(ImGuiMouseButton_Left) && io.MouseClickedPos[0].y >= top &&
            ImGui::IsWindowHovered(ImGuiHoveredFlags_ChildWindows |
                                   ImGuiHoveredFlags_AllowWhenBlockedByActiveItem))
            viewsWanted_ = true;
    }

    void drawView(Ui& ui, const RaceRun& run) {
        if (ui.segments("##race view",
                        "What the race shows: curves, where the time goes, predictions, the result, or "
                        "earlier races.",
                        view_, viewNames))
            nextProbe_ = 0;
        if (view_ == curvesView)
            return curves_.draw(
                ui, &run, pickedRuns(model_.history(), history_.pick, run.number, run.settings.run.data));
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const ImVec2 size{room.x, std::max(room.y, 6 * ImGui::GetTextLineHeight())};
        if (view_ == timesView) drawTimes(ui, run, timeScale_);
        if (view_ == answersView && answers_.draw(ui, &run, size)) nextProbe_ = 0;
        if (view_ == resultView) drawResult(ui, run);
        if (view_ == historyView) history_.draw(ui, model_, run.number, size);
    }

    RaceModel model_;
    // Edits are about the next race: the one that is shown stays.
    ValueHistory<RaceSettings> edits_{
        [this] { return model_.settings; },
        [this](const RaceSettings& wanted, const RaceSettings&) { model_.settings = wanted; }};
    RaceSetup setup_;
    RaceCurves curves_;
    TuningNotice tuning_;
    std::size_t timeScale_ = 0;
    RaceAnswers answers_;
    RacePictures pictures_;
    std::string wrongData_;    // key of data that could not be had
    bool dataComing_ = false;  // they load
    bool lessonShown_ = false; // in the frame before
    std::string tableKey_;     // of the data that tableWords_ are about
    std::vector<std::string> tableWords_;
    std::size_t view_ = 0; // only a person or a state changes it: the headline says who won
    RaceReplay replay_;
    RaceHistory history_;
    bool pastShown_ = false; // in place of the starting lanes
    bool setupOpen_ = false;
    bool viewsWanted_ = false; // somebody has clicked in the views of this race
    bool wasOver_ = false;
    std::uint64_t noticed_ = 0; // number of the race that the messages are about; 0: none
    double nextProbe_ = 0;
};

} // namespace

std::unique_ptr<Exhibit> makeRace() { return std::make_unique<RaceExhibit>(); }

} // namespace lockstep::demos
