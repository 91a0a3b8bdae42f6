// The network as a graph: a column of tiles for each layer, and the links between them.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "demos/exhibits/playground/playground_view.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostLinksDrawn = 160;
constexpr std::size_t mostLinksLookedAt = 32768;
constexpr float widestLink = 3.2f;
constexpr float tileShare = 0.82f;    // of the distance between tiles
constexpr float leastProduct = 0.06f; // of a layer's largest: smaller ones are not drawn on their way

/// One layer: a column of tiles, or one picture of all neurons where there are too many.
struct GraphColumn {
    std::size_t neurons = 0;
    float x = 0;     ///< of the middle
    float pitch = 0; ///< from one tile to the next
    float tile = 0;
    ImVec2 low{}; ///< of all that is drawn
    ImVec2 high{};
    NeuronGrid grid{};               ///< of a wide layer's picture; else empty
    std::vector<std::size_t> rows{}; ///< of the features in use: which of all features each is

    bool wide() const { return grid.columns > 0; }
    float half() const { return (high.x - low.x) / 2; }
    float rowMiddle(std::size_t row) const { return low.y + pitch * (static_cast<float>(row) + 0.5f); }
    ImVec2 tileLow(std::size_t row) const {
        return {std::round(x - tile / 2), std::round(rowMiddle(row) - tile / 2)};
    }
    ImVec2 centre(std::size_t neuron) const {
        if (!wide()) return {x, rowMiddle(rows.empty() ? neuron : rows[neuron])};
        const float w = (high.x - low.x) / static_cast<float>(grid.columns);
        const float h = (high.y - low.y) / static_cast<float>(grid.lines);
        return {low.x + w * (static_cast<float>(neuron % grid.columns) + 0.5f),
                low.y + h * (static_cast<float>(neuron / grid.columns) + 0.5f)};
    }
};

GraphColumn tiles(std::size_t count, float x, float low, float high, float most) {
    GraphColumn column{.neurons = count, .x = x};
    const float room = high - low;
    column.pitch = std::min(room / static_cast<float>(std::max<std::size_t>(count, 1)), most / tileShare);
    column.tile = std::floor(std::min(column.pitch * tileShare, most));
    const float length = column.pitch * static_cast<float>(count);
    const float top = low + (room - length) / 2;
    column.low = {x - column.tile / 2, top};
    column.high = {x + column.tile / 2, top + length};
    return column;
}

// As large as fits, in the picture's own proportions.
void placeWide(GraphColumn& column, const NeuronGrid& grid, float width, float low, float high) {
    column.grid = grid;
    const float scale =
        std::min(width / static_cast<float>(grid.width()), (high - low) / static_cast<float>(grid.height()));
    const float w = scale * static_cast<float>(grid.width()) / 2;
    const float h = scale * static_cast<float>(grid.height()) / 2;
    const float middle = (low + high) / 2;
    column.low = {column.x - w, middle - h};
    column.high = {column.x + w, middle + h};
}

/// All layers, the features first. Tiles lie between `low` and `high`, the features' names left of theirs.
std::vector<GraphColumn> layOutGraph(const PlaygroundParts& parts, ImVec2 low, ImVec2 high) {
    const Ui& ui = parts.ui;
    const NetShape shape = parts.model.shape();
    const std::size_t count = shape.widths.size();
    const float names = textWidth("sin x") + ui.px(8);
    const float left = low.x + names;
    const float distance = (high.x - low.x - names) / static_cast<float>(count);
    const float tile = std::min(ui.px(52), distance * 0.7f);
    std::vector<GraphColumn> columns{
        tiles(allPlaneFeatures().size(), std::round(left + tile / 2), low.y, high.y, tile)};
    for (const PlaneFeature feature : parts.model.settings().features)
        columns[0].rows.push_back(static_cast<std::size_t>(feature));
    columns[0].neurons = columns[0].rows.size();
    for (std::size_t layer = 1; layer < count; ++layer) {
        const float x = std::round(left + distance * (static_cast<float>(layer) + 0.5f));
        columns.push_back(tiles(shape.widths[layer], x, low.y, high.y, tile));
        if (shape.widths[layer] > PlanePictures::mapped())
            placeWide(columns.back(), parts.pictures.wideLayerGrid(layer), distance * 0.8f, low.y, high.y);
    }
    return columns;
}

