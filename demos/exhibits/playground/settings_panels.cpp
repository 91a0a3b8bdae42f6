// The playground's settings: the points that the network learns in the first column, training in a row above.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"
#include "demos/kit/run_form.h"

namespace lockstep::demos {

namespace {

void furtherFields(RunForm& form, PlaygroundSettings& settings) {
    form.moments(settings.train.optimizer);
    form.schedule(settings.train.optimizer);
    if (settings.allowsOutputActivation()) form.outputActivation(settings.outputActivation);
    form.init(settings.init);
    form.seed(settings.train.seed);
    form.shuffle(settings.train.shuffle);
    std::vector<std::string> names = rungNames();
    names.insert(names.begin(), "automatic");
    std::string lane = settings.lane.empty() ? names[0] : settings.lane;
    form.lane("lane", "Trains on", lane, names);
    settings.lane = lane == names[0] ? "" : lane;
}

constexpr std::size_t thumbnailsPerRow = 4;
constexpr std::size_t thumbnailPoints = 60;

/// In the order of Points2d.
constexpr const char* descriptions[] = {
    "A disc inside a ring.",
    "Class by the sign of x times y.",
    "Two clouds, separable by a straight line.",
    "Two intertwined arms: the hard one.",
    "Regression: values rise with x + y.",
    "Regression: six bumps, up and down.",
    "Two interlocking half circles.",
    "Squares of alternating classes.",
    "Three classes on three circles.",
    "Three arms, one turn each.",
    "Five bent arms.",
    "Five clouds on a circle.",
};
static_assert(std::size(descriptions) == points2dNames.size());

/// A square to press, which `draw(low, high, pressed)` fills, unless a teacher has hidden it.
template <class Draw> void drawTile(Ui& ui, const std::string& control, float size, Draw draw) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + size, low.y + size};
    if (ui.hidden(control.c_str())) {
        ImGui::Dummy({size, size});
        return;
    }
    const bool pressed = ui.tile(control.c_str(), {size, size});
    ImGui::GetWindowDrawList()->AddRectFilled(
        low, high, ImGui::IsItemHovered() ? ui.theme.hovered : ui.theme.raised, ui.px(5));
    draw(low, high, pressed);
}

void frameTile(const Ui& ui, ImVec2 low, ImVec2 high) {
    ImGui::GetWindowDrawList()->AddRect(low, high, ui.theme.text, ui.px(5), 0, ui.line(2));
}

void drawThumbnail(const PlaygroundParts& parts, Points2d set, ImVec2 low, float size) {
    const float dot = std::max(1.0f, std::round(size / 22));
    for (std::size_t i = 0; i < thumbnailPoints; ++i) {
        const LabelledPoint point = point2d(set, 1, i, 0);
        const float x = low.x + size * (0.5f + point.x / (2.2f * planeReach));
        const float y = low.y + size * (0.5f - point.y / (2.2f * planeReach));
        ImGui::GetWindowDrawList()->AddRectFilled({x - dot, y - dot}, {x + dot, y + dot},
                                                  pointColour(parts.ui.theme, points2dClasses(set), point));
    }
}

void drawThumbnails(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    const float gap = ui.px(4);
    const float size =
        std::floor((ImGui::GetContentRegionAvail().x - gap * (thumbnailsPerRow - 1)) / thumbnailsPerRow);
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
    for (std::size_t i = 0; i < points2dNames.size(); ++i) {
        if (i % thumbnailsPerRow != 0) ImGui::SameLine();
        const std::string name(points2dNames[i]);
        drawTile(ui, "data/" + name, size, [&](ImVec2 low, ImVec2 high, bool pressed) {
            ui.explainItem({.title = name, .text = descriptions[i]});
            drawThumbnail(parts, static_cast<Points2d>(i), low, size);
            const bool chosen = parts.model.settings().data == name;
            if (chosen) frameTile(ui, low, high);
            if (!pressed || chosen) return;
            parts.model.edit([&name](PlaygroundSettings& settings) { settings.data = name; });
            parts.view.drawing = false;
        });
    }
    ImGui::PopStyleVar();
}

