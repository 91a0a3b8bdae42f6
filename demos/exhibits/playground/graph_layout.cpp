#include "demos/exhibits/playground/graph_layout.h"

#include <algorithm>
#include <cmath>

#include "engine/net/plane_features.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostLinksDrawn = 160;
constexpr std::size_t mostLinksLookedAt = 32768;
constexpr float tileShare = 0.82f; // of the distance between tiles

GraphColumn tiles(std::size_t count, float x, float low, float high, float most) {
    GraphColumn column;
    column.neurons = count;
    column.x = x;
    const float room = high - low;
    column.pitch = std::min(room / static_cast<float>(std::max<std::size_t>(count, 1)), most / tileShare);
    column.tile = std::floor(std::min(column.pitch * tileShare, most));
    column.top = low + (room - column.pitch * static_cast<float>(count)) / 2;
    return column;
}

// As large as fits, in the picture's own proportions.
void placeWide(GraphColumn& column, const NeuronGrid& grid, float width, float low, float high) {
    column.wide = true;
    column.gridColumns = grid.columns;
    column.gridLines = grid.lines;
    const float scale =
        std::min(width / static_cast<float>(grid.width()), (high - low) / static_cast<float>(grid.height()));
    const float w = scale * static_cast<float>(grid.width()) / 2;
    const float h = scale * static_cast<float>(grid.height()) / 2;
    const float middle = (low + high) / 2;
    column.low = {column.x - w, middle - h};
    column.high = {column.x + w, middle + h};
}

} // namespace

ImVec2 GraphColumn::centre(std::size_t neuron) const {
    if (!wide) {
        const std::size_t row = rows.empty() ? neuron : rows[neuron];
        return {x, top + pitch * (static_cast<float>(row) + 0.5f)};
    }
    const float w = (high.x - low.x) / static_cast<float>(gridColumns);
    const float h = (high.y - low.y) / static_cast<float>(gridLines);
    return {low.x + w * (static_cast<float>(neuron % gridColumns) + 0.5f),
            low.y + h * (static_cast<float>(neuron / gridColumns) + 0.5f)};
}

ImVec2 GraphColumn::tileLow(std::size_t neuron) const {
    const ImVec2 middle = centre(neuron);
    return {std::round(middle.x - tile / 2), std::round(middle.y - tile / 2)};
}

std::vector<GraphColumn> layOutGraph(const PlaygroundParts& parts, ImVec2 low, ImVec2 high) {
    const Ui& ui = parts.ui;
    const NetShape shape = parts.model.shape();
    const std::size_t count = shape.widths.size();
    const float names = ImGui::CalcTextSize("sin x").x + ui.px(8);
    const float most = ui.px(40);
    const float room = high.x - low.x - names;
    const float distance = room / static_cast<float>(count);
    const float tile = std::min(most, distance * 0.7f);
    std::vector<GraphColumn> columns;
    for (std::size_t layer = 0; layer < count; ++layer) {
        const float x = std::round(low.x + names + distance * (static_cast<float>(layer) + 0.5f));
        const std::size_t neurons = layer == 0 ? allPlaneFeatures().size() : shape.widths[layer];
        GraphColumn column = tiles(neurons, x, low.y, high.y, tile);
        if (layer == 0) {
            column.x = std::round(low.x + names + tile / 2);
            for (const PlaneFeature feature : parts.model.settings().features)
                column.rows.push_back(static_cast<std::size_t>(feature));
            column.neurons = column.rows.size();
        } else if (neurons > PlanePictures::mapped()) {
            placeWide(column, parts.pictures.wideLayerGrid(layer), distance * 0.8f, low.y, high.y);
        }
        columns.push_back(std::move(column));
    }
    return columns;
}

std::vector<GraphLink> linksInto(const PlaygroundModel& model, std::size_t layer) {
    const NetShape shape = model.shape();
    const std::size_t inputs = shape.widths[layer - 1];
    const std::size_t outputs = shape.widths[layer];
    std::vector<GraphLink> links;
    if (inputs * outputs > mostLinksLookedAt) return links;
    links.reserve(inputs * outputs);
    for (std::size_t to = 0; to < outputs; ++to) {
        const std::size_t first = parameterIndex(shape, {{layer, to}, 0});
        for (std::size_t from = 0; from < inputs; ++from)
            links.push_back({{{layer, to}, from}, model.parameters()[first + from]});
    }
    if (links.size() <= mostLinksDrawn) return links;
    const auto stronger = [](const GraphLink& a, const GraphLink& b) {
        return std::abs(a.weight) > std::abs(b.weight);
    };
    std::ranges::nth_element(links, links.begin() + mostLinksDrawn, stronger);
    links.resize(mostLinksDrawn);
    return links;
}

void linkCurve(const GraphColumn& from, std::size_t fromNeuron, const GraphColumn& to, std::size_t toNeuron,
               ImVec2 (&points)[linkPieces + 1]) {
    ImVec2 a = from.centre(fromNeuron);
    ImVec2 b = to.centre(toNeuron);
    a.x = from.wide ? from.high.x : a.x + from.half();
    b.x = to.wide ? to.low.x : b.x - to.half();
    for (std::size_t i = 0; i <= linkPieces; ++i) {
        const float t = static_cast<float>(i) / linkPieces;
        const float rise = t * t * (3 - 2 * t);
        points[i] = {a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * rise};
    }
}

} // namespace lockstep::demos
