// The network's answer: its map with the points, where you can draw your own, or a surface, and the numbers.
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostPointsDrawn = 2000;
constexpr float brushUnits = 14; // between points put by dragging
constexpr float graspUnits = 12; // how near the mouse has to be to remove one

void drawMarks(const PlaygroundParts& parts, ImVec2 low, float size, bool test) {
    const std::size_t classes = parts.model.settings().classes();
    const std::vector<PlanePoint>& points = parts.model.points();
    const float half = std::max(2.0f, parts.ui.px(points.size() > 600 ? 3.0f : 4.0f));
    for (const PlanePoint& point : std::span(points).first(std::min(points.size(), mostPointsDrawn))) {
        if (point.test != test) continue;
        const auto [x, y] = onMap(point.at.x, point.at.y, low, size);
        if (x < low.x || y < low.y || x > low.x + size || y > low.y + size) continue;
        parts.pictures.ringedMark(point.at.label, test, {x, y}, half,
                                  pointColour(parts.ui.theme, classes, point.at));
    }
}

/// Adds and erases own points with the mouse while drawing; `at` is the place of the plane under it.
void drawWithMouse(const PlaygroundParts& parts, ImVec2 at, float perPixel) {
    PlaygroundSettings settings = parts.model.settings();
    const auto distance = [at](const LabelledPoint& p) { return std::hypot(p.x - at.x, p.y - at.y); };
    const bool far =
        settings.own.empty() || distance(settings.own.back()) > parts.ui.px(brushUnits) * perPixel;
    const bool put = ImGui::IsMouseClicked(0) || (ImGui::IsMouseDown(0) && far);
    if (put && settings.own.size() < mostOwnPoints) {
        // On a map of values, class 1 puts -1 and class 2 puts 1.
        const float value = parts.view.drawnClass == 0 ? -1.0f : 1.0f;
        settings.own.push_back(
            {at.x, at.y, settings.ownValues ? 0 : parts.view.drawnClass, settings.ownValues ? value : 0});
        parts.model.change(settings);
        return;
    }
    if (!ImGui::IsMouseDown(1) || settings.own.empty()) return;
    const auto nearest = std::ranges::min_element(settings.own, {}, distance);
    if (distance(*nearest) > parts.ui.px(graspUnits) * perPixel) return;
    settings.own.erase(nearest);
    parts.model.change(settings);
}

std::string answerText(const PlaygroundParts& parts) {
    std::string text;
    for (const float output : answerOf(parts.model.shape().loss, valuesAtProbe(parts).back().row(0)))
        text += (text.empty() ? "" : "  ") + translatedFormat("{:.3f}", output);
    return text;
}

void explainMap(const PlaygroundParts& parts) {
    const ImVec2 at = *parts.view.probe;
    const std::size_t classes = parts.model.settings().classes();
    const Loss loss = parts.model.shape().loss;
    const char* const text =
        classes > 2    ? "Colours of the classes, mixed by their probabilities. Hollow marks are test points."
        : classes == 2 ? "Blue: class 1. Orange: class 2. Pale: undecided. Hollow marks are test points."
                       : "Blue: below 0. Orange: above 0. Hollow marks are test points.";
    parts.ui.detail({.title = "Prediction",
                     .formula = loss == Loss::crossEntropy         ? "p = exp(z_c) / (exp(z_1) + … )"
                                : loss == Loss::binaryCrossEntropy ? "p = 1 / (1 + exp(-z))"
                                                                   : "y = f(z)",
                     .values = {{"at", translatedFormat("({:.2f}, {:.2f})", at.x, at.y)},
                                {"output", answerText(parts)},
                                {"step", grouped(parts.model.step())}},
                     .text = text});
}

void drawCross(const PlaygroundParts& parts, ImVec2 low, float size) {
    if (parts.view.shownNeuron || !parts.view.probe) return;
    const auto [x, y] = onMap(parts.view.probe->x, parts.view.probe->y, low, size);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImU32 colour = faded(parts.ui.theme.text, 0.5f);
    draw.AddLine({x, low.y}, {x, low.y + size}, colour, parts.ui.line());
    draw.AddLine({low.x, y}, {low.x + size, y}, colour, parts.ui.line());
}

