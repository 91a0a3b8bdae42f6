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

/// The fields of the points, which are needed less often than others.
void dataFields(Ui& ui, RunForm& form, PlaygroundSettings& settings) {
    if (settings.data != ownData) {
        form.noise(settings.noise);
        form.add("samples", "Points", 110, [&](const char* control) {
            return countSlider(ui, control, samplesWords, settings.samples, 20, 20000);
        });
    }
    form.add("train share", "Training share", 110, [&](const char* control) {
        auto share = static_cast<float>(settings.trainShare * 100);
        if (!ui.slider(control, "The share of the points to train on, in %. The rest measures the test loss.",
                       share, 10, 90, "%.0f %%"))
            return false;
        settings.trainShare = std::clamp(std::round(static_cast<double>(share)) / 100, 0.1, 0.9);
        return true;
    });
    if (settings.data == ownData) return;
    form.add("regenerate", "", 80, [&](const char*) {
        const bool pressed = ui.button("New points##regenerate", "Generates other points of the same kind.");
        settings.dataSeed += pressed ? 1 : 0;
        return pressed;
    });
}

void furtherFields(Ui& ui, RunForm& form, PlaygroundSettings& settings) {
    dataFields(ui, form, settings);
    form.newRow();
    form.add("batch", "Batch", 110, [&](const char* control) {
        return countSlider(ui, control, batchWords, settings.train.batch, 1, playgroundLimits.batch);
    });
    form.moments(settings.train.optimizer);
    form.schedule(settings.train.optimizer);
    if (settings.allowsOutputActivation()) form.outputActivation(settings.outputActivation);
    form.init(settings.init);
    form.seed(settings.train.seed);
    form.shuffle(settings.train.shuffle);
    std::vector<std::string> names = rungNames();
    names.insert(names.begin(), "automatic");
    std::string lane = settings.lane.empty() ? names[0] : settings.lane;
    form.lane("lane", "Trains on", laneWords, lane, names);
    settings.lane = lane == names[0] ? "" : lane;
}

constexpr std::size_t thumbnailsInColumn = 3; // side by side
constexpr std::size_t thumbnailPoints = 26;

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
template <class Draw>
void drawTile(Ui& ui, const std::string& control, std::string_view words, float size, Draw draw) {
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + size, low.y + size};
    const bool pressed = ui.tile(control.c_str(), words, {size, size});
    if (ui.hidden(control.c_str())) return;
    ImGui::GetWindowDrawList()->AddRectFilled(
        low, high, ImGui::IsItemHovered() ? ui.theme.hovered : ui.theme.raised, ui.px(5));
    draw(low, high, pressed);
}

void frameTile(const Ui& ui, ImVec2 low, ImVec2 high) {
    ImGui::GetWindowDrawList()->AddRect(low, high, ui.theme.text, ui.px(5), 0, ui.line(2));
}

void drawThumbnail(const PlaygroundParts& parts, Points2d set, ImVec2 low, float size) {
    if (const PicturePart ground = parts.pictures.dataSet(set); ground.picture)
        ground.draw(low, {low.x + size, low.y + size}, faded(IM_COL32_WHITE, 0.5f), parts.ui.px(5));
    const float dot = std::max(1.5f, size / 24);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < thumbnailPoints; ++i) {
        const LabelledPoint point = point2d(set, 1, i, 0);
        const float x = low.x + size * (0.5f + point.x / (2.2f * planeReach));
        const float y = low.y + size * (0.5f - point.y / (2.2f * planeReach));
        draw.AddCircleFilled({x, y}, dot * 1.45f, IM_COL32_WHITE);
        draw.AddCircleFilled({x, y}, dot, pointColour(parts.ui.theme, points2dClasses(set), point));
    }
}

