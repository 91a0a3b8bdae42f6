// The mosaic: thousands of networks learn the same data, all at once on one side, one after another on the
// other.

#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/draw/theme.h"
#include "demos/exhibits/mosaic/mosaic_measured.h"
#include "demos/exhibits/mosaic/mosaic_verdict.h"
#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/kit/exhibit.h"
#include "demos/words/text.h"
#include "engine/files/json_field.h"

namespace lockstep::demos {

namespace {

constexpr double fadeSpeed = 7; // of the axes' marks: the share of their way, per second
constexpr float flightSeconds = 0.9f;
enum Page : std::size_t { mosaicPage, lossesPage, networkPage, settingsPage, pageCount };

class MosaicExhibit final : public Exhibit {
  public:
    std::string_view id() const override { return "mosaic"; }
    const char* title() const override { return "Mosaic"; }
    const char* blurb() const override { return "A thousand networks at once"; }
    const char* words() const override {
        return "Trains a grid of networks with different hyperparameters at the same time.";
    }

    void drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const override {
        // Nine tiles, some of which have learned more.
        const float cell = size / 3;
        for (int i = 0; i < 9; ++i) {
            const float x = centre.x + (static_cast<float>(i % 3) - 1.5f) * cell;
            const float y = centre.y + (static_cast<float>(i / 3) - 1.5f) * cell;
            const float strength = 0.35f + 0.65f * static_cast<float>((i * 5 + 3) % 9) / 8;
            const float in = size / 24;
            draw.AddRectFilled({x + in, y + in}, {x + cell - in, y + cell - in}, faded(colour, strength),
                               size / 24);
        }
    }

    void update(Ui& ui) override {
        pictures_.beginFrame(model_);
        if (dark_ != ui.theme.dark) model_.setColours(planeColours(ui.theme));
        dark_ = ui.theme.dark;
        view_.hovered.reset();
        model_.update(ui.machines, ui.delta, ui.scripted);
        view_.rank = std::min(view_.rank, model_.members() - 1); // there may be fewer than before
        if (std::string failure = model_.takeFailure(); !failure.empty())
            ui.say(Severity::error, std::move(failure));
        pictures_.update(ui, model_);
        arrange(ui);
        flyBest(ui);
        if (std::optional<std::string> state = model_.takeOpened())
            ui.exhibitWish = {"playground", std::move(*state)};
    }

    void draw(Ui& ui) override {
        const ImVec2 room = ImGui::GetContentRegionAvail();
        if (room.x >= ui.px(640) && room.y >= ui.px(520))
            drawWide(ui);
        else
            drawPages(ui);
        drawHoveredTile(panel(ui));
    }

    void drawDetails(Ui& ui) override {
        ui.heading("Mosaic");
        const PopulationSpec& spec = model_.spec();
        const char* const tiles = view_.planes
                                      ? "Every tile is a network and shows what it predicts over the plane."
                                      : "Every tile is a network, coloured by its loss: the brighter, the "
                                        "lower. Point at one to see what it predicts.";
        if (!ui.lessonShown)
            ui.paragraph(
                translatedFormat("{} All learn the same data; {} and {} differ. The best network has a "
                                 "green frame, the selected one a plain one.",
                                 translated(tiles), translated(hyperparameterLabel(spec.x.parameter)),
                                 translated(hyperparameterLabel(spec.y.parameter))));
        if (model_.grid() != nullptr) ui.paragraph(sharedText(*model_.grid()));
        for (const MosaicSide& side : model_.sides()) {
            ui.heading(sideName(side));
            if (!side.shot) continue;
            ui.row("finished",
                   translatedFormat("{} of {}", grouped(side.shot->summary.finished), grouped(spec.size())));
            ui.row("of those, diverged", grouped(side.shot->summary.diverged));
        }
        if (ui.more("more about the mosaic"))
            ui.paragraph(
                "The GPU advances all networks together, step by step, so they all finish at the end. "
                "The CPU finishes a few networks, then the next few. Here both run at the same time "
                "and may slow each other down; 'lockstep population' times them one after the other.");
    }

    void drawMenu(Ui& ui) override {
        if (ui.menuItem("Sort by loss",
                        "Orders the networks by loss, the lowest first, instead of by hyperparameters.",
                        nullptr, view_.sorted))
            view_.sorted = !view_.sorted;
    }