/// The weight of one link.
struct GraphLink {
    ParameterPlace place;
    float weight = 0;
};

/// The links into layer `layer`, the strongest ones where there are too many to draw; empty when there are so
/// many that a band has to stand for them.
std::vector<GraphLink> linksInto(const PlaygroundParts& parts, std::size_t layer) {
    const NetShape shape = parts.model.shape();
    const std::size_t inputs = shape.widths[layer - 1];
    const std::size_t outputs = shape.widths[layer];
    std::vector<GraphLink> links;
    if (inputs * outputs > mostLinksLookedAt) return links;
    links.reserve(inputs * outputs);
    const std::vector<float>& weights = parts.view.calmWeights;
    for (std::size_t to = 0; to < outputs; ++to) {
        const std::size_t first = parameterIndex(shape, {{layer, to}, 0});
        for (std::size_t from = 0; from < inputs; ++from)
            links.push_back({{{layer, to}, from}, weights[first + from]});
    }
    if (links.size() <= mostLinksDrawn) return links;
    const auto stronger = [](const GraphLink& a, const GraphLink& b) {
        return std::abs(a.weight) > std::abs(b.weight);
    };
    std::ranges::nth_element(links, links.begin() + mostLinksDrawn, stronger);
    links.resize(mostLinksDrawn);
    return links;
}

constexpr std::size_t linkPieces = 14;

float distanceTo(ImVec2 p, ImVec2 a, ImVec2 b) {
    const ImVec2 d{b.x - a.x, b.y - a.y};
    const float length = d.x * d.x + d.y * d.y;
    const float t = length > 0 ? std::clamp(((p.x - a.x) * d.x + (p.y - a.y) * d.y) / length, 0.0f, 1.0f) : 0;
    return std::hypot(p.x - a.x - t * d.x, p.y - a.y - t * d.y);
}

/// One frame of the graph.
class Graph {
  public:
    Graph(const PlaygroundParts& parts, ImVec2 low, ImVec2 high)
        : parts_(parts), ui_(parts.ui), theme_(parts.ui.theme), draw_(*ImGui::GetWindowDrawList()), low_(low),
          high_(high), columns_(layOutGraph(parts, low, high)) {
        calmWeights();
        for (std::size_t layer = 1; layer < columns_.size(); ++layer)
            links_.push_back(linksInto(parts_, layer));
    }

    std::vector<float> draw() {
        drawFailure();
        for (std::size_t layer = 1; layer < columns_.size(); ++layer) drawLinks(layer);
        for (const PlaneFeature feature : allPlaneFeatures()) drawFeature(feature);
        for (std::size_t layer = 1; layer < columns_.size(); ++layer) {
            if (columns_[layer].wide())
                drawWideLayer(layer);
            else
                for (std::size_t i = 0; i < columns_[layer].neurons; ++i) drawNeuron({layer, i});
        }
        const std::optional<Passage>& passage = parts_.view.passages.now();
        if (passage && passage->fits(parts_.model.shape())) drawPassage(*passage);
        hoverLinks();
        if (!wantedFeatures_.empty()) // last: another network has other columns
            parts_.model.edit([this](PlaygroundSettings& settings) { settings.features = wantedFeatures_; });
        std::vector<float> places;
        for (const GraphColumn& column : columns_) places.push_back(column.x);
        return places;
    }

  private:
    // While it trains, links follow the weights within a quarter of a second: no jitter.
    void calmWeights() {
        constexpr double followSeconds = 0.25;
        const std::vector<float>& now = parts_.model.parameters();
        std::vector<float>& calm = parts_.view.calmWeights;
        const bool follow = parts_.model.running() && !ui_.scripted && calm.size() == now.size() &&
                            now.size() <= mostLinksLookedAt;
        if (!follow) {
            if (calm != now) calm = now;
            return;
        }
        const auto share = static_cast<float>(1 - std::exp(-ui_.delta / followSeconds));
        for (std::size_t i = 0; i < now.size(); ++i)
            calm[i] = std::isfinite(calm[i]) ? calm[i] + share * (now[i] - calm[i]) : now[i];
    }