// A label on the map, on a ground of its own.
void drawTag(const PlaygroundParts& parts, ImVec2 low, const std::string& text) {
    Ui& ui = parts.ui;
    const ImVec2 size = ImGui::CalcTextSize(text.c_str());
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const ImVec2 at{low.x + ui.px(6), low.y + ui.px(6)};
    draw.AddRectFilled(at, {at.x + size.x + ui.px(12), at.y + size.y + ui.px(6)},
                       faded(ui.theme.panel, 0.85f), ui.px(5));
    drawText(draw, {at.x + ui.px(6), at.y + ui.px(3)}, ui.theme.text, text);
}

// The point on its way, and what becomes of it.
void drawPassageOnMap(const PlaygroundParts& parts, ImVec2 low, float size) {
    const std::optional<Passage>& passage = parts.view.passages.now();
    if (!passage) return;
    Ui& ui = parts.ui;
    const ImVec2 at = onMap(passage->point.x, passage->point.y, low, size);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddCircle(at, ui.px(9), ui.theme.background, 0, ui.line(4));
    draw.AddCircle(at, ui.px(9), ui.theme.text, 0, ui.line(2));
    drawTag(parts, low,
            passage->arrived() ? passageText(parts.model.settings(), parts.model.shape().loss, *passage)
                               : std::string(translated("Preview: one point passes through the network.")));
}

void drawMap(const PlaygroundParts& parts, ImVec2 low, float size) {
    Ui& ui = parts.ui;
    ImGui::SetCursorScreenPos(low);
    ImGui::InvisibleButton("##map", {size, size},
                           ImGuiButtonFlags_MouseButtonLeft | ImGuiButtonFlags_MouseButtonRight);
    ui.noteControl("##map", "The prediction at every place of the plane. Point at a place to see its value.");
    const bool hovered = ImGui::IsItemHovered();
    const ImVec2 high{low.x + size, low.y + size};
    const auto& shown = parts.view.shownNeuron;
    // The network may have become another since the mouse was over it.
    const bool one = shown && isNeuron(parts.model.shape(), *shown);
    const PicturePart part =
        one ? parts.pictures.neuron(shown->layer, shown->index) : parts.pictures.output();
    // At half its strength, so that points stand out.
    ImGui::GetWindowDrawList()->AddRectFilled(low, high, signedColour(ui.theme, 0), ui.px(6));
    part.draw(low, high, faded(IM_COL32_WHITE, 0.5f), ui.px(6));
    ImGui::PushClipRect(low, high, true); // of a point at the edge, what is inside
    if (parts.view.testPoints) drawMarks(parts, low, size, true);
    if (parts.view.trainPoints) drawMarks(parts, low, size, false);
    ImGui::PopClipRect();
    ImGui::GetWindowDrawList()->AddRect(low, high, ui.theme.border, ui.px(6), 0, ui.line());
    if (one)
        drawTag(parts, low, neuronTitle(parts.model, *shown));
    else
        drawPassageOnMap(parts, low, size);
    parts.view.probe.reset();
    if (!hovered) return;
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const float unit = 2 * planeReach / size;
    parts.view.probe = ImVec2{(mouse.x - low.x) * unit - planeReach, planeReach - (mouse.y - low.y) * unit};
    drawCross(parts, low, size);
    explainMap(parts);
    if (parts.view.drawing && !ui.hidingControls) drawWithMouse(parts, *parts.view.probe, unit);
}

void drawSwitches(const PlaygroundParts& parts, float width) {
    Ui& ui = parts.ui;
    float used = 0;
    const auto entry = [&](const char* label, std::string_view words, bool& value) {
        const float needs = ImGui::GetFrameHeight() + ImGui::GetStyle().ItemInnerSpacing.x +
                            ImGui::CalcTextSize(label, nullptr, true).x;
        if (used > 0 && used + ui.px(8) + needs <= width)
            ImGui::SameLine(0, ui.px(8));
        else
            used = 0;
        used += needs + ui.px(8);
        ui.checkbox(label, words, value);
    };
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(2), ui.px(2)});
    entry("Discrete", "Shows the predicted class alone, without its probability.", parts.view.discretise);
    for (const bool test : {false, true}) {
        entry(test ? "Test" : "Train",
              test ? "Shows the test points (hollow), never trained on."
                   : "Shows the points that the network trains on (filled).",
              test ? parts.view.testPoints : parts.view.trainPoints);
        ui.explainItem({.title = test ? "Points to test with" : "Points to train with",
                        .text = test ? "Hollow marks. The network never trains on them."
                                     : "Filled marks. The network trains on them."});
    }
    ImGui::PopStyleVar();
}

