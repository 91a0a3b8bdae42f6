#include "demos/exhibits/playground/plane_pictures.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "demos/kit/pacer.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t outputPixels = 512;
constexpr std::uint32_t neuronPixels = 64;
constexpr std::uint32_t neuronPixelsInSoftware = 40;
constexpr std::uint32_t featurePixels = 40;
constexpr std::uint32_t featureCount = 7;
constexpr std::uint32_t markPixels = 32;
constexpr std::uint32_t markShapes = 6;
constexpr std::uint32_t dataPixels = 40;
constexpr std::size_t dataSamples = 300;
constexpr double mapsShare = 0.1; // of the device's time, while a network trains

// How far (x, y) in [-1, 1] is inside the mark's edge; negative outside.
float insideMark(std::uint32_t shape, float x, float y) {
    const float ax = std::abs(x);
    const float ay = std::abs(y);
    switch (shape) {
    case 0: return 0.85f - std::sqrt(x * x + y * y);
    case 1: return 0.75f - std::max(ax, ay);
    case 2: return std::min(0.7f - y, (y + 0.95f - 1.75f * ax) * 0.5f); // a triangle, point up
    case 3: return (1.0f - ax - ay) * 0.7f;
    case 4: return std::min(0.7f + y, (0.95f - y - 1.75f * ax) * 0.5f);
    case 5: return std::max(std::min(0.85f - ax, 0.32f - ay), std::min(0.85f - ay, 0.32f - ax));
    default: throw std::logic_error("a mark without a shape");
    }
}

// White; ImGui multiplies it with the colour of the class.
std::uint32_t markPixel(std::uint32_t shape, bool hollow, float x, float y) {
    const float depth = insideMark(shape, x, y) * markPixels / 2; // pixels
    const float cover = std::clamp(depth + 0.5f, 0.0f, 1.0f);
    float alpha = cover;
    if (hollow) alpha *= std::clamp(7.0f - depth, 0.0f, 1.0f);
    return static_cast<std::uint32_t>(std::lround(255 * alpha)) << 24 | 0xFFFFFF;
}

template <class Pixel>
std::vector<std::uint32_t> paintedPixels(std::uint32_t width, std::uint32_t height, Pixel pixel) {
    std::vector<std::uint32_t> all;
    all.reserve(std::size_t{width} * height);
    for (std::uint32_t row = 0; row < height; ++row)
        for (std::uint32_t column = 0; column < width; ++column) all.push_back(pixel(column, row));
    return all;
}

} // namespace

void PlanePictures::makeMaps(Ui& ui, const PlaygroundModel& model) {
    PlaneMapOptions options;
    options.outputSize = outputPixels;
    options.neuronSize = ui.graphics.device().software() ? neuronPixelsInSoftware : neuronPixels;
    options.mostNeurons = static_cast<std::uint32_t>(mapped());
    options.from = -planeReach;
    options.to = planeReach;
    // There may be no memory for one of them: then the old ones stay.
    const auto picture = [&ui](std::uint32_t width, std::uint32_t height) {
        return std::make_unique<Picture>(ui.graphics, width, height, true);
    };
    Maps maps;
    maps.features = model.settings().features;
    maps.map = std::make_unique<PlaneMap>(ui.graphics.device(), model.shape(), maps.features, options);
    if (!output_) output_ = picture(outputPixels, outputPixels);
    maps.neurons = picture(maps.map->atlasWidth(), maps.map->atlasHeight());
    for (std::size_t layer = 0; layer < model.shape().widths.size(); ++layer) {
        const NeuronGrid grid = maps.map->wideLayerGrid(layer);
        maps.wide.push_back(maps.map->isWide(layer) ? picture(grid.width(), grid.height()) : nullptr);
    }
    computing_.reset();
    retired_.push_back(std::exchange(maps_, std::move(maps)));
}

