// The exhibit: the map. Every pixel is a network, and its colour how the training ended.
#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/draw/plot.h"
#include "demos/exhibits/map/map_controls.h"
#include "demos/exhibits/map/map_model.h"
#include "demos/exhibits/map/map_pane.h"
#include "demos/kit/exhibit.h"
#include "demos/report/grid_colours.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

/// A caption, and to its right or below it the colours between the numbers of their ends.
/// colourAt   of a share of the way, 0 to 1
void drawLegendBar(const Ui& ui, ImVec2 start, float width, bool oneLine, const char* caption,
                   const std::string& from, const std::string& to,
                   const std::function<ImU32(double share)>& colourAt) {
    constexpr int samples = 64;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight();
    draw.AddText(start, ui.theme.muted, fittedText(caption, width).c_str());
    const float taken = oneLine ? textWidth(caption) + ui.px(12) : 0;
    start.x += taken;
    width -= taken;
    const float y = oneLine ? start.y : start.y + line + ui.px(2);
    draw.AddText({start.x, y}, ui.theme.text, from.c_str());
    const float toWidth = textWidth(to);
    draw.AddText({start.x + width - toWidth, y}, ui.theme.text, to.c_str());
    const float left = start.x + textWidth(from) + ui.px(8);
    const float right = start.x + width - toWidth - ui.px(8);
    const float step = (right - left) / samples;
    for (int i = 0; i < samples; ++i) {
        const float x = left + static_cast<float>(i) * step;
        draw.AddRectFilled({x, y + line * 0.15f}, {x + step + 0.5f, y + line * 0.85f},
                           colourAt((i + 0.5) / samples));
    }
}

struct LegendWords {
    const char* converged;
    const char* diverged;
    const char* atEnd; ///< behind the number of the last step
};
constexpr LegendWords fullLegend = {"blue: converged; mean loss, % of the first",
                                    "orange: got no better; diverged at step", "; brightest: never"};
constexpr LegendWords briefLegend = {"mean loss, %", "diverged at step", "; brightest: never"};
constexpr float legendGap = 24; // units between the two bars

float legendWidth(const Ui& ui) { return (ImGui::GetContentRegionAvail().x - ui.px(legendGap)) / 2; }

const LegendWords& legendWords(const Ui& ui) {
    return legendWidth(ui) >= textWidth(fullLegend.converged) + ui.px(220) ? fullLegend : briefLegend;
}

/// Beside the bars, where there is room for words and colours.
bool legendInOneLine(const Ui& ui) {
    return legendWidth(ui) >= textWidth(legendWords(ui).diverged) + ui.px(120);
}

float legendHeight(const Ui& ui) {
    const float line = ImGui::GetTextLineHeight();
    return legendInOneLine(ui) ? line : 2 * line + ui.px(2);
}

// Even steps of colour: the scales are a square root and a logarithm.
void drawLegend(const Ui& ui, const MapJob& job) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const float width = legendWidth(ui);
    const float height = legendHeight(ui);
    const bool oneLine = legendInOneLine(ui);
    const LegendWords& words = legendWords(ui);
    drawLegendBar(ui, start, width, oneLine, words.converged, "100", "0", [&](double share) {
        return mapColour(job, static_cast<float>((1 - share) * (1 - share)));
    });
    const double first = std::log1p(1.0);
    const double last = std::log1p(static_cast<double>(job.steps));
    const ImVec2 second{start.x + width + ui.px(legendGap), start.y};
    drawLegendBar(ui, second, width, oneLine, words.diverged, "1",
                  grouped(job.steps).append(translated(words.atEnd)), [&](double share) {
                      return mapColour(job, -static_cast<float>(std::expm1(first + share * (last - first))));
                  });
    ImGui::Dummy({second.x + width - start.x, height});
}

constexpr float titledUnits = 400; // height that has room for a title
constexpr int mostPreviews = 3;    // another one where the picture got another form meanwhile

float remarkLines(const Ui& ui) { return ui.presenter ? 1 : 2; }

class MapExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "map"; }
    const char* title() const override { return "Map"; }
    const char* blurb() const override { return "Every pixel is a network: does it learn?"; }
    const char* words() const override {
        return "Trains one tiny network per pixel; the colour shows which hyperparameters work.";
    }

    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // A square, and a ragged border across it.
        const float r = size * 0.45f;
        draw.AddRect({centre.x - r, centre.y - r}, {centre.x + r, centre.y + r}, colour, size / 8, 0,
                     size / 12);
        const ImVec2 border[] = {{-1, 0.1f},     {-0.6f, 0.25f}, {-0.45f, -0.15f}, {-0.1f, 0.05f},
                                 {0.05f, -0.5f}, {0.4f, -0.35f}, {0.5f, -0.75f},   {0.75f, -1}};
        ImVec2 points[std::size(border)];
        for (std::size_t i = 0; i < std::size(border); ++i)
            points[i] = {centre.x + border[i].x * r, centre.y + border[i].y * r};
        draw.AddPolyline(points, static_cast<int>(std::size(points)), colour, 0, size / 12);
    }

    void update(Ui& ui) override {
        const MapRequest picture = model_.picture();
        if (ui.detailPanel)
            probe_.update(picture.job, picture.point(probed()), ui.scripted); // its curve is there
        controls_.update(ui);
        model_.update([&](const MapJob& job, MapMachine machine) { return mapMaker(ui, job, machine); },
                      ui.delta, ui.scripted);
        survey_ = model_.survey();
        goOnPreviewing();
    }

    void draw(Ui& ui) override {
        const bool titled = ImGui::GetContentRegionAvail().y >= ui.px(titledUnits);
        if (titled) {
            ui.headline(titleText(ui));
            ui.text(fittedText(translated(hint()), ImGui::GetContentRegionAvail().x), ui.theme.muted);
        }
        controls_.draw(ui, model_);
        const float gap = ImGui::GetStyle().ItemSpacing.y;
        const float remarks = remarkLines(ui) * ImGui::GetTextLineHeight();
        const float below = legendHeight(ui) + remarks + 2 * gap;
        drawPanes(ui, std::max(ImGui::GetContentRegionAvail().y - below, ui.px(90)));
        explainHovered(ui);
        drawLegend(ui, model_.settings().job);
        // Not above them: the panes would change their form with every message.
        if (controls_.saving.busy())
            controls_.drawProgress(ui);
        else
            drawRemark(ui, titled ? "" : hint());
    }

    void drawDetails(Ui& ui) override {
        const MapRequest picture = model_.picture();
        const MapJob& job = picture.job;
        const std::uint32_t pixel = probed();
        const bool trained = std::ranges::any_of(
            model_.sides(), [pixel](const MapSide& side) { return side.grid.trained(pixel); });
        ui.heading(hovered_ ? "Network under the pointer" : "Network at the centre");
        const auto [place, endings] = probedText();
        for (const auto& [name, value] : place) ui.row(name, value);
        for (const auto& [machine, ending] : endings) {
            ui.muted(machine);
            ui.paragraph(ending);
        }
        PlotLine line;
        line.colour = ui.theme.text;
        if (const auto& curve = probe_.curve(); curve && trained) {
            line.x = curve->steps;
            line.y = curve->losses;
        }
        lossPlot_.draw(ui, "map loss", "The loss of the network at the marked pixel, step by step.",
                       {&line, 1},
                       {.x = {.title = "step", .unit = "", .whole = true},
                        .y = {.title = "loss (CPU)", .unit = "", .log = true},
                        .size = {0, ui.px(190)},
                        .empty = "not trained yet"});
        ImGui::Dummy({0, ui.px(4)});
        ui.heading("Every pixel is a network");
        ui.row("layers", mapNetworkText(job));
        ui.row("examples (full batch)", grouped(job.examples));
        ui.row("steps", grouped(job.steps));
        ui.row("networks shown", grouped(picture.size.pixels()));
        if (!ui.lessonShown)
            ui.paragraph("All start from the same weights and learn the same examples. Only the two "
                         "hyperparameters on the axes differ.");
        if (ui.more("more about the map"))
            ui.paragraph("The boundary between networks that learn and networks that diverge stays ragged "
                         "however far you zoom in: it is a fractal (Sohl-Dickstein 2024, arXiv 2402.06184). "
                         "The networks per second are those of the present picture, divided by the time that "
                         "this machine trained them.");
    }

    void drawMenu(Ui& ui) override {
        if (ui.menuItem("Previous region", "Returns to the region of the map that you visited before.",
                        "Alt+Left", false, model_.history().canGoBack()))
            model_.goBack();
        if (ui.menuItem("Next region", "Goes forward again through the regions you visited.", "Alt+Right",
                        false, model_.history().canGoForward()))
            model_.goForward();
    }

    // A picture that is whole is no longer running; another part of the plane continues by itself.
    bool running() const override { return model_.painting(); }
    bool timesProcessor() const override { return running() && model_.side(MapMachine::cpu).lane != nullptr; }
    std::uint64_t trainedExamples() const override { return model_.trainedExamples(); }
    bool moving() const override {
        const auto behind = [this](const MapPane& pane) {
            return model_.enabled(pane.machine()) && pane.behind();
        };
        return model_.painting() || model_.busy() || probe_.busy() || controls_.saving.busy() ||
               std::ranges::any_of(panes_, behind);
    }
    void run(Ui&) override {
        preview_.reset();
        if (model_.complete()) model_.reset(); // and once more
        model_.run();
    }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit == StepUnit::batch; }
    void step(Ui&, StepUnit unit) override {
        if (!canStep(unit)) return;
        preview_.reset();
        model_.pause();
        model_.step();
    }
    void reset(Ui&) override {
        preview_.reset();
        model_.reset();
    }
    void reroll(Ui&) override {
        preview_.reset();
        MapSettings settings = model_.settings();
        ++settings.job.seed;
        model_.change(settings);
    }
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    void preview(Ui&) override {
        if (model_.busy() || previewed() > 0) return;
        preview_ = Preview{model_.settings(), mostPreviews};
    }
    EditHistory& edits() override { return edits_; }
    void travel(Ui&, Travel travel) override {
        if (travel == Travel::back && model_.history().canGoBack()) model_.goBack();
        if (travel == Travel::forward && model_.history().canGoForward()) model_.goForward();
    }

    /// "map.networks", and once all are trained "map.finished" (1), "map.diverged_share" and "map.crossings".
    void measured(MeasuredValues& values) const override {
        values["map.networks"].number = static_cast<double>(model_.size().pixels());
        values["map.finished"].number = survey_ ? 1 : Measured().number;
        values["map.diverged_share"].number = survey_ ? survey_->divergedShare : Measured().number;
        values["map.crossings"].number = survey_ ? survey_->crossings : Measured().number;
    }
    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(model_.settings());
        json["saved_size"] = controls_.pictureSize;
        json["plot"] = lossPlot_.state();
        return json;
    }

    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        const MapSettings settings = mapSettingsFromJson(state);
        const auto size = jsonValueOr(state, "saved_size", std::string("2048x2048"));
        Plot plot;
        if (const auto found = state.find("plot"); found != state.end()) plot.setState(*found);
        return [this, settings, size = mapSizeText(mapSizeFromText(size)), plot] {
            preview_.reset();
            model_.begin(settings);
            survey_.reset(); // of what was here
            controls_.pictureSize = size;
            lossPlot_ = plot;
        };
    }

    std::string releaseDevice() override {
        const bool painting = model_.releaseDevice();
        const bool saving = controls_.saving.release();
        for (MapPane& pane : panes_) pane.release();
        std::string costs;
        if (painting) costs = translated("The map continues with its missing pixels.");
        if (saving)
            costs.append(costs.empty() ? "" : " ")
                .append(translated("The picture of the map was not saved."));
        return costs;
    }

  private:
    /// A first picture of few networks, as long as these settings hold.
    struct Preview {
        MapSettings settings;
        int left; ///< steps
    };

    /// Networks of the picture that the first machine has trained.
    std::size_t previewed() const { return model_.sides().front().grid.known(); }

    void goOnPreviewing() {
        if (!preview_ || model_.busy()) return;
        const bool other = model_.settings() != preview_->settings;
        if (other || model_.running() || model_.complete()) return preview_.reset();
        if (previewed() > 0 || preview_->left == 0) return;
        --preview_->left;
        model_.step();
    }

    /// Without a mouse, what is in the middle: the keyboard moves the map below it.
    std::uint32_t probed() const {
        const MapSize size = model_.size();
        const std::uint32_t middle = size.height / 2 * size.width + size.width / 2;
        return hovered_ && hovered_->pixel < size.pixels() ? hovered_->pixel : middle;
    }

    using NamedTexts = std::vector<std::pair<std::string, std::string>>;
    /// The probed network's hyperparameters, and how it ended on each machine.
    std::pair<NamedTexts, NamedTexts> probedText() {
        const MapRequest picture = model_.picture();
        const MapPoint point = picture.point(probed());
        const double decades = (picture.window.right - picture.window.left) / picture.size.width;
        const auto text = [&](float value) {
            return hyperparameterText(std::log10(static_cast<double>(value)), decades);
        };
        const MapAxes axes = picture.job.axes;
        std::pair<NamedTexts, NamedTexts> all{
            {{acrossName(axes).full, text(point.x)}, {upName(axes).full, text(point.y)}}, {}};
        for (const MapMachine machine : mapMachines)
            if (model_.enabled(machine))
                all.second.emplace_back(titleOf(machine),
                                        endingText(picture.job, model_.side(machine).grid.outcome(probed())));
        return all;
    }

    // Beside the pointer, where no panel says it.
    void explainHovered(Ui& ui) {
        if (!hovered_ || ui.detailPanel) return;
        auto [values, endings] = probedText();
        values.insert(values.end(), endings.begin(), endings.end());
        ui.detail({.title = "Network under the pointer", .values = values});
    }

    // Side by side, or where the window is narrow, one above the other.
    void drawPanes(Ui& ui, float height) {
        const MapPixel marked = hovered_ ? MapPixel(hovered_->pixel) : std::nullopt;
        hovered_.reset();
        const float width = ImGui::GetContentRegionAvail().x;
        const float gap = ui.px(10);
        const bool both = model_.enabled(MapMachine::cpu);
        const bool beside = width > 0.9f * height;
        // A picture of its own size or form may need less; one that is to fit takes all there is.
        if (beside && both && (model_.settings().resolution > 0 || model_.keepsForm()))
            height = std::min(height, MapPane::heightFor(ui, model_, (width - gap) / 2));
        const ImVec2 half = beside ? ImVec2{(width - gap) / 2, height}
                                   : ImVec2{width, (height - ImGui::GetStyle().ItemSpacing.y) / 2};
        for (MapPane& pane : panes_) {
            if (!model_.enabled(pane.machine())) continue;
            if (beside && pane.machine() == MapMachine::cpu) ImGui::SameLine(0, gap);
            const auto pixel = pane.draw(ui, model_, marked, both ? half : ImVec2{width, height});
            if (pixel && !hovered_) hovered_ = {pane.machine(), *pixel};
        }
    }

    // A question, and once the picture is whole its answer.
    std::string titleText(const Ui& ui) const {
        if (!survey_) return std::string(translated("Every pixel is a network. Which ones learn?"));
        const std::string learn =
            translatedFormat("{:.0f} % of the networks converge", 100 * (1 - survey_->divergedShare));
        const std::string speed = ui.masked ? "" : mapSpeedText(model_);
        return speed.empty() ? learn : learn + "; " + speed;
    }

    // One sentence: how far the map is, and what can be done with it.
    std::string hint() const {
        if (preview_ && previewed() > 0)
            return translatedFormat("Preview: {} of {} networks. Run trains them all.", grouped(previewed()),
                                    grouped(model_.size().pixels()));
        if (!model_.running() && !model_.complete()) return "Press Run to train a network for every pixel.";
        return "Zoom with the wheel or a double click; drag to pan.";
    }

    // How far the machines agree, once that is known; until then `otherwise`.
    void drawRemark(Ui& ui, const std::string& otherwise) {
        if (model_.closest()) {
            ui.paragraph(
                "The zoom ends here: any closer, neighbouring pixels would round to the same fp32 numbers.",
                ui.theme.warning);
            return;
        }
        // How many networks ended the same way, in large letters where there is room.
        const auto agreement = model_.agreement();
        if (agreement && agreement->both > 0 && ImGui::GetContentRegionAvail().y >= ui.px(56)) {
            ImGui::Dummy({0, ui.px(4)});
            ui.text(percent(agreement->share()), 0, ui.fonts.headline);
            ImGui::SameLine(0, ui.px(14));
        }
        const std::string text(translated(agreement ? agreementText(*agreement) : otherwise));
        const float room = ImGui::GetContentRegionAvail().x;
        const float spare = ImGui::GetContentRegionAvail().y / ImGui::GetTextLineHeight();
        const float lines =
            ImGui::CalcTextSize(text.c_str(), nullptr, false, room).y / ImGui::GetTextLineHeight();
        const ImU32 colour = model_.complete() ? ui.theme.text : ui.theme.muted;
        if (lines <= std::max(remarkLines(ui), spare))
            ui.paragraph(text, colour);
        else // its first sentence says it, too
            ui.text(fittedText(std::string_view(text).substr(0, text.find(". ")), room), colour);
    }

    struct Hovered {
        MapMachine machine;
        std::uint32_t pixel;
    };

    // Where the map was looked at has a history of its own: only an edit that moved the window moves it back.
    void restore(MapSettings wanted, const MapSettings& other) {
        if (wanted.window == other.window) wanted.window = model_.settings().window;
        model_.change(wanted);
    }
    static bool sameButWindow(MapSettings a, const MapSettings& b) {
        a.window = b.window;
        return a == b;
    }

    MapModel model_;
    ValueHistory<MapSettings> edits_{
        [this] { return model_.settings(); },
        [this](const MapSettings& wanted, const MapSettings& other) { restore(wanted, other); },
        sameButWindow};
    std::array<MapPane, 2> panes_{MapPane(MapMachine::gpu), MapPane(MapMachine::cpu)};
    std::optional<Hovered> hovered_; // in the last frame
    std::optional<MapSurvey> survey_;
    std::optional<Preview> preview_;
    MapProbe probe_;
    MapControls controls_;
    Plot lossPlot_;
};

} // namespace

std::unique_ptr<Exhibit> makeMap() { return std::make_unique<MapExhibit>(); }

} // namespace lockstep::demos