// Which layer, and which of its neurons are the axes: a click on one goes to the next neuron.
void drawLayerSwitches(const PlaygroundParts& parts, float width) {
    Ui& ui = parts.ui;
    PlaygroundView& view = parts.view;
    const NetShape shape = parts.model.shape();
    std::vector<std::string> names{"Inputs"};
    for (std::size_t layer = 1; layer + 1 < shape.widths.size(); ++layer)
        names.push_back(translatedFormat("Layer {}", layer));
    names.emplace_back("Output");
    view.foldLayer = std::min(view.foldLayer, names.size() - 1);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(5), ui.px(2)});
    ImGui::SetNextItemWidth(std::min(ui.px(104), width));
    ui.combo("##fold layer", "The layer whose outputs place the points.", view.foldLayer, names);
    const std::size_t neurons = shape.widths[view.foldLayer];
    for (std::size_t axis = 0; axis < 3; ++axis) {
        std::size_t& chosen = view.foldAxes[axis];
        const bool optional = axis > 0; // "-": no such axis
        if (chosen > neurons || (chosen == neurons && !optional)) chosen = optional ? neurons : 0;
        const std::string shown = chosen < neurons ? fmt::format("a{}", chosen + 1) : "-";
        const std::string label = fmt::format("{}##axis {}", shown, axis + 1);
        if (axis > 0 || width > ui.px(200)) ImGui::SameLine(0, ui.px(4));
        const std::size_t choices = std::max<std::size_t>(neurons + (optional ? 1 : 0), 1);
        if (ui.button(label.c_str(), "The neuron whose output is this axis. Click for the next one."))
            chosen = (chosen + 1) % choices;
    }
    ImGui::PopStyleVar();
}

/// The number that matters, in large letters above its name.
void drawHeadline(const PlaygroundParts& parts) {
    Ui& ui = parts.ui;
    const Moment& moment = parts.model.moment();
    const bool test = parts.model.dataset().test.count > 0;
    const Evaluation& shown = test ? moment.test : moment.train;
    const bool accuracy = parts.model.settings().classes() > 0;
    const std::string digits =
        std::isnan(shown.accuracy) ? "-" : translatedFormat("{:.1f} %", shown.accuracy * 100);
    ImGui::BeginGroup();
    if (parts.model.failed()) {
        ui.text("diverged", ui.theme.bad, ui.fonts.headline);
        ui.muted("try a lower learning rate");
        ImGui::EndGroup();
        return;
    }
    ui.text(accuracy ? digits : lossText(shown.loss), 0, ui.fonts.headline);
    ui.muted(test       ? (accuracy ? "test accuracy" : "test loss")
             : accuracy ? "training accuracy"
                        : "training loss");
    ImGui::EndGroup();
}

/// Losses, accuracies and steps in the box from `low` to the right edge `right`; the headings are the legend
/// of the points, too: each has its kind of mark before it.
void drawTable(const PlaygroundParts& parts, ImVec2 low, float right) {
    Ui& ui = parts.ui;
    const Moment& moment = parts.model.moment();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float line = ImGui::GetTextLineHeight() + ui.px(2);
    const float column = textWidth("100.00 %") + ui.px(10);
    float y = low.y;
    const auto flushRight = [&](bool test, const std::string& text, ImU32 colour) {
        const float x = right - (test ? 0 : column) - textWidth(text);
        drawText(draw, {x, y}, colour, text);
        return x;
    };
    const auto row = [&](const char* name, const std::string& train, const std::string& test) {
        y += line;
        drawText(draw, {low.x, y}, ui.theme.muted, name);
        flushRight(false, train, ui.theme.text);
        flushRight(true, test, ui.theme.text);
    };
    for (const bool test : {false, true}) {
        const float x = flushRight(test, test ? "test" : "train", ui.theme.muted);
        const float size = ui.px(10);
        const ImVec2 at{x - size - ui.px(4), y + (line - size) / 2};
        if (parts.pictures.fit(parts.model))
            parts.pictures.mark(0, test).draw(at, {at.x + size, at.y + size}, ui.theme.muted);
    }
    row("Loss", lossText(moment.train.loss), lossText(moment.test.loss));
    if (parts.model.settings().classes() > 0)
        row("Accuracy", percent(moment.train.accuracy), percent(moment.test.accuracy));
    row("Step", "", grouped(parts.model.step()));
}

} // namespace