    // Where numbers went wrong: the layer in red, with the word.
    void drawFailure() {
        const auto layer = parts_.model.failedLayer();
        if (!layer) return;
        const GraphColumn& column = columns_[*layer + 1];
        const float half = std::max(column.half(), ui_.px(16)) + ui_.px(6);
        draw_.AddRectFilled({column.x - half, low_.y}, {column.x + half, high_.y}, faded(theme_.bad, 0.3f),
                            ui_.px(8));
        draw_.AddRect({column.x - half, low_.y}, {column.x + half, high_.y}, theme_.bad, ui_.px(8), 0,
                      ui_.line(2));
        const ImVec2 size = ImGui::CalcTextSize("NaN");
        drawText(draw_, {column.x - size.x / 2, high_.y - size.y - ui_.px(4)}, theme_.text, "NaN");
    }

    void drawLinks(std::size_t layer) {
        const GraphColumn& from = columns_[layer - 1];
        const GraphColumn& to = columns_[layer];
        if (links_[layer - 1].empty()) {
            const float a = from.x + from.half();
            const float b = to.x - to.half();
            draw_.AddQuadFilled({a, from.low.y}, {b, to.low.y}, {b, to.high.y}, {a, from.high.y},
                                faded(theme_.muted, 0.18f));
        }
        for (const GraphLink& link : links_[layer - 1])
            drawLink(link, parts_.view.shownParameter == link.place);
    }

    /// A link from one column to the next.
    std::array<ImVec2, linkPieces + 1> curve(const ParameterPlace& place) const {
        const GraphColumn& from = columns_[place.to.layer - 1];
        const GraphColumn& to = columns_[place.to.layer];
        ImVec2 a = from.centre(*place.from);
        ImVec2 b = to.centre(place.to.index);
        a.x = from.high.x;
        b.x = to.low.x;
        std::array<ImVec2, linkPieces + 1> points;
        for (std::size_t i = 0; i <= linkPieces; ++i) {
            const float t = static_cast<float>(i) / linkPieces;
            const float rise = t * t * (3 - 2 * t);
            points[i] = {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * rise};
        }
        return points;
    }

    void drawLink(const GraphLink& link, bool hovered) {
        const auto points = curve(link.place);
        const NeuronPlace& end = link.place.to;
        const ImVec2 at = points[linkPieces / 3];
        if (ui_.scripted)
            ui_.controls[fmt::format("weight/{}.{}.{}", end.layer, end.index + 1, *link.place.from + 1)] = {
                {at.x - 1, at.y - 1}, {at.x + 1, at.y + 1}};
        // From 0 to 1, also where numbers went wrong.
        const float size = std::isfinite(link.weight) ? 1 - std::exp(-std::abs(link.weight) / 1.5f) : 1;
        const ImU32 strong = signedColour(theme_, link.weight < 0 ? -1.0f : 1.0f);
        const ImU32 colour = hovered ? theme_.text : faded(strong, 0.3f + 0.7f * size);
        const float crowded = std::clamp(columns_[end.layer].pitch / ui_.px(40), 0.25f, 1.0f);
        const float width = (0.8f + widestLink * size * crowded) * ui_.line(1) + (hovered ? ui_.px(1.5f) : 0);
        if (!(link.weight < 0)) {
            draw_.AddPolyline(points.data(), linkPieces + 1, colour, 0, width);
            return;
        }
        for (std::size_t i = 0; i < linkPieces; i += 2)
            draw_.AddLine(points[i], points[i + 1], colour, width);
    }

    // On every tile that it has reached, its place; between two layers, products of weight and value.
    void drawPassage(const Passage& passage) {
        for (std::size_t layer = 0; layer < columns_.size(); ++layer) {
            const GraphColumn& column = columns_[layer];
            if (passage.layers < static_cast<double>(layer)) return;
            for (std::size_t i = 0; i < column.neurons && !column.wide(); ++i) {
                const std::size_t row = column.rows.empty() ? i : column.rows[i];
                const ImVec2 at = onMap(passage.point.x, passage.point.y, column.tileLow(row), column.tile);
                draw_.AddCircleFilled(at, ui_.px(3.5f), theme_.background);
                draw_.AddCircleFilled(at, ui_.px(2.5f), theme_.text);
            }
            if (layer + 1 == columns_.size()) return;
            const auto way = static_cast<float>(passage.layers - static_cast<double>(layer));
            if (way < 1) drawProducts(links_[layer], passage.values[layer].row(0), way);
        }
    }