bool PlanePictures::fit(const PlaygroundModel& model) const {
    if (!maps_.map || !marks_) return false;
    NetShape shape = model.shape();
    shape.init = maps_.map->shape().init; // no map depends on it
    return shape == maps_.map->shape() && maps_.features == model.settings().features;
}

void PlanePictures::compute(Ui& ui, const PlaygroundModel& model, bool discretise) {
    const MapDetail detail = model.running() && !ui.scripted ? MapDetail::moving : MapDetail::still;
    computing_ = maps_.map->compute(model.parameters(), planeColours(ui.theme, discretise), detail);
    fine_ = detail == MapDetail::still;
    revision_ = model.revision();
    discretise_ = discretise;
    dark_ = ui.theme.dark;
}

void PlanePictures::show() {
    output_->show(maps_.map->outputPicture(), *computing_);
    maps_.neurons->show(maps_.map->neuronPicture(), *computing_);
    for (std::size_t layer = 0; layer < maps_.wide.size(); ++layer)
        if (maps_.wide[layer]) maps_.wide[layer]->show(maps_.map->wideLayerPicture(layer), *computing_);
    computing_.reset();
}

void PlanePictures::update(Ui& ui, const PlaygroundModel& model, bool discretise) {
    if (dark_ != ui.theme.dark || !featureMaps_) drawFeatures(ui);
    if (dark_ != ui.theme.dark || !dataSets_) drawDataSets(ui);
    if (!marks_) drawMarks(ui);
    const bool other = !fit(model);
    if (other) makeMaps(ui, model);
    // Scripts see every change at once; so does everybody with another network, whose pictures are still
    // empty.
    const bool atOnce = other || ui.scripted;
    if (computing_ && ui.graphics.device().done(*computing_)) {
        show();
        next_ = ui.now + pauseAfter(maps_.map->milliseconds() * 1e-3, mapsShare);
    }
    const bool stale = other || dark_ != ui.theme.dark || discretise != discretise_ ||
                       revision_ != model.revision() || (!fine_ && !model.running());
    if (computing_ || !stale || (ui.unseen && !other)) return;
    if (!atOnce && model.running() && ui.now < next_) return;
    compute(ui, model, discretise);
    if (atOnce) show();
}

PicturePart PlanePictures::neuron(std::size_t layer, std::size_t index) const {
    if (index >= mapped()) {
        const NeuronGrid grid = maps_.map->wideLayerGrid(layer);
        const ImVec2 cell{1.0f / static_cast<float>(grid.columns), 1.0f / static_cast<float>(grid.lines)};
        const ImVec2 from{cell.x * static_cast<float>(index % grid.columns),
                          cell.y * static_cast<float>(index / grid.columns)};
        return {maps_.wide[layer]->id(), from, {from.x + cell.x, from.y + cell.y}};
    }
    const auto wide = static_cast<float>(maps_.neurons->width());
    const auto high = static_cast<float>(maps_.neurons->height());
    const float tile = high / static_cast<float>(maps_.map->shape().widths.size());
    const float x = static_cast<float>(index) * tile;
    const float y = static_cast<float>(layer) * tile;
    // Half a pixel inside, so that smoothing does not bring in the neighbour.
    return {maps_.neurons->id(),
            {(x + 0.5f) / wide, (y + 0.5f) / high},
            {(x + tile - 0.5f) / wide, (y + tile - 0.5f) / high}};
}

PicturePart PlanePictures::feature(PlaneFeature feature) const {
    const float one = 1.0f / featureCount;
    const float at = one * static_cast<float>(feature);
    const float half = 0.5f * one / featurePixels;
    return {featureMaps_->id(), {at + half, 0}, {at + one - half, 1}};
}

PicturePart PlanePictures::mark(std::size_t shape, bool hollow) const {
    const float one = 1.0f / markShapes;
    const float at = one * static_cast<float>(shape % markShapes);
    return {marks_->id(), {at, hollow ? 0.5f : 0}, {at + one, hollow ? 1.0f : 0.5f}};
}