void drawOwnPoints(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    const bool own = parts.model.settings().data == ownData;
    const auto startDrawing = [&parts] {
        parts.view.drawing = true;
        parts.view.answer = mapAnswer;
    };
    const bool drawing = own && parts.view.drawing;
    if (ui.toggle(parts.view.drawing ? "Drawing##draw" : "Draw##draw", drawing)) {
        if (drawing)
            parts.view.drawing = false;
        else
            startDrawing();
        parts.model.edit([](PlaygroundSettings& settings) { settings.data = ownData; });
    }
    ui.explainItem(
        {.title = "Your own points",
         .text = "Click or drag on the map to add points. Keys 1 to 9 choose the class, the right button "
                 "removes points. You can also drop a CSV file with x, y and a class or value."});
    ImGui::SameLine();
    if (own) {
        if (!ui.button("Clear##own", !parts.model.settings().own.empty())) return;
        parts.model.edit([](PlaygroundSettings& settings) {
            settings.own.clear();
            settings.ownValues = false;
        });
    } else if (ui.button("Edit##own")) {
        // The points shown become the user's, to add to and remove from.
        const std::vector<PlanePoint> shown = parts.model.points();
        parts.model.edit([&shown](PlaygroundSettings& settings) {
            settings.ownValues = settings.classes() == 0;
            settings.own.clear();
            for (const PlanePoint& point : std::span(shown).first(std::min(shown.size(), mostOwnPoints)))
                settings.own.push_back(point.at);
            settings.data = ownData;
        });
        startDrawing();
    }
}

void drawSliders(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    const bool own = settings.data == ownData;
    bool changed = false;
    ImGui::PushItemWidth(-1);
    if (!own) {
        auto noise = static_cast<float>(settings.noise);
        if (ui.slider("##noise", noise, 0, 0.8f, "Noise %.2f")) {
            settings.noise = std::clamp(static_cast<double>(noise), 0.0, 0.8);
            changed = true;
        }
        changed |= countSlider(ui, "##samples", settings.samples, 20, 20000, "%.0f points");
    }
    auto share = static_cast<float>(settings.trainShare * 100);
    if (ui.slider("##train share", share, 10, 90, "%.0f %% to train")) {
        settings.trainShare = std::clamp(std::round(static_cast<double>(share)) / 100, 0.1, 0.9);
        changed = true;
    }
    changed |= countSlider(ui, "##batch", settings.train.batch, 1, playgroundLimits.batch, "Batch %.0f");
    ImGui::PopItemWidth();
    if (ui.button("New points##regenerate", !own)) {
        ++settings.dataSeed;
        changed = true;
    }
    if (changed) parts.model.change(settings);
}

void drawClasses(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    ui.muted("Class (keys 1-9)");
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(3), ui.px(4)});
    const float size = std::floor((ImGui::GetContentRegionAvail().x - ui.px(12)) / 5);
    for (std::size_t i = 0; i < mostOwnClasses; ++i) {
        if (i % 5 != 0) ImGui::SameLine();
        drawTile(ui, fmt::format("class/{}", i + 1), size, [&](ImVec2 low, ImVec2 high, bool pressed) {
            if (pressed) parts.view.drawnClass = static_cast<std::uint32_t>(i);
            const float in = size * 0.22f;
            parts.pictures.mark(i, false).draw({low.x + in, low.y + in}, {high.x - in, high.y - in},
                                               classColour(ui.theme, i));
            if (parts.view.drawnClass == i) frameTile(ui, low, high);
        });
    }
    ImGui::PopStyleVar();
}

} // namespace

void drawSettingsBar(const PlaygroundParts& parts, bool everything) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    RunForm form(ui, "");
    form.activation(settings.activation);
    Loss loss = settings.effectiveLoss();
    form.loss(loss, settings.classes() == 0 ? valueLosses : allLosses);
    if (loss != settings.effectiveLoss()) settings.loss = loss;
    form.optimizer(settings.train.optimizer);
    form.rate(settings.train.optimizer);
    form.regularisation(settings.train.optimizer);
    bool changed = false;
    if (everything)
        furtherFields(form, settings);
    else
        form.popup("Settings##playground", [&] {
            RunForm further(ui, "");
            furtherFields(further, settings);
            further.end();
            ui.paragraph("Initial weights and seed take effect at the next Reset.", ui.theme.muted);
            changed = further.changed();
        });
    form.end();
    if (changed || form.changed()) parts.model.change(settings);
}

void drawDataPanel(const PlaygroundParts& parts) {
    parts.ui.heading("Data");
    drawThumbnails(parts);
    drawOwnPoints(parts);
    const PlaygroundSettings& settings = parts.model.settings();
    const bool classes = parts.view.drawing && settings.data == ownData && !settings.ownValues;
    if (classes && parts.pictures.fit(parts.model)) drawClasses(parts);
    drawSliders(parts);
}

} // namespace lockstep::demos
