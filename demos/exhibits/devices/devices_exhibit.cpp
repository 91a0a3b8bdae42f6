// Devices: one training by several ranks of this machine, what they wait for, and what more of them bring.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/devices/devices_model.h"
#include "demos/exhibits/devices/devices_picture.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/run_form.h"
#include "demos/options/parse.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

constexpr AllReduce allAllReduces[] = {AllReduce::ring, AllReduce::tree, AllReduce::naive};
constexpr ExchangeFormat exchangeFormats[] = {ExchangeFormat::fp32, ExchangeFormat::fp16};
constexpr double roundSeconds = 0.9; ///< of the animation

constexpr std::string_view partWords =
    "What is shown: the latest steps of all ranks, the messages of an all-reduce, or how training scales.";
constexpr std::string_view slowerWords =
    "How much longer each operation of the last rank takes, in percent: it really waits. 0: not at all.";

std::string wholePercent(double share) { return fixed(100 * share, 0) + " %"; }

/// ", PCIe 4.0 x16" of a bandwidth that is a link's; else nothing.
std::string linkName(double gigabytesPerSecond) {
    for (const NamedLink& each : namedLinks)
        if (std::abs(each.gigabytesPerSecond / gigabytesPerSecond - 1) < 0.02)
            return fmt::format(", {}", each.name);
    return "";
}

class DevicesExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "devices"; }
    const char* title() const override { return "Devices"; }
    const char* blurb() const override { return "One network on several devices"; }
    const char* words() const override {
        return "Trains one network by several ranks of this machine, and shows what they compute, exchange "
               "and wait for.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Four ranks in a ring.
        const float r = size * 0.36f;
        draw.AddCircle(centre, r, colour, 0, size / 14);
        for (const ImVec2 at : {ImVec2{0, -1}, ImVec2{1, 0}, ImVec2{0, 1}, ImVec2{-1, 0}})
            draw.AddCircleFilled({centre.x + at.x * r, centre.y + at.y * r}, size / 7, colour);
    }

    void update(Ui& ui) override {
        model_.update(ui.machines, ui.scripted);
        if (!moves()) return;
        progress_ += static_cast<float>(ui.delta / roundSeconds);
        if (progress_ < 1) return;
        progress_ = 0;
        ++shownRound_;
    }

    void draw(Ui& ui) override {
        if (!ui.presenter || !ui.lessonShown) drawHeadline(ui); // a lesson's text takes the room
        // A presenter's letters leave no room for all of it.
        if (ui.presenter && ui.toggle("Settings##devices", settingsWords, settingsShown_))
            settingsShown_ = !settingsShown_;
        if (!ui.presenter || settingsShown_) drawForm(ui);
        const bool buttonAbove = ui.presenter && !settingsShown_;
        if (model_.job() == nullptr) return ui.muted(model_.loading() ? "The data are being loaded." : "");
        const float gap = ui.px(10);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        if (room.x >= ui.px(720) && room.y >= ui.px(430)) {
            const float above = std::floor((room.y - gap) * 0.52f);
            const float left = std::floor((room.x - gap) * 0.46f);
            drawSteps(ui, {room.x, above});
            drawMessages(ui, {left, room.y - above - gap});
            ImGui::SameLine(0, gap);
            drawScale(ui, {0, room.y - above - gap});
            return;
        }
        const std::string names[] = {"Steps", "All-reduce", "Scaling"};
        if (buttonAbove) ImGui::SameLine();
        ui.segments("##devices part", partWords, part_, names);
        const ImVec2 rest = ImGui::GetContentRegionAvail();
        if (part_ == 0) return drawSteps(ui, rest);
        if (part_ == 1) return drawMessages(ui, rest);
        drawScale(ui, rest);
    }

    void drawDetails(Ui& ui) override {
        ui.paragraph(blurb());
        ui.paragraph("Ranks are threads of this program that share the processor's cores, or its GPU. They "
                     "exchange gradients as they would between machines.");
        const RankTrace* const trace = model_.shown();
        if (trace == nullptr) return;
        const std::vector<RankTimes> times = timesOf(*trace);
        for (std::size_t rank = 0; rank < std::min(trace->ranks, mostRanks); ++rank)
            ui.row(translatedFormat("rank {} waits", rank),
                   ui.timing(times[rank].all > 0 ? wholePercent(times[rank].waited / times[rank].all) : "-"));
        if (!model_.opened()) {
            ui.row("step", grouped(model_.run().step));
            ui.row("loss", lossText(model_.run().loss));
        }
    }

    bool running() const override { return model_.training(); }
    bool timesProcessor() const override { return model_.measuring(); }
    bool trains() const override { return false; }
    bool moving() const override { return model_.training() || moves(); }
    void run(Ui& ui) override { model_.train(ui.machines); }
    void pause() override { model_.stop(); }
    void reset(Ui&) override { model_.forget(); }
    void preview(Ui& ui) override {
        if (!ui.scripted) model_.train(ui.machines);
    }
    EditHistory& edits() override { return edits_; }

    /// "devices.ranks" that take part, "devices.steps" trained, "devices.step_seconds" lately;
    /// "devices.waited_share" of the first rank's time, "devices.hidden_share" of its exchanges behind
    /// computing; "devices.lost_steps" by ranks that were ended; "devices.strong_2.efficiency" and the like,
    /// "devices.model_error_share", "devices.stops_paying_ranks" by the model.
    void measured(MeasuredValues& values) const override {
        for (const char* what : {"ranks", "steps", "step_seconds", "loss", "waited_share", "hidden_share",
                                 "lost_steps", "model_error_share", "stops_paying_ranks"})
            values[fmt::format("devices.{}", what)];
        for (const char* how : {"strong", "weak"})
            for (const std::size_t ranks : {2U, 4U})
                values[fmt::format("devices.{}_{}.efficiency", how, ranks)];
        if (model_.job() == nullptr) return;
        const DevicesRun& run = model_.run();
        values["devices.ranks"].number = static_cast<double>(model_.alive());
        if (run.step > 0) {
            values["devices.steps"].number = static_cast<double>(run.step);
            values["devices.step_seconds"].number = run.secondsPerStep;
            values["devices.loss"].number = run.loss;
        }
        if (!run.losses.empty())
            values["devices.lost_steps"].number = static_cast<double>(run.losses.back().lostSteps());
        if (const RankTrace* const trace = model_.shown()) {
            const RankTimes times = timesOf(*trace).front();
            if (times.all > 0) values["devices.waited_share"].number = times.waited / times.all;
            if (times.exchanged > 0) values["devices.hidden_share"].number = times.hidden / times.exchanged;
        }
        const ScalingPoint* const one = model_.point(1, false);
        for (const bool weak : {false, true})
            for (const std::size_t ranks : {2U, 4U})
                if (const ScalingPoint* const point = model_.point(ranks, weak);
                    one != nullptr && point != nullptr)
                    values[fmt::format("devices.{}_{}.efficiency", weak ? "weak" : "strong", ranks)].number =
                        efficiencyOf(one->secondsPerStep, point->secondsPerStep, ranks, weak);
        if (const std::optional<double> error = model_.modelError())
            values["devices.model_error_share"].number = *error;
        if (const std::optional<ScalingModel> model = model_.model())
            if (const std::optional<std::size_t> ranks = model->stopsPayingAt(model_.options().weak))
                values["devices.stops_paying_ranks"].number = static_cast<double>(*ranks);
    }

    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(model_.options());
        json["part"] = part_;
        json["plot"] = plot_.state();
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        nlohmann::ordered_json rest = state;
        for (const char* view : {"part", "plot"}) rest.erase(view);
        DevicesOptions options = devicesOptionsFromJson(rest);
        const auto part = jsonValueOr<std::uint64_t>(state, "part", 0);
        if (part > 2) throw std::invalid_argument("field 'part': must be 0 to 2");
        Plot plot = plot_;
        if (state.contains("plot")) plot.setState(state["plot"]);
        return [this, options, part, plot] {
            model_.change(options);
            part_ = part, plot_ = plot;
        };
    }
    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        DevicesOptions options = model_.options();
        if (file.extension() == ".trace") {
            readRankTrace(file); // throws before anything changes
            model_.stop();
            options.trace = file.string();
        } else if (isTableFile(file)) {
            const std::string filled = takeDroppedFile(options.run, file);
            if (!filled.empty()) ui.say(Severity::warning, filled);
        } else {
            return false;
        }
        model_.change(options);
        return true;
    }
    std::string releaseDevice() override {
        return model_.releaseDevice() ? "Training was stopped. Run goes on with it." : "";
    }

  private:
    /// The messages of the all-reduce are on their way.
    bool moves() const { return playing_ && model_.job() != nullptr && model_.alive() > 1; }

    void drawHeadline(Ui& ui) const {
        const DevicesRun& run = model_.run();
        if (!run.losses.empty() && !model_.opened()) {
            const RankLoss& loss = run.losses.back();
            ui.headline(translatedFormat(
                "Rank {} ended in step {}: training goes on from step {}, {} steps are lost.", loss.rank,
                grouped(loss.atStep), grouped(loss.fromStep), grouped(loss.lostSteps())));
        } else if (const RankTrace* const trace = model_.shown(); trace != nullptr && trace->ranks > 1) {
            RankTimes all;
            for (const RankTimes& times : timesOf(*trace)) all.waited += times.waited, all.all += times.all;
            ui.headline(translatedFormat("{} ranks, one network: they wait for {} of their time.",
                                         trace->ranks,
                                         ui.timing(all.all > 0 ? wholePercent(all.waited / all.all) : "-")));
        } else {
            ui.headline("How do several devices train one network?");
        }
    }

    void drawForm(Ui& ui) {
        DevicesOptions options = model_.options();
        RunOptions& run = options.run;
        RunForm form(ui, "devices ");
        form.data(run.data);
        form.hidden(run.hiddenWidths, run.data);
        form.batch(run.settings.batch);
        std::string lane = run.lanes.front().text();
        form.lane("lane", "Kernels", laneWords, lane, devicesLanes(), 104);
        run.lanes = {laneSpecFromText(lane)};
        form.add("ranks", "Ranks", 70, [&](const char* control) {
            int ranks = static_cast<int>(options.ranks);
            if (!ui.intSlider(control,
                              "How many ranks share each batch. Each has a thread and a copy of the weights.",
                              ranks, 1, static_cast<int>(mostRanks)))
                return false;
            options.ranks = static_cast<std::size_t>(std::clamp(ranks, 1, static_cast<int>(mostRanks)));
            return true;
        });
        form.choice("all-reduce", "All-reduce",
                    "Who sends which part of the gradients to whom, until every rank has their sums.", 70,
                    options.allReduce, allAllReduces);
        form.choice("exchange", "Exchange", "The number format in which gradients travel.", 60,
                    options.format, exchangeFormats);
        form.add("overlap", "Overlap", 50, [&](const char* control) {
            return ui.checkbox(control,
                               "A layer's gradients are exchanged while those of the layers below are still "
                               "being computed. Off: ranks wait for each exchange.",
                               options.overlap);
        });
        form.add("slower", "Slow rank", 84, [&](const char* control) {
            auto slower = static_cast<float>(options.slower * 100);
            if (!ui.slider(control, slowerWords, slower, 0, 400, "%.0f %%")) return false;
            options.slower = std::clamp(static_cast<double>(slower) / 100, 0.0, 4.0);
            return true;
        });
        form.text("steps", "Steps", "How many steps Run trains.", 50, std::to_string(options.steps),
                  [&](const std::string& typed) {
                      options.steps = std::clamp<std::uint64_t>(
                          wholeNumberFromText(typed, "a number of steps is"), 1, mostDevicesSteps);
                  });
        form.text(
            "checkpoint", "Checkpoint",
            "Every so many steps the state of training is kept in memory. If a rank ends, the others go on "
            "from there.",
            70, std::to_string(options.checkpointEvery), [&](const std::string& typed) {
                options.checkpointEvery =
                    std::clamp<std::uint64_t>(wholeNumberFromText(typed, "a number of steps is"), 1, 10'000);
            });
        form.end();
        if (form.changed()) model_.change(options);
    }

    void drawSteps(Ui& ui, ImVec2 size) {
        ui.beginCard("devices/steps", size);
        ImGui::AlignTextToFramePadding();
        ui.heading(model_.opened() ? "Steps from a file" : "The latest steps");
        const auto button = [&](const char* label, std::string_view words, bool enabled, float& right) {
            right -= textWidth(shownLabel(label)) + 2 * ImGui::GetStyle().FramePadding.x;
            ImGui::SameLine(right);
            right -= ui.px(8);
            return ui.button(label, words, enabled);
        };
        float right = ImGui::GetContentRegionAvail().x + ImGui::GetStyle().WindowPadding.x;
        const RankTrace* const trace = model_.shown();
        if (button("End a rank##devices",
                   "Ends the last rank between two checkpoints. The others go on from the last one.",
                   model_.canEndRank(), right))
            model_.endRank(ui.machines);
        if (button("Save##devices trace",
                   "Writes these steps to a file, which can be dropped onto the window.", trace != nullptr,
                   right))
            ui.saveWish = SaveWish{"steps.trace", [steps = *trace](const std::filesystem::path& file) {
                                       writeRankTrace(file, steps);
                                   }};
        DevicesOptions options = model_.options();
        right -= ui.px(90);
        if (right > textWidth("The latest steps") + ui.px(30)) {
            ImGui::SameLine(right);
            ImGui::SetNextItemWidth(ui.px(90));
            std::size_t stop = options.shownSteps - 1;
            if (ui.stopSlider("##devices shown", "How many of the latest steps are shown.", stop,
                              mostShownSteps,
                              options.shownSteps == 1 ? std::string(translated("1 step"))
                                                      : translatedFormat("{} steps", options.shownSteps))) {
                options.shownSteps = stop + 1;
                model_.change(options);
            }
        }
        drawGanttLegend(ui);
        if (trace != nullptr) drawCounts(ui, *trace);
        if (trace == nullptr)
            ui.muted(model_.training() ? "The ranks are meeting." : "Run starts the ranks.");
        else
            drawGantt(ui, latestSteps(*trace, model_.options().shownSteps));
        ui.endCard();
    }

    /// What a step takes, and what of the exchanges took place behind computing; on the legend's line.
    void drawCounts(Ui& ui, const RankTrace& trace) const {
        double exchanged = 0, hidden = 0;
        for (const RankTimes& times : timesOf(trace)) exchanged += times.exchanged, hidden += times.hidden;
        std::string text;
        const DevicesRun& run = model_.run();
        const std::string takes = ui.timing(duration(run.secondsPerStep));
        if (!model_.opened())
            text = model_.options().slower > 0 && run.evenSeconds > 0
                       ? translatedFormat("a step takes {}, without the slow rank {}", takes,
                                          ui.timing(duration(run.evenSeconds)))
                       : translatedFormat("a step takes {}", takes);
        if (exchanged > 0)
            text +=
                (text.empty() ? "" : "; ") +
                translatedFormat("{} of the exchanges hidden", ui.timing(wholePercent(hidden / exchanged)));
        const SmallLetters small(ui);
        const ImVec2 below = ImGui::GetItemRectMin();
        const float right =
            ImGui::GetWindowPos().x + ImGui::GetWindowWidth() - ImGui::GetStyle().WindowPadding.x;
        const float left = right - lettersWidth(text);
        if (left > below.x + legendWidth(ui) + ui.px(10))
            ImGui::GetWindowDrawList()->AddText({left, below.y}, ui.theme.text, text.c_str());
    }

    void drawMessages(Ui& ui, ImVec2 size) {
        ui.beginCard("devices/messages", size);
        DevicesOptions options = model_.options();
        ImGui::AlignTextToFramePadding();
        ui.heading("All-reduce of layer");
        ImGui::SameLine();
        ImGui::SetNextItemWidth(ui.px(50));
        int layer = static_cast<int>(model_.layer()) + 1;
        if (ui.intSlider("##devices layer", "The layer whose gradients are added up.", layer, 1,
                         static_cast<int>(model_.layers())))
            options.layer =
                static_cast<std::size_t>(std::clamp(layer, 1, static_cast<int>(model_.layers())) - 1);
        const std::vector<ScheduledMessage> schedule = model_.schedule();
        if (schedule.empty()) {
            ui.muted("One rank has nothing to exchange.");
        } else {
            const std::size_t rounds = schedule.back().round + 1;
            std::size_t round = (moves() ? shownRound_ : options.round) % rounds;
            ImGui::SameLine();
            if (ui.toggle("Play##devices round", "Lets the messages travel, round after round.", playing_)) {
                playing_ = !playing_;
                shownRound_ = round;
                if (!playing_) options.round = round;
            }
            ImGui::SameLine();
            ImGui::SetNextItemWidth(std::max(ui.px(60), ImGui::GetContentRegionAvail().x));
            if (ui.stopSlider("##devices round", "The round whose messages are drawn.", round, rounds,
                              translatedFormat("round {} of {}", round + 1, rounds))) {
                options.round = round;
                playing_ = false;
            }
            drawAllReduce(ui, model_, round, moves() ? progress_ : 0.5f);
        }
        ui.endCard();
        if (options != model_.options()) model_.change(options);
    }

    void drawScale(Ui& ui, ImVec2 size) {
        ui.beginCard("devices/scale", size);
        DevicesOptions options = model_.options();
        ImGui::AlignTextToFramePadding();
        ui.heading("Scaling");
        ImGui::SameLine();
        const std::string ways[] = {"same batch", "growing batch"};
        std::size_t weak = options.weak ? 1 : 0;
        if (ui.segments(
                "##devices weak",
                "Strong scaling: all ranks share one batch. Weak scaling: each rank has a batch of its "
                "own.",
                weak, ways))
            options.weak = weak == 1;
        ImGui::SameLine();
        if (ui.button("Measure##devices", "Times 1, 2 and 4 ranks, and the link between two of them.",
                      !model_.measuring()))
            model_.measure(ui.machines);
        const float wide = std::floor((ImGui::GetContentRegionAvail().x - ui.px(8)) / 2);
        auto gigabytes = static_cast<float>(options.gigabytesPerSecond);
        ImGui::SetNextItemWidth(wide);
        if (ui.logSlider("##devices bandwidth",
                         "Bandwidth of the link in the model. Marks, from the left: Ethernet with 10 and 100 "
                         "Gbit/s, PCIe 3.0 and 4.0 x16, InfiniBand NDR, PCIe 5.0 x16, NVLink 4.",
                         gigabytes, 0.1f, 1000, ("%.3g GB/s" + linkName(options.gigabytesPerSecond)).c_str()))
            options.gigabytesPerSecond = std::clamp(static_cast<double>(gigabytes), 0.1, 1000.0);
        drawMarks(ui, ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
        ImGui::SameLine(0, ui.px(8));
        auto latency = static_cast<float>(options.microseconds);
        ImGui::SetNextItemWidth(wide);
        if (ui.logSlider("##devices latency", "Latency of the link in the model: what every message costs.",
                         latency, 0.1f, 1000, "%.3g µs"))
            options.microseconds = std::clamp(static_cast<double>(latency), 0.1, 1000.0);
        drawVerdict(ui);
        drawScaling(ui, model_, plot_);
        ui.endCard();
        if (options != model_.options()) model_.change(options);
    }

    /// Marks on the slider for links that exist.
    void drawMarks(Ui& ui, ImVec2 min, ImVec2 max) const {
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        for (const NamedLink& each : namedLinks) {
            const auto share = static_cast<float>((std::log10(each.gigabytesPerSecond) + 1) / 4);
            const float x = min.x + (max.x - min.x) * share;
            draw.AddLine({x, max.y - ui.px(5)}, {x, max.y}, ui.theme.text, ui.line(1.5f));
        }
    }

    void drawVerdict(Ui& ui) const {
        const DevicesOptions& options = model_.options();
        std::string text;
        if (const std::optional<ScalingModel> model = model_.model()) {
            const std::optional<std::size_t> stops = model->stopsPayingAt(options.weak);
            text = stops ? translatedFormat(
                               "Model with a device per rank: from {} ranks on, more than half is lost.",
                               ui.timing(grouped(*stops)))
                         : translatedFormat(
                               "Model with a device per rank: up to {} ranks, more than half is used.",
                               grouped(mostModelledRanks));
        } else {
            text = translated(model_.measuring()
                                  ? "1, 2 and 4 ranks are being timed."
                                  : "Measure times 1, 2 and 4 ranks; a model goes on from there.");
        }
        ui.muted(fittedText(text, ImGui::GetContentRegionAvail().x));
        if (const std::optional<double> error = model_.modelError())
            ui.muted(
                fittedText(translatedFormat("On this machine, the model is up to {} off what was measured.",
                                            ui.timing(wholePercent(*error))),
                           ImGui::GetContentRegionAvail().x));
    }

    DevicesModel model_;
    Plot plot_;
    std::size_t part_ = 0; // where there is no room for all
    bool playing_ = false;
    std::size_t shownRound_ = 0; // while it plays
    float progress_ = 0;
    bool settingsShown_ = false; // to a presenter
    ValueHistory<DevicesOptions> edits_{
        [this] { return model_.options(); },
        [this](const DevicesOptions& wanted, const DevicesOptions&) { model_.change(wanted); }};
};

} // namespace

std::unique_ptr<Exhibit> makeDevices() { return std::make_unique<DevicesExhibit>(); }

} // namespace lockstep::demos
