#include "engine/plane/plane_map.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "engine/net/plain_ops.h"
#include "engine/plan/work.h"
#include "engine/step/dense_kernel.h"
#include "engine/tune/product_candidates.h"

namespace lockstep {

namespace {

constexpr std::size_t mostRows = 65536;  // in one dispatch, on any device
constexpr std::size_t rowsMultiple = 64; // keeps the start of each chunk of outputs aligned
constexpr std::uint64_t activationBytes = std::uint64_t{10} << 20; // per buffer, except for very wide layers
constexpr std::uint64_t mostOutputBytes = std::uint64_t{32} << 20;
constexpr std::uint32_t smallestOutput = 8; // minimum cells per side for any network
constexpr std::uint32_t smallestNeuron = 5;
constexpr std::size_t mostFeatures = 8; // PlaneInputsParams::kinds

using gpu::asUint;

std::size_t rowsAtATime(const NetShape& shape) {
    const std::size_t rows = activationBytes / (roundUpToFour(shape.widest()) * sizeof(float));
    return std::max(std::min(rows, mostRows) / rowsMultiple * rowsMultiple, rowsMultiple);
}

/// Bytes of a picture, or of a number for each of its pixels.
std::uint64_t squareBytes(std::uint32_t side) { return std::uint64_t{side} * side * 4; }

/// Work of a cell: roughly nanoseconds of two CPU cores running a software device; on a GPU only the
/// proportions matter.
double workOf(const NetShape& shape) {
    double work = 60; // for features and colour
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const auto in = static_cast<double>(roundUpToFour(shape.widths[layer]));
        const auto out = static_cast<double>(roundUpToFour(shape.widths[layer + 1]));
        work += 0.9 * in * out + 5 * in + 6 * out;
    }
    return work;
}

const NetShape& validated(const NetShape& shape, const std::vector<PlaneFeature>& features,
                          const PlaneMapOptions& options) {
    shape.validate();
    const auto require = [](bool holds, const std::string& message) {
        if (!holds) throw std::invalid_argument("a map of the plane " + message);
    };
    require(features.size() == shape.inputs() && features.size() <= mostFeatures,
            "has " + std::to_string(features.size()) + " features (the limit is " +
                std::to_string(mostFeatures) + "); the network takes " + std::to_string(shape.inputs()));
    require(options.outputSize >= 16 && options.outputSize <= 2048, "needs 16 to 2048 pixels per side");
    require(options.neuronSize >= 4 && options.neuronSize <= 512,
            "needs 4 to 512 pixels per side for a neuron");
    require(options.mostNeurons > 0 && options.from < options.to, "needs a neuron and a rectangle");
    const std::uint64_t size = squareBytes(options.outputSize) * roundUpToFour(shape.outputs());
    require(size <= mostOutputBytes, "of " + std::to_string(shape.outputs()) + " outputs and " +
                                         std::to_string(options.outputSize) +
                                         " pixels per side is too large; try fewer pixels");
    return shape;
}

/// With many rows and few neurons, the tiles of the training kernels would be nearly empty on a GPU.
std::vector<ProductKernel> mapKernels(const gpu::Device& device, const NetShape& shape, std::size_t rows) {
    std::vector<ProductKernel> how;
    how.reserve(shape.layers());
    for (std::size_t layer = 0; layer < shape.layers(); ++layer) {
        const DenseShape dense = denseShapeOf(shape, layer, rows);
        const std::uint32_t along = std::min<std::uint32_t>(asUint(dense.outputStride), 8);
        how.push_back(!device.software() && dense.outputStride < 32
                          ? ProductKernel{Rung::naive, along, 64 / along, 1, 1, 0}
                          : candidates(device, Product::forward, dense).front());
    }
    return how;
}

/// On a GPU the work of a picture follows what is measured. On a software device it is fixed.
WorkRule budgetOf(const gpu::Device& device) {
    constexpr double softwareWork = 2e7;
    constexpr double firstWork = 2e8; // a few milliseconds of a slow GPU
    return {4, 1e14, device.software() ? softwareWork : firstWork, true};
}

} // namespace

