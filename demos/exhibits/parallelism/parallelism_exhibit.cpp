// Parallelism: small experiments that say why a card is fast, and when it is not.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/parallelism/experiment_cards.h"
#include "demos/exhibits/parallelism/kernel_view.h"
#include "demos/exhibits/parallelism/parallelism_measured.h"
#include "demos/exhibits/parallelism/parallelism_model.h"
#include "demos/exhibits/parallelism/parallelism_state.h"
#include "demos/kit/exhibit.h"
#include "demos/lab/lab_scene.h"
#include "demos/report/other_load.h"
#include "demos/words/glossary.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::string_view measureWords =
    "Does the work on the CPU and on the GPU, and draws how long it took. Takes seconds.";

class ParallelismExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "parallelism"; }
    const char* title() const override { return "Parallelism"; }
    const char* blurb() const override {
        return "Experiments that say why a GPU is fast, and when it is not";
    }
    const char* words() const override {
        return "Small experiments, each measured on this machine's CPU and GPU within seconds.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Four arrows side by side.
        const float r = size / 2;
        const float thickness = size / 12;
        for (const float y : {-0.6f, -0.2f, 0.2f, 0.6f}) {
            const float tip = centre.x + 0.6f * r;
            draw.AddLine({centre.x - 0.6f * r, centre.y + y * r}, {tip, centre.y + y * r}, colour, thickness);
            draw.AddTriangleFilled({tip, centre.y + (y - 0.15f) * r}, {tip, centre.y + (y + 0.15f) * r},
                                   {tip + 0.25f * r, centre.y + y * r}, colour);
        }
    }

    void update(Ui& ui) override {
        // Without animations, pictures stand at a moment that shows something.
        shownSeconds_ = ui.animations ? shownSeconds_ + ui.delta : 2.5 * LabScene::beatSeconds;
        model_.update(ui.machines, ui.masked, ui.scripted);
        for (const Experiment* each : experiments())
            messages_[each].tell(ui, model_.editsOf(*each), parallelismEdits);
    }
    void draw(Ui& ui) override {
        ui.beginCard(cards_ ? "parallelism/cards" : "parallelism/experiment");
        if (!cards_)
            drawExperiment(ui);
        else if (const Experiment* pressed = drawExperimentCards(ui, model_, shownSeconds_))
            show(pressed);
        ui.endCard();
    }
    void drawDetails(Ui& ui) override {
        if (cards_) return ui.paragraph(blurb());
        const LabResult& result = model_.result();
        // Below a lesson, no name stands alone.
        if (!ui.lessonShown || ui.presenter || result.measured())
            ui.heading(std::string(model_.open().title));
        if (ui.presenter) ui.paragraph(model_.open().idea); // which the middle has no room for
        if (result.measured()) {
            ui.paragraph("CPU: " + machineText(result, false), ui.theme.muted);
            ui.paragraph("GPU: " + machineText(result, true) +
                             (model_.edited() != nullptr ? ", edited kernels" : ""),
                         ui.theme.muted);
            ui.paragraph(
                "Solid: CPU. Dashed: GPU. Dotted: a law, or your sketch. A band holds the middle half of the "
                "rounds.",
                ui.theme.muted);
        }
        const std::string said =
            fmt::format("{} {} {}", model_.open().idea, model_.open().question, model_.explanation());
        // As many terms as a panel can say at once.
        const std::size_t most = ui.lessonShown ? 35 : 55;
        for (const Term* term : termsIn(said, 8)) {
            const auto words = static_cast<std::size_t>(std::ranges::count(term->text, ' ')) + 1;
            if (ui.prose + words > most) continue;
            ImGui::Dummy({0, ui.px(2)});
            ui.heading(term->name);
            ui.paragraph(term->text);
        }
    }
    void drawMenu(Ui& ui) override {
        if (ui.menuItem("Measure this experiment", measureWords, nullptr, false,
                        !cards_ && !model_.measuring()))
            model_.measure(ui.machines, ui.masked);
    }

    bool trains() const override { return false; }
    bool running() const override { return model_.measuring(); }
    bool timesProcessor() const override { return model_.measuring(); }
    void run(Ui& ui) override {
        if (!chosen(ui)) return;
        model_.measure(ui.machines, ui.masked);
    }
    void pause() override { model_.stop(); }
    void reset(Ui& ui) override {
        if (!chosen(ui)) return;
        model_.forgetResult();
    }
    void travel(Ui&, Travel travel) override {
        if (cards_ != (travel == Travel::back)) show(travel == Travel::back ? nullptr : &model_.open());
    }
    EditHistory& edits() override { return edits_; }
    bool moving() const override { return running() || cards_ || model_.open().animated || drawsScene(); }

    void measured(MeasuredValues& values) const override { addMeasured(values, model_); }
    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json predictions = nlohmann::ordered_json::object();
        for (const Experiment* each : experiments())
            if (const auto predicted = model_.predictedOf(*each))
                predictions[std::string(each->name)] = each->choices[*predicted];
        nlohmann::ordered_json shaders = nlohmann::ordered_json::object();
        for (const Experiment* each : experiments())
            if (const ShaderTexts& texts = model_.editedTexts(*each); !texts.empty())
                shaders[std::string(each->name)] = toJson(texts);
        nlohmann::ordered_json sketches = nlohmann::ordered_json::object();
        for (const Experiment* each : experiments())
            if (const Sketch& sketch = model_.sketchOf(*each); !sketch.empty())
                sketches[std::string(each->name)] = sketch.json();
        return {{"experiment", cards_ ? "" : model_.open().name},
                {"tab", labTabWords[static_cast<std::size_t>(tab_)]},
                {"editing", source_.editing},
                {"predictions", std::move(predictions)},
                {"sketches", std::move(sketches)},
                {"shaders", std::move(shaders)}};
    }
    nlohmann::ordered_json lastState() const override {
        nlohmann::ordered_json json = state();
        for (const Experiment* each : experiments())
            if (const LabResult& result = model_.resultOf(*each); result.measured())
                json["results"][std::string(each->name)] = labJson(*each, result);
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        return [this, read = parallelismFromJson(state)] { restore(read, false); };
    }
    std::string releaseDevice() override {
        return model_.releaseDevice() ? "The experiment has stopped; Measure begins it again." : "";
    }

  private:
    /// same   it is the same person's as what is here: edited kernels need not be looked at first
    void restore(const ParallelismState& read, bool same) {
        show(read.open);
        tab_ = read.tab;
        source_.editing = read.editing;
        model_.forgetPredictions();
        for (const auto& [experiment, choice] : read.predictions) model_.predict(*experiment, choice);
        for (const auto& [experiment, result] : read.results) model_.setResult(*experiment, result);
        for (const auto& [experiment, sketch] : read.sketches) model_.setSketch(*experiment, sketch);
        for (const Experiment* each : experiments()) {
            const auto found = read.shaders.find(each);
            ShaderTexts texts = found == read.shaders.end() ? ShaderTexts() : found->second;
            if (texts == model_.editedTexts(*each)) continue;
            if (same)
                model_.editsOf(*each).setTexts(std::move(texts));
            else
                model_.editsOf(*each).show(std::move(texts));
        }
        if (!same) source_.showEdited(model_);
    }

    /// What Ctrl+Z takes back: no views.
    std::string edited() const {
        nlohmann::ordered_json json = state();
        json.erase("tab");
        json.erase("editing");
        return json.dump();
    }
    void restoreEdited(const std::string& wanted) {
        ParallelismState read = parallelismFromJson(nlohmann::ordered_json::parse(wanted));
        read.tab = tab_;
        read.editing = source_.editing;
        restore(read, true);
    }

    /// Its page; null: the cards.
    void show(const Experiment* experiment) {
        const bool cards = experiment == nullptr;
        if (cards == cards_ && (cards || experiment == &model_.open())) return;
        cards_ = cards;
        shownSeconds_ = 0;
        if (cards || experiment == &model_.open()) return;
        model_.open(*experiment);
        view_ = {};
        source_.restart();
    }
    /// What runs is an experiment; where none is open, says how to open one.
    bool chosen(Ui& ui) const {
        if (cards_) ui.say(Severity::info, "No experiment is open yet.", "Press a card to open one.");
        return !cards_;
    }
    /// Where nothing is measured, the picture of what the experiment is about; above the axes to sketch on,
    /// or alone.
    bool drawsScene() const {
        return !model_.result().measured() && (model_.open().sketched.empty() || model_.open().introduced);
    }

    void drawExperiment(Ui& ui) {
        const Experiment& experiment = model_.open();
        const LabResult& result = model_.result();
        drawHead(ui, experiment);
        view_.seconds = shownSeconds_;
        view_.sketch = &model_.sketch();
        view_.builtIn = model_.edited() != nullptr ? &model_.edited()->builtIn : nullptr;
        if (tab_ == LabTab::source) {
            view_.all = true;
            return source_.draw(ui, model_, view_);
        }
        if (model_.resultOf(experiment).measured() && !ui.lessonAsks) drawVerdict(ui, experiment);
        if (!ui.masked && !experiment.counts) drawBusy(ui, result);
        drawEdited(ui);
        const std::string words = result.measured() ? ui.timing(model_.explanation()) : std::string();
        const std::string notes = ui.masked ? std::string() : notesOf(result);
        const auto drawWords = [&] {
            if (!words.empty()) ui.paragraph(words);
            if (!notes.empty()) ui.paragraph(notes, ui.theme.muted);
        };
        if (ui.presenter && tab_ == LabTab::explanation) return drawWords();
        // The picture gets what the words below leave; a presenter's picture gets all of it.
        const bool foldable = result.measured() && !ui.presenter;
        const bool undecided = foldable && !ui.lessonAsks && verdictShown(ui).figure.empty();
        const bool told = foldable && (more_ || undecided);
        const auto heightOf = [&](const std::string& text) {
            if (text.empty()) return 0.0f;
            const float width = ImGui::GetContentRegionAvail().x;
            return ImGui::CalcTextSize(text.c_str(), nullptr, false, width).y +
                   ImGui::GetStyle().ItemSpacing.y;
        };
        const float below = (foldable ? ImGui::GetFrameHeightWithSpacing() : 0) +
                            (told ? heightOf(words) + heightOf(notes) : 0);
        // Lessons speak of further lines, and edited kernels may belong to any of them.
        view_.all = more_ || ui.lessonShown || view_.builtIn != nullptr;
        const float picture =
            std::max(ImGui::GetContentRegionAvail().y - below, ui.px(ui.presenter ? 130 : 180));
        ImGui::BeginChild("parallelism/picture", {0, picture}, false, ImGuiWindowFlags_NoScrollbar);
        const bool folded =
            experiment.folds && !ui.presenter && (result.measured() ? !view_.all : experiment.introduced);
        if (experiment.draw != nullptr && !folded)
            experiment.draw(ui, experiment, result, view_);
        else
            drawLabCurves(ui, experiment, result, view_);
        ImGui::EndChild();
        if (!foldable) return;
        more_ = ui.more("more##parallelism");
        if (told) drawWords();
    }

    /// That other programs took the processor meanwhile.
    static void drawBusy(Ui& ui, const LabResult& result) {
        const std::string busy = result.measured() ? busyText(result.load) : std::string();
        if (busy.empty()) return;
        const std::string warning = translatedFormat("Warning: {}.", busy);
        ui.paragraph(ui.presenter ? fittedText(warning, ImGui::GetContentRegionAvail().x) : warning,
                     ui.theme.warning);
    }

    /// "1" before the choices, "2" before Measure: the order in which to go, until that is done.
    static void drawOrder(Ui& ui, const char* number) {
        ImGui::AlignTextToFramePadding();
        ui.text(number, legible(ui.theme, ui.theme.accent), ui.fonts.strong);
        ImGui::SameLine(0, ui.px(8));
    }

    /// The way back and what can be done; until it is measured, the question with its answers.
    void drawHead(Ui& ui, const Experiment& experiment) {
        if (ui.button("All experiments##parallelism", "Back to the cards of all experiments.")) show(nullptr);
        ImGui::SameLine(0, ui.px(12));
        const bool measured = model_.resultOf(experiment).measured(); // which the question is about
        if (ui.presenter) { // the picture needs the room: what is known by now goes
            drawMeasure(ui);
            ImGui::SameLine(0, ui.px(10));
            drawTabs(ui);
            drawProgress(ui);
            if (measured) return;
            ui.paragraph(experiment.idea, ui.theme.muted);
            if (ui.lessonAsks) return;
            ui.paragraph(experiment.question, ui.theme.accent);
            return drawChoices(ui, experiment);
        }
        ImGui::AlignTextToFramePadding();
        ui.heading(experiment.title);
        const bool begun = measured || tab_ == LabTab::source;
        drawTools(ui, experiment.link, begun);
        if (begun) drawProgress(ui);
        if (tab_ == LabTab::source || (measured && !ui.lessonAsks)) return;
        if (!ui.lessonAsks) ui.headline(experiment.question);
        ui.paragraph(experiment.idea, ui.theme.muted);
        if (measured) return;
        if (!ui.lessonAsks) {
            drawChoices(ui, experiment);
            ImGui::SameLine(0, ui.px(24));
            if (ImGui::GetContentRegionAvail().x < textWidth("2") + buttonWidth("Measure") + ui.px(8))
                ImGui::NewLine();
            if (!model_.measuring()) drawOrder(ui, "2");
        }
        drawMeasure(ui);
        if (model_.measuring()) ImGui::SameLine(0, ui.px(10));
        drawProgress(ui);
    }

    /// That the GPU's kernels are not the experiment's own.
    void drawEdited(Ui& ui) {
        const LabTrialOutcome* edited = model_.edited();
        if (edited == nullptr) return;
        std::string files;
        for (const auto& [file, text] : edited->texts) files += (files.empty() ? "" : ", ") + file;
        const std::string timing = edited->report.timing.empty() ? "" : ui.timing(edited->report.timing);
        ui.paragraph(
            translatedFormat("GPU: edited kernels ({}){}{}.", files, timing.empty() ? "" : ": ", timing),
            legible(ui.theme, ui.theme.gpu));
    }

    void drawChoices(Ui& ui, const Experiment& experiment) {
        const auto choices = filled(experiment.choices);
        const std::size_t none = choices.size();
        const std::size_t predicted = model_.predicted().value_or(none);
        const bool frozen = model_.frozen(experiment);
        if (!frozen && !ui.presenter) drawOrder(ui, "1  Predict");
        for (std::size_t i = 0; i < choices.size(); ++i) {
            const std::string label(choices[i]);
            if (i > 0) {
                ImGui::SameLine();
                if (ImGui::GetContentRegionAvail().x < buttonWidth(label)) ImGui::NewLine();
            }
            const std::string name = fmt::format("choice/{}", i + 1);
            const std::string_view words =
                "Predict this before you measure. From Measure on, your prediction "
                "stays; Reset drops the result and asks again.";
            // What was chosen stays as legible as it was.
            const bool pressed = i == predicted ? ui.primaryButton(label.c_str(), words, true, name.c_str())
                                                : ui.namedButton(label.c_str(), name.c_str(), words, !frozen);
            if (pressed && !frozen) model_.predict(experiment, i);
        }
    }

    /// With the built-in kernels. Whether noise hides the answer differs from run to run, too.
    LabVerdict verdictShown(const Ui& ui) const {
        const LabResult& result = model_.resultOf(model_.open());
        return ui.masked && result.measured() ? LabVerdict{"-", "-"} : verdictOf(model_.open(), result);
    }

    /// One number, large, with what it means and what was predicted on the same line; then the question.
    void drawVerdict(Ui& ui, const Experiment& experiment) {
        const LabResult& builtIn = model_.resultOf(experiment);
        const LabVerdict verdict = verdictShown(ui);
        const std::string said = ui.timing(verdictText(experiment, builtIn, model_.predicted()));
        const bool right = !ui.masked && !verdict.figure.empty() && model_.predicted() &&
                           model_.predicted() == experiment.answer(builtIn);
        const ImU32 tint = right ? legible(ui.theme, ui.theme.good) : ui.theme.text;
        if (verdict.figure.empty()) {
            ui.text(said, 0, ui.fonts.title);
        } else {
            const float top = ImGui::GetCursorPosY();
            ImGui::PushFont(ui.fonts.headline);
            const float high = ImGui::GetTextLineHeight();
            ui.text(verdict.figure, legible(ui.theme, ui.theme.accent));
            ImGui::PopFont();
            ImGui::SameLine(0, ui.px(12));
            const float baseline = top + high - 1.2f * ImGui::GetTextLineHeight();
            ImGui::SetCursorPosY(baseline);
            std::string beside = verdict.beside;
            if (builtIn.gpu.software) beside += std::string(translated(" (software, not a GPU)"));
            const float gap = ui.px(24);
            const bool fits =
                lettersWidth(beside) + gap + lettersWidth(said) <= ImGui::GetContentRegionAvail().x;
            ui.paragraph(beside);
            if (fits) {
                ImGui::SameLine(0, gap);
                ImGui::SetCursorPosY(baseline);
                ui.text(said, tint);
            }
            const float bottom = ImGui::GetItemRectMax().y - ImGui::GetWindowPos().y + ImGui::GetScrollY();
            ImGui::SetCursorPosY(std::max(bottom, top + high) + ui.px(4));
            if (!fits) ui.paragraph(said, tint);
        }
        const std::string missed = sketchText(experiment, builtIn, model_.sketch());
        if (!missed.empty()) ui.paragraph(ui.timing(missed));
        ui.paragraph(experiment.question, ui.theme.muted);
    }

    static float buttonWidth(std::string_view label) {
        return textWidth(label) + 2 * ImGui::GetStyle().FramePadding.x;
    }

    void drawMeasure(Ui& ui) {
        constexpr const char* name = "Measure##parallelism";
        if (model_.measuring()) {
            if (ui.button("Stop##parallelism", "Stops measuring; what is measured so far is dropped."))
                model_.stop();
        } else if (model_.result().measured() ? ui.namedButton("Measure again", name, measureWords)
                                              : ui.primaryButton(name, measureWords)) {
            model_.measure(ui.machines, ui.masked);
        }
    }

    void drawProgress(Ui& ui) {
        if (model_.measuring())
            ui.muted(fittedText(translatedFormat("Measuring {}", model_.doing()),
                                ImGui::GetContentRegionAvail().x));
    }

    /// In presenter mode the explanation has a tab; elsewhere it is below the picture.
    void drawTabs(Ui& ui) {
        std::vector<LabTab> tabs{LabTab::measurements, LabTab::source};
        if (ui.presenter) tabs.insert(tabs.begin() + 1, LabTab::explanation);
        std::vector<std::string> names;
        std::size_t chosen = 0;
        for (const LabTab each : tabs) {
            if (each == tab_) chosen = names.size();
            names.emplace_back(labTabNames[static_cast<std::size_t>(each)]);
        }
        if (ui.segments("##parallelism/tab",
                        "What is shown: the measurements, in presenter mode their explanation, or the source "
                        "behind them.",
                        chosen, names))
            tab_ = tabs[chosen];
    }

    /// At the right of the title where there is room, else below it.
    void drawTools(Ui& ui, const LabLink& link, bool measure) {
        const float gap = ui.px(10);
        float width = buttonWidth(link.label) + gap;
        for (const LabTab each : {LabTab::measurements, LabTab::source})
            width += buttonWidth(labTabNames[static_cast<std::size_t>(each)]) + ui.px(4);
        if (measure) width += buttonWidth(model_.measuring() ? "Stop" : "Measure again") + gap;
        ImGui::SameLine(0, ui.px(20));
        if (const float spare = ImGui::GetContentRegionAvail().x - width; spare >= 0)
            ImGui::SetCursorPosX(ImGui::GetCursorPosX() + spare);
        else
            ImGui::NewLine();
        if (measure) {
            drawMeasure(ui);
            ImGui::SameLine(0, gap);
        }
        drawTabs(ui);
        drawLink(ui, link);
    }

    static void drawLink(Ui& ui, const LabLink& link) {
        const std::string label(link.label);
        ImGui::SameLine(0, ui.px(10));
        if (ImGui::GetContentRegionAvail().x < textWidth(label) + ui.px(20)) ImGui::NewLine();
        if (ui.namedButton(label.c_str(), "link##parallelism",
                           "Opens the exhibit in which this effect is at work in a training step."))
            ui.exhibitWish = {std::string(link.exhibit), std::string(link.state)};
    }

    /// What is missing, and why; series with the same reason together.
    static std::string notesOf(const LabResult& result) {
        std::vector<std::pair<std::string, std::string>> reasons; // and the series that have them
        bool early = false;
        for (const LabSeries& series : result.series) {
            if (series.note.empty()) continue;
            if (series.note.starts_with(tooLongNote)) {
                early = true;
                continue;
            }
            const auto found =
                std::ranges::find(reasons, series.note, &std::pair<std::string, std::string>::first);
            if (found == reasons.end())
                reasons.emplace_back(series.note, series.fullName());
            else
                found->second += ", " + series.fullName();
        }
        std::string notes(
            translated(early ? "A curve that ends early: the next sample would take too long." : ""));
        for (const auto& [reason, names] : reasons)
            notes += fmt::format("{}{}: {}.", notes.empty() ? "" : " ", names, translatedParts(reason));
        return notes;
    }

    ParallelismModel model_;
    ValueHistory<std::string> edits_{
        [this] { return edited(); },
        [this](const std::string& wanted, const std::string&) { restoreEdited(wanted); }};
    KernelView source_;
    std::map<const Experiment*, EditMessages> messages_;
    LabView view_;
    LabTab tab_ = LabTab::measurements;
    bool cards_ = true;       // instead of the open experiment's page
    bool more_ = false;       // lines and words that few need are unfolded
    double shownSeconds_ = 0; // since what is shown was opened
};

} // namespace

std::unique_ptr<Exhibit> makeParallelism() { return std::make_unique<ParallelismExhibit>(); }

} // namespace lockstep::demos