// Beside each other, or below each other in a narrow box; the table only where there is room.
void drawNumbers(const PlaygroundParts& parts, float width) {
    Ui& ui = parts.ui;
    const ImVec2 low = ImGui::GetCursorScreenPos();
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ui.px(8), ui.px(2)});
    drawHeadline(parts);
    ImGui::PopStyleVar();
    const ImVec2 end = ImGui::GetItemRectMax();
    const float table = ui.px(210);
    if (end.x + ui.px(16) + table <= low.x + width)
        drawTable(parts, {low.x + width - table, low.y}, low.x + width);
    else if (width >= table)
        drawTable(parts, {low.x, end.y + ui.px(6)}, low.x + width);
}

void drawAnswer(const PlaygroundParts& parts, ImVec2 size, bool numbers) {
    Ui& ui = parts.ui;
    ImGui::BeginChild("answer", size, false,
                      ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse);
    const std::string names[] = {"Map", "Surface", "Layer"};
    ui.segments("##answer", "The prediction as a map, as a surface, or the data as one layer sees it.",
                parts.view.answer, names);
    const ImVec2 tabs = ImGui::GetItemRectMax();
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float line = ImGui::GetTextLineHeight();
    const float switches = ui.px(parts.view.answer == layerAnswer ? 215 : 222);
    const bool above = tabs.x + ui.px(12) + switches <= low.x + room.x; // beside the tabs
    const float below = (numbers ? ui.px(6) + 4 * (line + ui.px(2)) : 0) + (above ? 0 : line + ui.px(14));
    // Numbers go beside the picture where it becomes larger by that, or would be too small.
    const float beside = std::min(room.x - ui.px(110), room.y);
    const bool larger = room.y - below < ui.px(170) || beside > room.y - below + ui.px(20);
    const bool small = numbers && larger && room.x > ui.px(220);
    float side = std::floor(std::min(room.x, small ? room.y : room.y - below));
    if (small && room.x - side < ui.px(110)) side = std::max(room.x - ui.px(110), room.x / 2);
    side = std::max(side, ui.px(60));
    const bool pictures = parts.pictures.fit(parts.model);
    const bool map = parts.view.answer == mapAnswer;
    if (pictures && map) drawMap(parts, low, side);
    if (pictures && !map) drawSurface(parts, low, {low.x + side, low.y + side});
    if (!pictures || !map) parts.view.probe.reset();
    parts.view.shownNeuron.reset(); // the network says again
    const ImVec2 next =
        small ? ImVec2{low.x + side + ui.px(10), low.y} : ImVec2{low.x, low.y + side + ui.px(6)};
    ImGui::SetCursorScreenPos(next);
    ImGui::BeginGroup();
    const float width = small ? room.x - side - ui.px(10) : room.x;
    const auto drawAnswerSwitches = [&](float widest) {
        if (parts.view.answer == layerAnswer)
            drawLayerSwitches(parts, widest);
        else
            drawSwitches(parts, widest);
    };
    if (small || !above) drawAnswerSwitches(width);
    if (numbers) drawNumbers(parts, width);
    ImGui::EndGroup();
    if (!small && above) {
        ImGui::SetCursorScreenPos({low.x + room.x - switches, tabs.y - ImGui::GetFrameHeight() + ui.px(3)});
        drawAnswerSwitches(switches);
    }
    ImGui::EndChild();
}

} // namespace lockstep::demos
