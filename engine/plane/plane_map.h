// What every neuron of a network answers over a rectangle of the plane, computed on the card into pictures.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/net/param_layout.h"
#include "engine/net/plane_features.h"
#include "engine/plane/map_budget.h"
#include "engine/plane/plane_colours.h"
#include "engine/step/kernels.h"

namespace lockstep {

struct PlaneMapOptions {
    std::uint32_t outputSize = 512; ///< pixels of the output picture, square; 16 to 2,048
    std::uint32_t neuronSize = 40;  ///< pixels of one neuron's map, square; 4 to 512
    std::uint32_t mostNeurons = 32; ///< maps per layer (the first ones)
    float from = -6, to = 6; ///< the rectangle, both axes; y grows upwards (row 0 of a picture is y = to)
};

/// Where the tiles of a wide layer lie in its picture: neuron n at column n % columns, line n / columns.
struct NeuronGrid {
    std::uint32_t columns = 0;
    std::uint32_t lines = 0;
    std::uint32_t tile = 0; ///< pixels, square
    std::uint32_t width() const { return columns * tile; }
    std::uint32_t height() const { return lines * tile; }
};

/// Maps are computed at the centres of a grid of cells. Where a cell per pixel would keep the device for too
/// long, cells are larger than pixels (doubled until it fits), and pictures show them as squares. How long is
/// too long depends on MapDetail. On a GPU it is measured; on a software device it is a fixed amount of work,
/// so that pictures do not depend on speed.
///
/// Colours of the output: one output is shown by its sign and size (a probability p as 2 p - 1, other values
/// as they are), clamped to [-1, 1]; several outputs are taken for classes, whose colours are mixed by their
/// probabilities (outputs of other losses than cross-entropies: clamped to [0, 1], then shared out). Colours
/// of a neuron: its answer, divided by its largest magnitude on the map where that is above 1.
///
/// One thread at a time.
class PlaneMap {
  public:
    /// `features` are the network's inputs, in order. Throws std::invalid_argument when they do not fit the
    /// shape or the options make no sense, gpu::OutOfMemoryError and gpu::GpuError.
    PlaneMap(gpu::Device& device, const NetShape& shape, std::vector<PlaneFeature> features,
             PlaneMapOptions options = {});

    /// Computes all pictures for a parameter arena (ParamLayout). Submits and returns at once, unless two
    /// earlier ones are still under way; whoever reads the pictures waits for the ticket. Nobody may be
    /// reading the earlier ones any more.
    gpu::Ticket compute(std::span<const float> parameters, const PlaneColours& colours,
                        MapDetail detail = MapDetail::still);

    const PlaneMapOptions& options() const { return options_; }
    const NetShape& shape() const { return shape_; }

    /// outputSize * outputSize words.
    gpu::BufferView outputPicture() const { return outputPicture_.view(); }
    /// atlasHeight() * atlasWidth() words: line l is level l (0 the input features, then the hidden layers,
    /// the last one the outputs), neuronSize pixels high; column n is neuron n.
    gpu::BufferView neuronPicture() const { return atlas_.view(); }
    std::uint32_t atlasWidth() const { return atlasColumns_ * options_.neuronSize; }
    std::uint32_t atlasHeight() const;

    /// Levels of more than mostNeurons neurons also have a picture of all of them in small.
    bool isWide(std::size_t level) const { return wide_[level] != nullptr; }
    NeuronGrid wideLayerGrid(std::size_t level) const;
    gpu::BufferView wideLayerPicture(std::size_t level) const { return wide_[level]->view(); }

    /// The last computation's answers, [outputSize][outputSize][outputs]: probabilities behind cross-entropy
    /// (softmax) and binary cross-entropy (sigmoid), else the outputs themselves. Waits for the device.
    std::vector<float> outputs();

    /// Cells along one side of the last computation's output map, and of its neurons' maps.
    std::uint32_t outputCells() const { return outputCells_; }
    std::uint32_t neuronCells() const { return neuronCells_; }
    /// What the last computation that is known to be over kept the device for; 0 before the first.
    double milliseconds();

  private:
    struct Upload {
        gpu::Buffer buffer;
        gpu::Ticket ticket = 0;
        double work = 0; ///< of the submission that reads it
    };

    void upload(std::span<const float> parameters, const PlaneColours& colours);
    void drawNeurons(bool discretise);
    void drawLevel(std::size_t level, bool discretise);
    void drawTiles(std::size_t level, const gpu::Buffer& picture, std::uint32_t lines,
                   const shared::NeuronPictureParams& params);
    void drawOutput(bool discretise);
    void inputs(std::uint32_t cells, std::size_t first, std::size_t rows);
    void dense(std::size_t layer, std::size_t rows, const gpu::BufferView& to);
    void noteTime();

    std::uint32_t stride(std::size_t level) const;
    std::uint64_t bytes(std::size_t level, std::size_t rows) const;
    gpu::BufferView activations(std::size_t level, std::size_t rows) const;
    gpu::BufferView weights(std::size_t layer) const;
    gpu::BufferView bias(std::size_t layer) const;
    gpu::BufferView colours() const;

    gpu::Device& device_;
    const NetShape shape_;
    const ParamLayout layout_;
    const std::vector<PlaneFeature> features_;
    const PlaneMapOptions options_;
    const std::uint32_t atlasColumns_;
    const std::size_t capacity_; ///< rows that are computed at a time
    const double workPerCell_;
    MapBudget budget_;

    Kernels kernels_;
    std::vector<DenseKernel> dense_;
    std::array<Upload, 2> uploads_;
    std::size_t turn_ = 0;
    gpu::Buffer parameters_; ///< then the colours
    gpu::Buffer even_;       ///< activations of even levels ...
    gpu::Buffer odd_;        ///< ... and of odd ones, capacity_ rows
    gpu::Buffer sums_;       ///< where the activation's kernel writes them
    gpu::Buffer outputs_;    ///< [cells][stride]
    gpu::Buffer outputPicture_;
    gpu::Buffer atlas_;
    std::vector<std::unique_ptr<gpu::Buffer>> wide_; ///< by level; null where all have a tile in the atlas

    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers

    std::uint32_t outputCells_ = 0;
    std::uint32_t neuronCells_ = 0;
    double milliseconds_ = 0;
};

} // namespace lockstep