    bool running() const override { return model_.running(); }
    bool timesProcessor() const override {
        return running() &&
               std::ranges::any_of(model_.sides(), [](const MosaicSide& side) { return !side.spec.gpu; });
    }
    std::uint64_t trainedExamples() const override {
        std::uint64_t steps = 0;
        for (const MosaicSide& side : model_.sides())
            if (side.shot) steps += side.shot->summary.networkSteps;
        return steps * model_.spec().train.batch;
    }
    void run(Ui&) override { model_.run(); }
    void pause() override { model_.pause(); }
    bool canStep(StepUnit unit) const override { return unit != StepUnit::kernel; }
    void step(Ui&, StepUnit unit) override {
        model_.step(unit == StepUnit::epoch ? model_.stepsPerEpoch() : 1);
    }
    void reset(Ui&) override { model_.reset(); }
    void reroll(Ui&) override { model_.reroll(); }
    void setSpeed(Speed speed) override { model_.setRate(speed); }
    void preview(Ui&) override {
        const auto begun = [](const MosaicSide& side) { return side.shot && side.shot->summary.begun > 0; };
        if (std::ranges::none_of(model_.sides(), begun)) model_.preview();
    }
    EditHistory& edits() override { return edits_; }
    bool moving() const override {
        const auto moves = [](const TileOrder& order) { return order.moving(); };
        const bool fading = view_.marks != (view_.sorted ? 0.0f : 1.0f);
        return running() || model_.busy() || fading || view_.flight < MosaicView::landed ||
               std::ranges::any_of(view_.order, moves);
    }

    void measured(MeasuredValues& values) const override { addMeasured(values, model_); }
    nlohmann::ordered_json state() const override {
        nlohmann::ordered_json json = toJson(model_.settings());
        json["view"] = {{"page", view_.page},
                        {"side", view_.side},
                        {"rank", std::min(view_.rank, model_.members() - 1)},
                        {"sorted", view_.sorted},
                        {"settings_shown", view_.settingsShown}};
        json["plot"] = plot_.state();
        return json;
    }

    std::function<void()> readState(const nlohmann::ordered_json& state) override {
        if (!state.is_object()) throw std::invalid_argument("the state of 'mosaic' must be an object");
        nlohmann::ordered_json json = state;
        const auto none = nlohmann::ordered_json::object();
        const nlohmann::ordered_json view = json.value("view", none);
        Plot plot;
        plot.setState(json.value("plot", none));
        json.erase("view");
        json.erase("plot");
        const MosaicSettings settings = mosaicSettingsFromJson(json);
        const MosaicChoice choice{
            jsonValueOr(view, "page", std::size_t{0}), jsonValueOr(view, "side", std::size_t{0}),
            jsonValueOr(view, "rank", std::size_t{0}), jsonValueOr(view, "sorted", false),
            jsonValueOr(view, "settings_shown", false)};
        if (choice.page >= pageCount || choice.side >= MosaicView::mostSides ||
            choice.rank >= settings.population.size())
            throw std::invalid_argument("a field of 'view' in 'mosaic' is too large");
        return [this, settings, grid = MosaicModel::gridOf(settings), plot, choice] {
            model_.change(settings, grid);
            model_.reset(); // a state begins at the start, also where these networks have been trained before
            plot_ = plot;
            static_cast<MosaicChoice&>(view_) = choice;
        };
    }

    std::string releaseDevice() override {
        pictures_.release();
        return model_.releaseDevice() ? "The mosaic starts over." : "";
    }

  private:
    MosaicPanel panel(Ui& ui) { return {ui, model_, view_, pictures_}; }

    void arrange(Ui& ui) {
        const PopulationSpec& spec = model_.spec();
        for (std::size_t i = 0; i < model_.sides().size(); ++i) {
            const MosaicSide& side = model_.sides()[i];
            std::span<const std::uint32_t> ranking;
            if (view_.sorted && side.shot) ranking = side.shot->summary.ranking;
            view_.order[i].aim(spec.columns, spec.size(), ranking);
            view_.order[i].update(ui.delta, ui.scripted);
        }
        const float aim = view_.sorted ? 0.0f : 1.0f;
        const float share = ui.scripted ? 1.0f : static_cast<float>(1 - std::exp(-fadeSpeed * ui.delta));
        view_.marks += share * (aim - view_.marks);
        if (std::abs(view_.marks - aim) < 0.01f) view_.marks = aim;
    }

    // The best network flies to its card once all have been trained.
    void flyBest(Ui& ui) {
        const bool over = model_.over();
        if (over && !view_.over) {
            view_.rank = 0;
            view_.flight = ui.scripted ? MosaicView::landed : 0.0f;
        }
        view_.over = over;
        view_.flight =
            std::min(MosaicView::landed, view_.flight + static_cast<float>(ui.delta) / flightSeconds);
    }

