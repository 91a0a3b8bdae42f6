#include "engine/grid/decision_maps.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace lockstep {

namespace {

using gpu::asUint;

// Networks whose tiles a submission draws: what it does ends in milliseconds.
std::uint32_t networksAtOnce(const gpu::Device& device, const NetShape& shape,
                             const DecisionMapOptions& options) {
    const double work = static_cast<double>(options.cells) * options.cells *
                        static_cast<double>(shape.parameters() + 100); // colours, activations
    return asUint(std::clamp((device.software() ? 3e7 : 1e9) / work, 1.0, 32768.0));
}

shared::PopulationPictureParams paramsOf(const DecisionMapOptions& options, std::size_t members) {
    shared::PopulationPictureParams params{};
    params.places = asUint(members);
    params.columns = options.columns;
    params.cells = options.cells;
    params.kinds = packedFeatures(options.features);
    params.left = options.from;
    params.top = options.to;
    params.cell = (options.to - options.from) / static_cast<float>(options.cells);
    params.discretise = options.colours.discretise ? 1 : 0;
    return params;
}

std::uint64_t pixelsOf(const DecisionMapOptions& options, std::size_t members) {
    return std::uint64_t{options.width()} * options.height(members);
}

void requirePixels(const gpu::Device& device, const DecisionMapOptions& options, std::size_t members) {
    const std::uint64_t most = device.limits().storageRange / 4;
    if (pixelsOf(options, members) <= most) return;
    DecisionMapOptions smaller = options;
    while (smaller.cells > 0 && pixelsOf(smaller, members) > most) --smaller.cells;
    throw std::invalid_argument("decision maps of " + std::to_string(pixelsOf(options, members)) +
                                " pixels are too large for the device, which takes " + std::to_string(most) +
                                ": with " + std::to_string(options.columns) +
                                " tiles beside each other their sides have at most " +
                                std::to_string(smaller.cells) + " pixels");
}

} // namespace

void validateDecisionMap(const DecisionMapOptions& options, const PopulationJob& job) {
    if (options.features.size() != job.shape.inputs())
        throw std::invalid_argument("the map has " + std::to_string(options.features.size()) +
                                    " features, and the networks take " + std::to_string(job.shape.inputs()));
    if (options.columns < 1 || options.columns > populationMembers)
        throw std::invalid_argument("a decision map has 1 to " + std::to_string(populationMembers) +
                                    " tiles beside each other");
    if (options.cells < 4 || options.cells > 64)
        throw std::invalid_argument("a tile of a decision map has 4 to 64 pixels along one side");
    if (!std::isfinite(options.from) || !std::isfinite(options.to) || !(options.from < options.to))
        throw std::invalid_argument("a decision map needs a range of the plane that is not empty");
}

std::vector<float> decisionMapPoints(const DecisionMapOptions& options) {
    const float side = (options.to - options.from) / static_cast<float>(options.cells);
    std::vector<float> points;
    points.reserve(std::size_t{options.cells} * options.cells * options.features.size());
    for (std::uint32_t row = 0; row < options.cells; ++row)
        for (std::uint32_t column = 0; column < options.cells; ++column) {
            const float x = options.from + (static_cast<float>(column) + 0.5f) * side;
            const float y = options.to - (static_cast<float>(row) + 0.5f) * side;
            for (const PlaneFeature feature : options.features) points.push_back(planeFeature(feature, x, y));
        }
    return points;
}

// The picture before the last one is given up.
PopulationMaps::Turn& PopulationMaps::nextTurn(const DecisionMapOptions& options) {
    Turn& turn = turns_[next_++ % turns_.size()];
    arenas_.device.wait(turn.ready);
    const std::uint64_t bytes = 4 * pixelsOf(options, arenas_.job.members.size());
    if (!turn.picture || turn.picture->size() < bytes || turn.picture->size() > 2 * bytes + 16) {
        turn.picture.reset();
        turn.picture =
            std::make_unique<gpu::Buffer>(arenas_.device, bytes, gpu::Memory::device, "decision maps");
    }
    if (!turn.colours)
        turn.colours = std::make_unique<gpu::Buffer>(arenas_.device, sizeof(PlaneColourWords),
                                                     gpu::Memory::upload, "colours");
    turn.colours->writeValues<std::uint32_t>(wordsOf(options.colours));
    return turn;
}

void PopulationMaps::draw(const Turn& turn, const DecisionMapOptions& options) {
    recorder_.fill(turn.picture->view(), options.colours.background); // the last line may not be full
    const std::uint32_t most = networksAtOnce(arenas_.device, arenas_.job.shape, options);
    shared::PopulationPictureParams params = paramsOf(options, arenas_.job.members.size());
    for (const PopulationRun& piece : arenas_.places.pieces(0, params.places, most)) {
        if (piece.first > 0) recorder_.submitAndGoOn();
        params.first = piece.first;
        params.networks = piece.count;
        recorder_.dispatch(
            arenas_.kernels.picture(piece.activation),
            {(params.cells + 3) / 4, params.cells, params.networks}, params,
            {arenas_.parameters.view(), arenas_.networks.view(), turn.colours->view(), turn.picture->view()});
    }
}

DevicePicture PopulationMaps::compute(const DecisionMapOptions& options) {
    validateDecisionMap(options, arenas_.job);
    requirePixels(arenas_.device, options, arenas_.job.members.size());
    Turn& turn = nextTurn(options);
    recorder_.begin();
    draw(turn, options);
    turn.ready = recorder_.submit();
    const std::uint64_t bytes = 4 * pixelsOf(options, arenas_.job.members.size());
    return {turn.picture->view(0, bytes), turn.ready};
}

std::vector<std::uint32_t> PopulationMaps::download(const DecisionMapOptions& options) {
    const DevicePicture picture = compute(options);
    arenas_.device.wait(picture.ready);
    const Turn& turn = turns_[(next_ + turns_.size() - 1) % turns_.size()];
    return turn.picture->downloadValues<std::uint32_t>(picture.view.size / sizeof(std::uint32_t));
}

} // namespace lockstep