    /// At the share `way` of their links.
    void drawProducts(std::span<const GraphLink> links, std::span<const float> values, float way) {
        const auto product = [&](const GraphLink& link) { return link.weight * values[*link.place.from]; };
        float most = 0;
        for (const GraphLink& link : links) most = std::max(most, std::abs(product(link)));
        for (const GraphLink& link : links) {
            const float share = std::abs(product(link)) / most;
            if (!(share >= leastProduct)) continue; // nor where numbers went wrong
            const auto points = curve(link.place);
            const float at = way * linkPieces;
            const std::size_t piece = std::min(static_cast<std::size_t>(at), linkPieces - 1);
            const float rest = at - static_cast<float>(piece);
            const ImVec2 a = points[piece];
            const ImVec2 b = points[piece + 1];
            const ImVec2 centre{a.x + rest * (b.x - a.x), a.y + rest * (b.y - a.y)};
            const float radius = ui_.px(2 + 5 * std::sqrt(share));
            draw_.AddCircleFilled(centre, radius + ui_.line(1.5f), theme_.background);
            draw_.AddCircleFilled(centre, radius, signedColour(theme_, product(link) < 0 ? -1.0f : 1.0f));
        }
    }

    void drawFeature(PlaneFeature feature) {
        const std::string control = fmt::format("feature/{}", name(feature));
        const GraphColumn& column = columns_[0];
        const ImVec2 low = column.tileLow(static_cast<std::size_t>(feature));
        const ImVec2 high{low.x + column.tile, low.y + column.tile};
        const std::string label = featureLabel(feature);
        const ImVec2 text = ImGui::CalcTextSize(label.c_str());
        ImGui::SetCursorScreenPos({low.x - ui_.px(6) - text.x, low.y});
        const bool pressed =
            ui_.tile(control.c_str(), "An input that is computed from the point. Click to add or remove it.",
                     {high.x - low.x + ui_.px(6) + text.x, column.tile});
        if (ui_.hidden(control.c_str())) return;
        const std::vector<PlaneFeature>& used = parts_.model.settings().features;
        const auto found = std::ranges::find(used, feature);
        const bool on = found != used.end();
        const bool hovered = ImGui::IsItemHovered();
        parts_.pictures.feature(feature).draw(low, high, IM_COL32(255, 255, 255, on ? 255 : 70), ui_.px(6));
        draw_.AddRect(low, high, hovered ? theme_.text : (on ? theme_.muted : theme_.border), ui_.px(6), 0,
                      ui_.line(on ? 1.5f : 1.0f));
        drawText(draw_, {low.x - ui_.px(6) - text.x, (low.y + high.y - text.y) / 2},
                 on ? theme_.text : theme_.muted, label);
        if (hovered && on) {
            show({0, static_cast<std::size_t>(found - used.begin())});
        } else if (hovered) {
            ui_.detail({.title = translatedFormat("Feature {}", label),
                        .text = "Not an input yet. Click to add it and reset the weights."});
        }
        if (!pressed || (on && used.size() == 1)) return;
        wantedFeatures_ = used;
        if (on)
            std::erase(wantedFeatures_, feature);
        else
            wantedFeatures_.push_back(feature);
        std::ranges::sort(wantedFeatures_);
    }

    void drawNeuron(NeuronPlace place) {
        const GraphColumn& column = columns_[place.layer];
        const ImVec2 low = column.tileLow(place.index);
        const ImVec2 high{low.x + column.tile, low.y + column.tile};
        const std::string control = fmt::format("neuron/{}.{}", place.layer, place.index + 1);
        ImGui::SetCursorScreenPos(low);
        const bool pressed = ImGui::InvisibleButton(control.c_str(), {column.tile, column.tile});
        ui_.noteControl(control.c_str(),
                        "The neuron's output over the plane. Click to change its bias and weights.");
        const bool hovered = ImGui::IsItemHovered();
        const float rounding = std::min(ui_.px(6), column.tile / 4);
        parts_.pictures.neuron(place.layer, place.index).draw(low, high, IM_COL32_WHITE, rounding);
        draw_.AddRect(low, high, hovered ? theme_.text : theme_.muted, rounding, 0,
                      ui_.line(hovered ? 2.0f : 1.0f));
        drawBias(place, low, column.tile);
        if (hovered) show(place);
        if (pressed) edit({place, {}});
    }