    // Both mosaics, and the summary; the settings as far as they are wanted.
    void drawWide(Ui& ui) {
        const std::string verdict = mosaicVerdict(model_);
        ui.headline(verdict.empty() ? translatedFormat("{} networks with different settings. Which ones win?",
                                                       grouped(model_.members()))
                                    : verdict);
        if (!verdict.empty() && !ui.masked) ui.paragraph(mosaicEvidence(model_), ui.theme.muted);
        drawMosaicBar(panel(ui));
        if (view_.settingsShown) model_.change(drawMosaicSettings(panel(ui), false));
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float gap = ui.px(10);
        const float lower = std::clamp(room.y * 0.25f, ui.px(176), ui.px(280));
        const float column = std::clamp(room.x * 0.18f, ui.px(204), ui.px(300));
        const auto sides = static_cast<float>(std::max<std::size_t>(model_.sides().size(), 1));
        const ImVec2 around{ui.px(54), ui.px(140)}; // a mosaic: axes, edges, and its machine's lines
        const float gaps = (sides - 1) * gap;
        const float beside = ((room.x - column - gap - gaps) / sides - around.x) * (room.y - around.y);
        const float above = ((room.x - gaps) / sides - around.x) * (room.y - lower - gap - around.y);
        if (beside > above) { // the tiles are larger with the summary on the right
            const ImVec2 start = ImGui::GetCursorScreenPos();
            drawSides(ui, {room.x - column - gap, room.y});
            ImGui::SetCursorScreenPos({start.x + room.x - column, start.y});
            drawSummaryColumn(ui, {column, room.y});
        } else {
            drawSides(ui, {room.x, room.y - lower - ImGui::GetStyle().ItemSpacing.y});
            drawSummary(ui, lower);
        }
        drawFlight(panel(ui), view_.cardCorner, view_.cardTile);
    }

    // One panel at a time, for small windows and large text.
    void drawPages(Ui& ui) {
        const std::string names[] = {"Mosaic", "Losses", "Network", "Settings"};
        ui.segments("##mosaic/page", "Which part is shown where the window has no room for all.", view_.page,
                    names);
        const ImVec2 room = ImGui::GetContentRegionAvail();
        const float gap = ImGui::GetStyle().ItemSpacing.x;
        if (view_.page == lossesPage) {
            if (room.x >= ui.px(420)) {
                drawLossMap(panel(ui), {room.x * 0.4f, room.y});
                ImGui::SameLine(0, gap);
            }
            drawLossSpread(panel(ui), plot_, {0, room.y});
        } else if (view_.page == networkPage) {
            drawNetworkCard(panel(ui), room);
        } else if (view_.page == settingsPage) {
            ImGui::BeginChild("settings", room);
            const MosaicSettings wanted = drawMosaicSettings(panel(ui), true);
            ImGui::EndChild(); // before anything is thrown
            model_.change(wanted);
        } else {
            drawMosaicLegendRow(panel(ui));
            const ImVec2 corner = ImGui::GetCursorScreenPos();
            const ImVec2 rest = ImGui::GetContentRegionAvail();
            const float tile = std::min(rest.x, rest.y) / 2;
            drawSides(ui, rest);
            drawFlight(panel(ui), {corner.x + (rest.x - tile) / 2, corner.y + (rest.y - tile) / 2}, tile,
                       true);
        }
    }

    // Side by side, or one above the other where the window is narrow.
    void drawSides(Ui& ui, ImVec2 size) {
        const std::size_t count = model_.sides().size();
        if (count == 0) return;
        const float gap = ui.px(10);
        const bool beside = size.x >= size.y;
        const float gaps = gap * static_cast<float>(count - 1);
        const ImVec2 one = beside ? ImVec2{(size.x - gaps) / static_cast<float>(count), size.y}
                                  : ImVec2{size.x, (size.y - gaps) / static_cast<float>(count)};
        for (std::size_t i = 0; i < count; ++i) {
            if (beside && i > 0) ImGui::SameLine(0, gap);
            drawMosaicSide(panel(ui), i, one);
        }
    }

    void drawSummary(Ui& ui, float height) {
        const float gap = ui.px(10);
        float room = ImGui::GetContentRegionAvail().x - gap;
        if (view_.planes) { // else the mosaic shows the losses itself
            room -= gap;
            drawLossMap(panel(ui), {room * 0.22f, height});
            ImGui::SameLine(0, gap);
            room *= 0.78f;
        }
        drawLossSpread(panel(ui), plot_, {room * 0.45f, height});
        ImGui::SameLine(0, gap);
        drawNetworkCard(panel(ui), {room * 0.55f, height});
    }

    void drawSummaryColumn(Ui& ui, ImVec2 size) {
        ImGui::BeginGroup();
        const float gap = ImGui::GetStyle().ItemSpacing.y;
        const float network = std::min(size.x + ui.px(192), size.y * (view_.planes ? 0.48f : 0.64f));
        float room = size.y - network - gap;
        if (view_.planes) { // else the mosaic shows the losses itself
            const float map = room * 0.56f;
            drawLossMap(panel(ui), {size.x, map});
            room -= map + gap;
        }
        drawLossSpread(panel(ui), plot_, {size.x, room});
        drawNetworkCard(panel(ui), {size.x, network});
        ImGui::EndGroup();
    }

    MosaicModel model_;
    ValueHistory<MosaicSettings> edits_{
        [this] { return model_.settings(); },
        [this](const MosaicSettings& wanted, const MosaicSettings&) { model_.change(wanted); }};
    MosaicView view_;
    MosaicPictures pictures_;
    Plot plot_;
    std::optional<bool> dark_; ///< of the tiles' colours
};

} // namespace

std::unique_ptr<Exhibit> makeMosaic() { return std::make_unique<MosaicExhibit>(); }

} // namespace lockstep::demos
