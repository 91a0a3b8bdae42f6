// The playground's settings: the points that the network learns in the first column, training in a row above.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"
#include "demos/kit/run_form.h"

namespace lockstep::demos {

namespace {

void lossField(RunForm& form, PlaygroundSettings& settings) {
    Loss loss = settings.effectiveLoss();
    form.loss(loss, settings.classes() == 0 ? valueLosses : allLosses);
    if (loss != settings.effectiveLoss()) settings.loss = loss;
}

void commonFields(RunForm& form, PlaygroundSettings& settings) {
    form.activation(settings.activation);
    lossField(form, settings);
    form.optimizer(settings.train.optimizer);
    form.rate(settings.train.optimizer);
    form.regularisation(settings.train.optimizer);
}

void laneField(RunForm& form, PlaygroundSettings& settings) {
    const std::string automatic = "automatic";
    std::vector<std::string> names = rungNames();
    names.insert(names.begin(), automatic);
    std::string lane = settings.lane.empty() ? automatic : settings.lane;
    form.lane("lane", "Trains on", lane, names);
    settings.lane = lane == automatic ? "" : lane;
}

void furtherFields(RunForm& form, PlaygroundSettings& settings) {
    form.moments(settings.train.optimizer);
    form.schedule(settings.train.optimizer);
    if (settings.allowsOutputActivation()) form.outputActivation(settings.outputActivation);
    form.init(settings.init);
    form.seed(settings.train.seed);
    form.shuffle(settings.train.shuffle);
    laneField(form, settings);
}

} // namespace

void drawSettingsBar(const PlaygroundParts& parts, bool everything) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    RunForm form(ui, "");
    commonFields(form, settings);
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

namespace {

constexpr std::size_t thumbnailsPerRow = 4;
constexpr std::size_t thumbnailPoints = 60;

const char* describe(std::string_view set) {
    if (set == "circle") return "A disc inside a ring.";
    if (set == "xor") return "Class by the sign of x times y.";
    if (set == "gauss") return "Two clouds, separable by a straight line.";
    if (set == "spiral") return "Two intertwined arms: the hard one.";
    if (set == "plane") return "Values instead of classes: they rise with x + y.";
    if (set == "multi-gauss") return "Values instead of classes: six bumps, up and down.";
    if (set == "moons") return "Two interlocking half circles.";
    if (set == "checkerboard") return "Squares of alternating classes.";
    if (set == "rings") return "Three classes on three circles.";
    if (set == "spiral3") return "Three arms, one turn each.";
    if (set == "pinwheel") return "Five bent arms.";
    return "Five clouds on a circle.";
}

void drawThumbnail(const PlaygroundParts& parts, Points2d set, ImVec2 low, float size) {
    const Theme& theme = parts.ui.theme;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    PlaygroundSettings settings;
    settings.data = points2dNames[static_cast<std::size_t>(set)];
    const float dot = std::max(1.0f, std::round(size / 22));
    for (std::size_t i = 0; i < thumbnailPoints; ++i) {
        const LabelledPoint point = point2d(set, 1, i, 0);
        const float x = low.x + size * (0.5f + point.x / (2.2f * planeReach));
        const float y = low.y + size * (0.5f - point.y / (2.2f * planeReach));
        draw.AddRectFilled({x - dot, y - dot}, {x + dot, y + dot}, pointColour(theme, settings, point));
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
        const std::string control = "data/" + name;
        const ImVec2 low = ImGui::GetCursorScreenPos();
        const ImVec2 high{low.x + size, low.y + size};
        if (ui.hidden(control.c_str())) {
            ImGui::Dummy({size, size});
            continue;
        }
        const bool pressed = ui.tile(control.c_str(), {size, size});
        ui.explainItem({.title = name, .formula = {}, .values = {}, .text = describe(name)});
        const bool chosen = parts.model.settings().data == name;
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.AddRectFilled(low, high, ImGui::IsItemHovered() ? ui.theme.hovered : ui.theme.raised, ui.px(5));
        drawThumbnail(parts, static_cast<Points2d>(i), low, size);
        if (chosen) draw.AddRect(low, high, ui.theme.text, ui.px(5), 0, ui.line(2));
        if (!pressed || chosen) continue;
        PlaygroundSettings settings = parts.model.settings();
        settings.data = name;
        parts.model.change(settings);
        parts.view.drawing = false;
    }
    ImGui::PopStyleVar();
}

void drawOwnPoints(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    const bool own = parts.model.settings().data == ownData;
    if (ui.toggle(parts.view.drawing ? "Drawing##draw" : "Draw##draw", own && parts.view.drawing)) {
        PlaygroundSettings settings = parts.model.settings();
        parts.view.drawing = !(own && parts.view.drawing);
        if (parts.view.drawing) parts.view.answer = AnswerView::map;
        settings.data = ownData;
        parts.model.change(settings);
    }
    ui.explainItem(
        {.title = "Your own points",
         .formula = {},
         .values = {},
         .text = "Click or drag on the map to add points. Keys 1 to 9 choose the class, the right button "
                 "removes points. You can also drop a CSV file with x, y and a class or value."});
    ImGui::SameLine();
    if (own) {
        if (!ui.button("Clear##own", !parts.model.settings().own.empty())) return;
        PlaygroundSettings settings = parts.model.settings();
        settings.own.clear();
        settings.ownValues = false;
        parts.model.change(settings);
    } else if (ui.button("Edit##own")) {
        // The points shown become the user's, to add to and remove from.
        PlaygroundSettings settings = parts.model.settings();
        settings.ownValues = settings.classes() == 0;
        settings.own.clear();
        const std::size_t most = std::min(parts.model.points().size(), mostOwnPoints);
        for (std::size_t i = 0; i < most; ++i) settings.own.push_back(parts.model.points()[i].at);
        settings.data = ownData;
        parts.model.change(settings);
        parts.view.drawing = true;
        parts.view.answer = AnswerView::map;
    }
}

void drawSliders(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    PlaygroundSettings settings = parts.model.settings();
    const bool own = settings.data == ownData;
    bool changed = false;
    const auto wide = [] { ImGui::SetNextItemWidth(-1); };
    auto noise = static_cast<float>(settings.noise);
    wide();
    if (!own && ui.slider("##noise", noise, 0, 0.8f, "Noise %.2f")) {
        settings.noise = std::clamp(static_cast<double>(noise), 0.0, 0.8);
        changed = true;
    }
    auto samples = static_cast<float>(settings.samples);
    if (!own) wide();
    if (!own && ui.logSlider("##samples", samples, 20, 20000, "%.0f points")) {
        settings.samples = static_cast<std::size_t>(std::lround(std::clamp(samples, 20.0f, 20000.0f)));
        changed = true;
    }
    auto share = static_cast<float>(settings.trainShare * 100);
    wide();
    if (ui.slider("##train share", share, 10, 90, "%.0f %% to train")) {
        settings.trainShare = std::clamp(std::round(static_cast<double>(share)) / 100, 0.1, 0.9);
        changed = true;
    }
    auto batch = static_cast<float>(settings.train.batch);
    wide();
    constexpr auto mostBatch = static_cast<float>(playgroundLimits.batch);
    if (ui.logSlider("##batch", batch, 1, mostBatch, "Batch %.0f")) {
        settings.train.batch = static_cast<std::size_t>(std::lround(std::clamp(batch, 1.0f, mostBatch)));
        changed = true;
    }
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
        const std::string control = fmt::format("class/{}", i + 1);
        const ImVec2 low = ImGui::GetCursorScreenPos();
        const ImVec2 high{low.x + size, low.y + size};
        if (ui.hidden(control.c_str())) {
            ImGui::Dummy({size, size});
            continue;
        }
        if (ui.tile(control.c_str(), {size, size})) parts.view.drawnClass = static_cast<std::uint32_t>(i);
        ImDrawList& draw = *ImGui::GetWindowDrawList();
        draw.AddRectFilled(low, high, ImGui::IsItemHovered() ? ui.theme.hovered : ui.theme.raised, ui.px(5));
        const PicturePart mark = parts.pictures.mark(i, false);
        const float in = size * 0.22f;
        draw.AddImage(mark.picture, {low.x + in, low.y + in}, {high.x - in, high.y - in}, mark.from, mark.to,
                      classColour(ui.theme, i));
        if (parts.view.drawnClass == i) draw.AddRect(low, high, ui.theme.text, ui.px(5), 0, ui.line(2));
    }
    ImGui::PopStyleVar();
}

} // namespace

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