void drawThumbnails(const PlaygroundParts& parts, std::size_t perRow, float room) {
    Ui& ui = parts.ui;
    const float gap = ui.px(4);
    const auto columns = static_cast<float>(perRow);
    const float size = std::min(ui.px(perRow == thumbnailsInColumn ? 56 : 36),
                                std::floor((room - gap * (columns - 1)) / columns));
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {gap, gap});
    for (std::size_t i = 0; i < points2dNames.size(); ++i) {
        if (i % perRow != 0) ImGui::SameLine();
        const std::string name(points2dNames[i]);
        drawTile(ui, "data/" + name,
                 "A set of points in the plane. The weights stay, and training goes on with the new points.",
                 size, [&](ImVec2 low, ImVec2 high, bool pressed) {
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
    const std::size_t drawn = parts.model.settings().own.size();
    const bool drawing = own && parts.view.drawing;
    if (ui.toggle(parts.view.drawing ? "Drawing##draw" : "Draw##draw",
                  "Lets you draw points on the map; digits choose the class.", drawing)) {
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
        if (!ui.button("Clear##own", "Removes all points that you drew.",
                       !parts.model.settings().own.empty()))
            return;
        parts.model.edit([](PlaygroundSettings& settings) {
            settings.own.clear();
            settings.ownValues = false;
        });
        ui.say(Severity::info, translatedFormat("Removed {} points.", drawn), "Ctrl+Z brings them back.");
    } else if (ui.button("Edit##own", "Copies these points, so that you can add and remove some.")) {
        // The points shown become the user's, to add to and remove from.
        const std::vector<PlanePoint> shown = parts.model.points();
        parts.model.edit([&shown](PlaygroundSettings& settings) {
            settings.ownValues = settings.classes() == 0;
            settings.own.clear();
            for (const PlanePoint& point : std::span(shown).first(std::min(shown.size(), mostOwnPoints)))
                settings.own.push_back(point.at);
            settings.data = ownData;
        });
        if (drawn > 0)
            ui.say(Severity::info, translatedFormat("These points replaced the {} that you had.", drawn),
                   "Ctrl+Z brings them back.");
        startDrawing();
    }
}

// A row where there is room.
void drawClasses(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    ui.muted("Class (keys 1-9)");
    const float room = ImGui::GetContentRegionAvail().x;
    const std::size_t perRow = room > ui.px(400) ? mostOwnClasses : 5;
    if (perRow > 5) ImGui::SameLine();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(3), ui.px(4)});
    const float size = std::min(ui.px(26), std::floor((room - ui.px(12)) / 5));
    for (std::size_t i = 0; i < mostOwnClasses; ++i) {
        if (i % perRow != 0) ImGui::SameLine();
        drawTile(ui, fmt::format("class/{}", i + 1),
                 "The class of the points that you draw next. Its digit on the keyboard chooses it too.",
                 size, [&](ImVec2 low, ImVec2 high, bool pressed) {
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
        furtherFields(ui, form, settings);
    else
        form.popup(
            "More##playground",
            "Opens all other settings: points, batch, optimizer, initial weights, seed and rung.", [&] {
                RunForm further(ui, "");
                furtherFields(ui, further, settings);
                further.end();
                ui.paragraph("Initial weights and seed take effect at the next Reset.", ui.theme.muted);
                changed = further.changed();
            });
    form.end();
    if (changed || form.changed()) parts.model.change(settings);
}

void drawDataPanel(const PlaygroundParts& parts, bool row) {
    if (row) {
        const ImGuiStyle& style = ImGui::GetStyle();
        const float settings = textWidth("Settings") + 2 * style.FramePadding.x;
        const float buttons = settings + textWidth("Drawing") + textWidth("Clear") +
                              4 * style.FramePadding.x + 3 * style.ItemSpacing.x;
        const float room = ImGui::GetContentRegionAvail().x;
        const ImVec2 start = ImGui::GetCursorPos();
        ImGui::BeginGroup();
        drawThumbnails(parts, points2dNames.size(), room - buttons);
        ImGui::EndGroup();
        const float end = ImGui::GetCursorPosY();
        const float lower = (ImGui::GetItemRectSize().y - ImGui::GetFrameHeight()) / 2;
        ImGui::SameLine();
        const float left = ImGui::GetCursorPosX();
        ImGui::SetCursorPos({start.x + room - settings, start.y + lower});
        if (parts.ui.toggle("Settings##playground", settingsWords, parts.view.settingsShown))
            parts.view.settingsShown = !parts.view.settingsShown;
        ImGui::SetCursorPos({left, start.y + lower});
        drawOwnPoints(parts);
        ImGui::SetCursorPosY(end);
    } else {
        parts.ui.heading("Data");
        drawThumbnails(parts, thumbnailsInColumn, ImGui::GetContentRegionAvail().x);
        drawOwnPoints(parts);
    }
    const PlaygroundSettings& settings = parts.model.settings();
    const bool classes = parts.view.drawing && settings.data == ownData && !settings.ownValues;
    if (classes && parts.pictures.fit(parts.model)) drawClasses(parts);
}

} // namespace lockstep::demos
