// Precision: in how many bits a network can be trained, and what the others are for.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/precision/precision_model.h"
#include "demos/exhibits/precision/precision_picture.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/run_form.h"
#include "demos/options/parse.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostZoom = 24;

constexpr std::string_view partWords =
    "What is shown: losses of all formats, sizes of numbers, or one weight.";

class PrecisionExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "precision"; }
    const char* title() const override { return "Precision"; }
    const char* blurb() const override { return "The same training in fewer bits"; }
    const char* words() const override {
        return "Trains a network in every number format, and shows what each does to its numbers, bit by "
               "bit.";
    }
    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // A number line whose marks grow apart.
        const float r = size / 2;
        draw.AddLine({centre.x - r, centre.y}, {centre.x + r, centre.y}, colour, size / 14);
        for (const float at : {-0.9f, -0.75f, -0.5f, -0.05f, 0.8f})
            draw.AddLine({centre.x + at * r, centre.y - 0.5f * r}, {centre.x + at * r, centre.y + 0.5f * r},
                         colour, size / 12);
    }

    void update(Ui& ui) override { model_.update(ui.machines, ui.scripted); }

    void draw(Ui& ui) override {
        if (!ui.presenter || !ui.lessonShown) drawHeadline(ui); // a lesson's text takes the room
        // A presenter's letters leave no room for all of it.
        if (ui.presenter && ui.toggle("Settings##precision", settingsWords, settingsShown_))
            settingsShown_ = !settingsShown_;
        if (!ui.presenter || settingsShown_) drawForm(ui);
        const bool buttonAbove = ui.presenter && !settingsShown_;
        if (model_.job() == nullptr) return ui.muted(model_.loading() ? "The data are being loaded." : "");
        const float gap = ui.px(10);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float below = formatsHeight(ui, model_) + ImGui::GetTextLineHeightWithSpacing() +
                            2 * ImGui::GetStyle().WindowPadding.y;
        if (room.x >= ui.px(720) && room.y - below - gap >= ui.px(190)) {
            const float above = room.y - below - gap;
            const float left = std::floor((room.x - gap) / 2);
            drawLosses(ui, {left, above});
            ImGui::SameLine(0, gap);
            drawNumbers(ui, {0, above});
            drawBits(ui, {0, below});
            return;
        }
        const std::string names[] = {"Losses", "Sizes", "Bits"};
        if (buttonAbove) ImGui::SameLine();
        ui.segments("##precision part", partWords, part_, names);
        const ImVec2 rest = ImGui::GetContentRegionAvail();
        if (part_ == 0) return drawLosses(ui, rest);
        if (part_ == 1) return drawNumbers(ui, rest);
        drawBits(ui, rest);
    }

    void drawDetails(Ui& ui) override {
        ui.paragraph(blurb());
        ui.paragraph("All but fp32 and fp64 are emulated: their numbers are those of the format, times are "
                     "not. Sums stay fp32, as do weights that are not set to be rounded.");
        ui.paragraph("In fp8, products read e4m3; gradients are e5m2.", ui.theme.muted);
    }

    bool running() const override { return model_.training(); }
    bool trains() const override { return false; }
    bool moving() const override { return model_.busy(); }
    void run(Ui& ui) override { model_.train(ui.machines); }
    void pause() override { model_.stop(); }
    void reset(Ui&) override { model_.forget(); }
    void preview(Ui& ui) override {
        if (!ui.scripted) model_.train(ui.machines);
    }
    EditHistory& edits() override { return edits_; }

    /// "precision.bf16.accuracy_share" and ".loss" of each format that has trained;
    /// "precision.gradients_lost_share": how many gradients of the chosen layer become 0 in the chosen
    /// format, likewise weights and inputs; "precision.gap": from the chosen weight's rounded value to the
    /// next number; "precision.numbers": how many the format has between 1 and 2; "precision.batch_loss", and
    /// "precision.flipped_loss" with the flipped bits.
    void measured(MeasuredValues& values) const override {
        for (const OperandFormat format : formatsOf(model_.options().run.lanes.front()))
            for (const char* what : {"accuracy_share", "loss"})
                values[fmt::format("precision.{}.{}", name(format), what)];
        constexpr const char* tensors[] = {"weights", "inputs", "gradients"};
        for (const char* tensor : tensors) values[fmt::format("precision.{}_lost_share", tensor)];
        for (const char* what : {"gap", "numbers", "flipped_loss", "batch_loss"})
            values[fmt::format("precision.{}", what)];
        if (model_.job() == nullptr) return;
        for (const OperandFormat format : formatsOf(model_.options().run.lanes.front())) {
            const PrecisionRun* const run = model_.run(format);
            if (run == nullptr || !run->done || !run->failure.empty()) continue;
            values[fmt::format("precision.{}.accuracy_share", name(format))].number = run->accuracy;
            values[fmt::format("precision.{}.loss", name(format))].number = run->loss;
        }
        const FloatKind kind = model_.options().kind;
        values["precision.gap"].number = codeOf(model_.weight(), kind, model_.weightScale(kind)).gap;
        values["precision.numbers"].number =
            std::ldexp(1.0, static_cast<int>(rowOf(kind).format().fractionBits));
        if (model_.numbers() == nullptr) return;
        for (std::size_t at = 0; at < std::size(tensors); ++at)
            values[fmt::format("precision.{}_lost_share", tensors[at])].number =
                model_.magnitudes()[at].share(Fate::lost);
        values["precision.batch_loss"].number = model_.numbers()->loss;
        if (const std::optional<double> flipped = model_.flippedLoss(); flipped && std::isfinite(*flipped))
            values["precision.flipped_loss"].number = *flipped;
        else if (flipped)
            values["precision.flipped_loss"].text = numberText(*flipped);
    }

    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(model_.options());
        json["zoom"] = zoom_;
        json["part"] = part_;
        json["plot"] = plot_.state();
        return json;
    }
    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        nlohmann::ordered_json rest = state;
        for (const char* view : {"zoom", "part", "plot"}) rest.erase(view);
        PrecisionOptions options = precisionOptionsFromJson(rest);
        const auto zoom = jsonValueOr<std::uint64_t>(state, "zoom", 1);
        const auto part = jsonValueOr<std::uint64_t>(state, "part", 0);
        if (zoom > mostZoom)
            throw std::invalid_argument(fmt::format("field 'zoom': must be 0 to {}", mostZoom));
        if (part > 2) throw std::invalid_argument("field 'part': must be 0 to 2");
        Plot plot = plot_;
        if (state.contains("plot")) plot.setState(state["plot"]);
        return [this, options, zoom, part, plot] {
            model_.change(options);
            zoom_ = zoom, part_ = part, plot_ = plot;
        };
    }
    bool dropFile(Ui& ui, const std::filesystem::path& file) override {
        if (!isTableFile(file)) return false;
        PrecisionOptions options = model_.options();
        const std::string filled = takeDroppedFile(options.run, file);
        if (!filled.empty()) ui.say(Severity::warning, filled);
        model_.change(options);
        return true;
    }
    std::string releaseDevice() override {
        return model_.releaseDevice() ? "Training was stopped. Run goes on with it." : "";
    }

  private:
    /// What the formats' training came to, in a sentence.
    void drawHeadline(Ui& ui) const {
        const PrecisionRun* const best = model_.job() == nullptr ? nullptr : model_.run(OperandFormat::fp32);
        const PrecisionRun* const shown =
            model_.job() == nullptr ? nullptr : model_.run(formatOf(model_.options().kind));
        const auto finished = [](const PrecisionRun* run) { return run != nullptr && run->done; };
        if (!finished(best) || !finished(shown) || !best->failure.empty()) {
            ui.headline("How many bits does training need?");
        } else if (!shown->failure.empty()) {
            ui.headline(translatedFormat("{} diverges.", name(shown->precision.format)));
        } else {
            const auto text = [](const PrecisionRun& run) {
                return std::isnan(run.accuracy) ? translatedFormat("a test loss of {}", lossText(run.loss))
                                                : percent(run.accuracy);
            };
            ui.headline(best == shown ? translatedFormat("32 bits reach {}.", text(*best))
                                      : translatedFormat("{} bits reach {}, 32 bits reach {}.",
                                                         rowOf(model_.options().kind).bits(), text(*shown),
                                                         text(*best)));
        }
        ui.paragraph("Fewer bits than fp32 are emulated here: right numbers, no claim about speed.",
                     ui.theme.muted);
    }

    void drawForm(Ui& ui) {
        PrecisionOptions options = model_.options();
        RunOptions& run = options.run;
        RunForm form(ui, "precision ");
        form.data(run.data);
        form.hidden(run.hiddenWidths, run.data);
        form.rate(run.settings.optimizer);
        form.batch(run.settings.batch);
        std::string lane = run.lanes.front().text();
        form.lane("lane", "Kernels", laneWords, lane, precisionLanes());
        run.lanes = {laneSpecFromText(lane)};
        form.text("steps", "Steps", "How many steps every format trains.", 54, std::to_string(options.steps),
                  [&](const std::string& typed) {
                      options.steps = std::clamp<std::uint64_t>(
                          wholeNumberFromText(typed, "a number of steps is"), 1, mostPrecisionSteps);
                  });
        form.add("scaling", "Loss scaling", 40, [&](const char* control) {
            return ui.checkbox(control,
                               "fp16 and fp8 multiply the gradients by a power of two before they are "
                               "rounded, so that small ones do not become 0.",
                               options.switches.lossScaling);
        });
        form.storage(options.switches);
        bool more = false;
        form.popup("More##precision more", "Activation, optimizer and seed.", [&] {
            RunForm inner(ui, "precision more ");
            inner.activation(run.activation);
            inner.optimizer(run.settings.optimizer);
            inner.seed(run.settings.seed);
            inner.end();
            more = inner.changed();
        });
        form.end();
        if (form.changed() || more) model_.change(options);
    }

    void drawLosses(Ui& ui, ImVec2 size) {
        ui.beginCard("precision/losses", size);
        ui.heading("Loss in every format");
        drawFormatLosses(ui, model_, plot_);
        ui.endCard();
    }

    void drawNumbers(Ui& ui, ImVec2 size) {
        ui.beginCard("precision/sizes", size);
        ui.heading(translatedFormat("Operands of layer {}, and the range of {}", model_.place().layer + 1,
                                    name(formatOf(model_.options().kind))));
        drawMagnitudes(ui, model_);
        ui.endCard();
    }

    void drawBits(Ui& ui, ImVec2 size) {
        PrecisionOptions options = model_.options();
        ui.beginCard("precision/bits", size);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float side = std::min(room.y, room.x * 0.2f);
        ImGui::BeginGroup();
        ui.heading("Weights of layer");
        ImGui::SameLine();
        ImGui::SetNextItemWidth(ui.px(60));
        int layer = static_cast<int>(model_.place().layer) + 1;
        if (ui.intSlider("##precision layer", "The layer whose weights, inputs and gradients are shown.",
                         layer, 1, static_cast<int>(model_.layers())))
            options.place.layer =
                static_cast<std::size_t>(std::clamp(layer, 1, static_cast<int>(model_.layers())) - 1);
        const WeightPointed weights = drawWeights(ui, model_, {side, ImGui::GetContentRegionAvail().y});
        ImGui::EndGroup();
        ImGui::SameLine(0, ui.px(18));
        ImGui::BeginGroup();
        const WeightPlace chosen = model_.place();
        const WeightPlace place = weights.hovered.value_or(chosen);
        const float zoomWidth = ui.px(90);
        ui.heading(fittedText(headingOf(place, place == chosen),
                              ImGui::GetContentRegionAvail().x - zoomWidth - ui.px(8)));
        if (showsNumberLines(ui, ImGui::GetContentRegionAvail().x)) {
            ImGui::SameLine();
            ImGui::SetCursorScreenPos(
                {ImGui::GetCursorScreenPos().x + ImGui::GetContentRegionAvail().x - zoomWidth,
                 ImGui::GetCursorScreenPos().y});
            ImGui::SetNextItemWidth(zoomWidth);
            std::size_t zoom = zoom_;
            if (ui.stopSlider("##precision zoom",
                              "How much of the number line is shown: from -2 to 2, or closer to the weight.",
                              zoom, mostZoom + 1, translatedFormat("zoom {}", zoom)))
                zoom_ = zoom;
        }
        const FormatPointed formats = drawFormats(ui, model_, place, zoom_);
        ImGui::EndGroup();
        ui.endCard();
        if (weights.pressed) options.place = *weights.pressed;
        if (formats.chosen) options.kind = *formats.chosen;
        const PrecisionOptions& before = model_.options();
        if (options.kind != before.kind || options.place != before.place)
            options.flipped = 0; // they were another number's bits
        if (formats.flipped) options.flipped ^= *formats.flipped;
        if (options != model_.options()) model_.change(options);
    }

    std::string headingOf(WeightPlace place, bool chosen) const {
        const std::string weight = fmt::format("W{}[{}][{}] = {}", place.layer + 1, place.neuron, place.input,
                                               numberText(model_.weight(place)));
        if (!chosen || model_.flipped() == 0 || !model_.flippedLoss() || model_.numbers() == nullptr)
            return weight;
        return translatedFormat("{}; with flipped bits, the loss is {} instead of {}", weight,
                                std::isfinite(*model_.flippedLoss()) ? lossText(*model_.flippedLoss())
                                                                     : numberText(*model_.flippedLoss()),
                                lossText(model_.numbers()->loss));
    }

    PrecisionModel model_;
    Plot plot_;
    std::size_t zoom_ = 1;
    std::size_t part_ = 0;       // where there is no room for all
    bool settingsShown_ = false; // to a presenter
    ValueHistory<PrecisionOptions> edits_{
        [this] { return model_.options(); },
        [this](const PrecisionOptions& wanted, const PrecisionOptions&) { model_.change(wanted); }};
};

} // namespace

std::unique_ptr<Exhibit> makePrecision() { return std::make_unique<PrecisionExhibit>(); }

} // namespace lockstep::demos