PicturePart PlanePictures::dataSet(Points2d set) const {
    if (!dataSets_) return {};
    const float one = 1.0f / static_cast<float>(points2dNames.size());
    const float at = one * static_cast<float>(set);
    const float half = 0.5f * one / dataPixels;
    return {dataSets_->id(), {at + half, 0}, {at + one - half, 1}};
}

void PlanePictures::ringedMark(std::size_t shape, bool hollow, ImVec2 at, float half, ImU32 colour) const {
    const float ring = half + std::max(1.0f, half * 0.3f);
    mark(shape, false)
        .draw({at.x - ring, at.y - ring}, {at.x + ring, at.y + ring},
              colour | ~static_cast<ImU32>(IM_COL32_A_MASK));
    mark(shape, hollow).draw({at.x - half, at.y - half}, {at.x + half, at.y + half}, colour);
}

void PlanePictures::drawDataSets(Ui& ui) {
    constexpr auto width = static_cast<std::uint32_t>(points2dNames.size()) * dataPixels;
    const auto plane = [](std::uint32_t pixel) {
        return 1.1f * planeReach * (2 * (static_cast<float>(pixel) + 0.5f) / dataPixels - 1);
    };
    std::vector<std::vector<LabelledPoint>> points(points2dNames.size());
    for (std::size_t set = 0; set < points.size(); ++set)
        for (std::size_t i = 0; i < dataSamples; ++i)
            points[set].push_back(point2d(static_cast<Points2d>(set), 1, i, 0));
    if (!dataSets_) dataSets_ = std::make_unique<Picture>(ui.graphics, width, dataPixels, true);
    dataSets_->upload(paintedPixels(width, dataPixels, [&](std::uint32_t column, std::uint32_t row) {
        const std::size_t set = column / dataPixels;
        const float x = plane(column % dataPixels);
        const float y = -plane(row);
        const LabelledPoint* nearest = nullptr;
        float least = 0;
        for (const LabelledPoint& p : points[set]) { // min_element would compute every distance twice
            const float distance = (p.x - x) * (p.x - x) + (p.y - y) * (p.y - y);
            if (nearest != nullptr && distance >= least) continue;
            nearest = &p;
            least = distance;
        }
        const std::size_t classes = points2dClasses(static_cast<Points2d>(set));
        return classes > 0 ? classColour(ui.theme, nearest->label) : signedColour(ui.theme, nearest->target);
    }));
}

void PlanePictures::drawFeatures(Ui& ui) {
    constexpr std::uint32_t width = featureCount * featurePixels;
    const auto plane = [](std::uint32_t pixel) {
        return planeReach * (2 * (static_cast<float>(pixel) + 0.5f) / featurePixels - 1);
    };
    if (!featureMaps_) featureMaps_ = std::make_unique<Picture>(ui.graphics, width, featurePixels, true);
    featureMaps_->upload(paintedPixels(width, featurePixels, [&](std::uint32_t column, std::uint32_t row) {
        const auto feature = static_cast<PlaneFeature>(column / featurePixels);
        return signedColour(ui.theme, planeFeature(feature, plane(column % featurePixels), -plane(row)));
    }));
}

void PlanePictures::drawMarks(Ui& ui) {
    constexpr std::uint32_t width = markShapes * markPixels;
    const auto inMark = [](std::uint32_t pixel) {
        return 2 * (static_cast<float>(pixel % markPixels) + 0.5f) / markPixels - 1;
    };
    auto marks = std::make_unique<Picture>(ui.graphics, width, 2 * markPixels, true);
    marks->upload(paintedPixels(width, 2 * markPixels, [&](std::uint32_t column, std::uint32_t row) {
        return markPixel(column / markPixels, row >= markPixels, inMark(column), inMark(row));
    }));
    marks_ = std::move(marks);
}

} // namespace lockstep::demos