    // At the lower left corner: filled above 0, hollow below.
    void drawBias(NeuronPlace place, ImVec2 low, float size) {
        const float bias = parts_.model.parameters()[parameterIndex(parts_.model.shape(), {place, {}})];
        const float half = std::clamp(size * (0.06f + 0.08f * std::abs(bias)), 0.06f * size, 0.18f * size);
        const ImVec2 at{low.x, low.y + size};
        const ImU32 colour = bias == 0 ? theme_.muted : signedColour(theme_, bias < 0 ? -1.0f : 1.0f);
        const ImVec2 from{at.x - half, at.y - half};
        const ImVec2 to{at.x + half, at.y + half};
        draw_.AddRectFilled(from, to, bias < 0 ? theme_.background : colour);
        draw_.AddRect(from, to, colour, 0, 0, ui_.line(1));
    }

    void drawWideLayer(std::size_t layer) {
        const GraphColumn& column = columns_[layer];
        const ImVec2 size{column.high.x - column.low.x, column.high.y - column.low.y};
        const std::string control = fmt::format("layer/{}", layer);
        ImGui::SetCursorScreenPos(column.low);
        ImGui::InvisibleButton(control.c_str(), size);
        ui_.noteControl(control.c_str(), "All neurons of a wide layer, one cell each.");
        parts_.pictures.wideLayer(layer).draw(column.low, column.high);
        draw_.AddRect(column.low, column.high, theme_.muted, 0, 0, ui_.line());
        if (!ImGui::IsItemHovered()) return;
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const auto cell = [](float at, float from, float length, std::uint32_t count) {
            const float share = std::clamp((at - from) / length, 0.0f, 0.999f);
            return static_cast<std::size_t>(share * static_cast<float>(count));
        };
        const NeuronGrid& grid = column.grid;
        const std::size_t index = cell(mouse.y, column.low.y, size.y, grid.lines) * grid.columns +
                                  cell(mouse.x, column.low.x, size.x, grid.columns);
        if (index >= column.neurons) return;
        show({layer, index});
        if (ImGui::IsMouseClicked(0)) edit({{layer, index}, {}});
    }

    void hoverLinks() {
        parts_.view.shownParameter.reset();
        const ImVec2 mouse = ImGui::GetIO().MousePos;
        const bool inside = mouse.x > low_.x && mouse.x < high_.x && mouse.y > low_.y && mouse.y < high_.y;
        if (!inside || !ImGui::IsWindowHovered() || ImGui::IsAnyItemHovered()) return;
        float nearest = ui_.px(6);
        for (std::size_t layer = 1; layer < columns_.size(); ++layer) {
            if (mouse.x < columns_[layer - 1].x || mouse.x > columns_[layer].x) continue;
            for (const GraphLink& link : links_[layer - 1]) {
                const auto points = curve(link.place);
                for (std::size_t i = 0; i < linkPieces; ++i) {
                    const float distance = distanceTo(mouse, points[i], points[i + 1]);
                    if (distance >= nearest) continue;
                    nearest = distance;
                    parts_.view.shownParameter = link.place;
                }
            }
        }
        if (!parts_.view.shownParameter) return;
        ui_.detail(parameterDetail(parts_, *parts_.view.shownParameter));
        if (ImGui::IsMouseClicked(0)) edit(*parts_.view.shownParameter);
    }

    void show(NeuronPlace place) {
        parts_.view.shownNeuron = place;
        ui_.detail(neuronDetail(parts_, place));
    }

    void edit(const ParameterPlace& place) {
        if (ui_.hidingControls) return;
        parts_.view.edited = place;
        parts_.view.openEditor = true;
    }

    const PlaygroundParts& parts_;
    Ui& ui_;
    const Theme& theme_;
    ImDrawList& draw_;
    ImVec2 low_;
    ImVec2 high_;
    std::vector<GraphColumn> columns_;
    std::vector<std::vector<GraphLink>> links_; // by the layer they lead to, from 1
    std::vector<PlaneFeature> wantedFeatures_;  // by a click; empty: none was made
};

} // namespace

std::vector<float> drawGraph(const PlaygroundParts& parts, ImVec2 low, ImVec2 high) {
    return Graph(parts, low, high).draw();
}

} // namespace lockstep::demos