PlaneMap::PlaneMap(gpu::Device& device, const NetShape& shape, std::vector<PlaneFeature> features,
                   PlaneMapOptions options)
    : device_(device), shape_(validated(shape, features, options)), layout_(shape),
      features_(std::move(features)), options_(options),
      atlasColumns_(std::min(options.mostNeurons, asUint(shape.widest()))), capacity_(rowsAtATime(shape)),
      workPerCell_(workOf(shape)), budget_(budgetOf(device)),
      kernels_(device), uploads_{{{{device, layout_.size() * sizeof(float) + sizeof(PlaneColourWords),
                                    gpu::Memory::upload, "map upload"}},
                                  {{device, layout_.size() * sizeof(float) + sizeof(PlaneColourWords),
                                    gpu::Memory::upload, "map upload"}}}},
      parameters_(device, uploads_[0].buffer.size(), gpu::Memory::device, "map parameters"),
      forward_(kernels_, shape, mapKernels(device, shape, capacity_), parameters_, capacity_),
      outputs_(device, squareBytes(options.outputSize) * roundUpToFour(shape.outputs()), gpu::Memory::device,
               "map outputs"),
      pictures_{Pictures(*this), Pictures(*this)}, recorder_(device) {}

PlaneMap::Pictures::Pictures(const PlaneMap& map)
    : output(map.device_, squareBytes(map.options_.outputSize), gpu::Memory::device, "output map"),
      neurons(map.device_, std::uint64_t{map.atlasWidth()} * map.atlasHeight() * 4, gpu::Memory::device,
              "neuron maps") {
    for (std::size_t level = 0; level < map.shape_.widths.size(); ++level) {
        if (!map.isWide(level)) continue;
        const NeuronGrid grid = map.wideLayerGrid(level);
        wide.try_emplace(level, map.device_, std::uint64_t{grid.width()} * grid.height() * 4,
                         gpu::Memory::device, "wide layer's map");
    }
}

std::uint32_t PlaneMap::atlasHeight() const { return asUint(shape_.widths.size()) * options_.neuronSize; }

NeuronGrid PlaneMap::wideLayerGrid(std::size_t level) const {
    const auto neurons = static_cast<double>(shape_.widths[level]);
    NeuronGrid grid;
    grid.columns = asUint(std::ceil(std::sqrt(neurons)));
    grid.lines = asUint(std::ceil(neurons / grid.columns));
    grid.tile = std::max(options_.neuronSize / 4, 4u);
    return grid;
}

gpu::Ticket PlaneMap::compute(std::span<const float> parameters, const PlaneColours& colours,
                              MapDetail detail) {
    if (parameters.size() != layout_.size())
        throw std::invalid_argument("the map received " + std::to_string(parameters.size()) +
                                    " parameters, but its network has " + std::to_string(layout_.size()));
    noteTime();
    Upload& upload = uploads_[turn_ % uploads_.size()];
    device_.wait(upload.ticket);
    recorder_.begin();
    upload.buffer.writeValues<float>(parameters);
    upload.buffer.writeValues<std::uint32_t>(wordsOf(colours), layout_.size() * sizeof(float));
    recorder_.copy(upload.buffer.view(), parameters_.view());
    neuronCells_ = cellsFor(options_.neuronSize, smallestNeuron, detail);
    while (neuronCells_ * neuronCells_ > capacity_)
        neuronCells_ /= 2; // all neurons of a level are drawn together
    outputCells_ = cellsFor(options_.outputSize, smallestOutput, detail);
    drawNeurons(colours.discretise);
    drawOutput(colours.discretise);
    upload.work = workPerCell_ * (static_cast<double>(outputCells_) * outputCells_ +
                                  static_cast<double>(neuronCells_) * neuronCells_);
    upload.ticket = recorder_.submit();
    ++turn_;
    return upload.ticket;
}

/// The largest of size, size / 2, ... whose square of cells fits into the budget; at least `smallest`.
std::uint32_t PlaneMap::cellsFor(std::uint32_t size, std::uint32_t smallest, MapDetail detail) const {
    const double most = detail == MapDetail::still ? 10 * budget_.size() : budget_.size();
    while (size / 2 >= smallest && static_cast<double>(size) * size * workPerCell_ > most) size /= 2;
    return size;
}

void PlaneMap::noteTime() {
    for (const gpu::FinishedSubmission& finished : recorder_.takeFinished()) {
        milliseconds_ = finished.milliseconds;
        const auto of = std::ranges::find(uploads_, finished.ticket, &Upload::ticket);
        if (of != uploads_.end() && !device_.software()) budget_.add(of->work, milliseconds_);
    }
}

double PlaneMap::milliseconds() {
    noteTime();
    return milliseconds_;
}

void PlaneMap::drawNeurons(bool discretise) {
    const std::size_t rows = std::size_t{neuronCells_} * neuronCells_;
    inputs(neuronCells_, 0, rows);
    drawLevel(0, discretise);
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        forward_.dense(recorder_, layer, rows, forward_.activations(layer + 1, rows));
        drawLevel(layer + 1, discretise);
    }
}

void PlaneMap::drawLevel(std::size_t level, bool discretise) {
    const std::size_t rows = std::size_t{neuronCells_} * neuronCells_;
    const auto draw = [&](const gpu::Buffer& picture, const NeuronGrid& grid, std::uint32_t top) {
        const shared::NeuronPictureParams params{
            asUint(shape_.widths[level]), forward_.stride(level), neuronCells_, grid.tile, grid.columns, top,
            discretise ? 1u : 0u};
        recorder_.dispatch(kernels_.neuronPicture(), {grid.columns * grid.lines, 1, 1}, params,
                           {forward_.activations(level, rows), colours(), picture.view()});
    };
    draw(next().neurons, {atlasColumns_, 1, options_.neuronSize}, asUint(level) * options_.neuronSize);
    if (isWide(level)) draw(next().wide.at(level), wideLayerGrid(level), 0);
}

void PlaneMap::drawOutput(bool discretise) {
    const std::size_t cells = std::size_t{outputCells_} * outputCells_;
    const std::size_t last = shape_.layers() - 1;
    for (std::size_t first = 0; first < cells; first += capacity_) {
        const std::size_t rows = std::min(capacity_, cells - first);
        inputs(outputCells_, first, rows);
        for (std::size_t layer = 0; layer < last; ++layer)
            forward_.dense(recorder_, layer, rows, forward_.activations(layer + 1, rows));
        forward_.dense(recorder_, last, rows,
                       outputs_.view(forward_.bytes(last + 1, first), forward_.bytes(last + 1, rows)));
    }
    const shared::PlanePictureParams params{options_.outputSize, outputCells_, asUint(shape_.outputs()),
                                            forward_.stride(last + 1), discretise ? 1u : 0u};
    recorder_.dispatch(kernels_.planePicture(shape_.loss, shape_.outputActivation),
                       {outputCells_, outputCells_, 1}, params,
                       {outputs_.view(0, forward_.bytes(last + 1, cells)), colours(), next().output.view()});
}

/// Level 0 = the features of cells [first, first + rows).
void PlaneMap::inputs(std::uint32_t cells, std::size_t first, std::size_t rows) {
    shared::PlaneInputsParams params{};
    params.rows = asUint(rows);
    params.first = asUint(first);
    params.size = cells;
    params.stride = forward_.stride(0);
    params.features = asUint(features_.size());
    params.kinds = packedFeatures(features_);
    params.left = options_.from;
    params.top = options_.to;
    params.cell = (options_.to - options_.from) / static_cast<float>(cells);
    recorder_.dispatch(kernels_.planeInputs(), {params.rows, 1, 1}, params, {forward_.activations(0, rows)});
}

std::vector<float> PlaneMap::outputs() const {
    if (outputCells_ == 0) throw std::logic_error("a map of the plane was read before it was computed");
    return outputs_.downloadValues<float>(outputCells_ * outputCells_ * forward_.stride(shape_.layers()));
}

gpu::BufferView PlaneMap::colours() const {
    return parameters_.view(layout_.size() * sizeof(float), sizeof(PlaneColourWords));
}

} // namespace lockstep
