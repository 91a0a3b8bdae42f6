// Pictures of every neuron's output over a rectangle of the plane, computed on the GPU.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "engine/gpu/recorder.h"
#include "engine/net/param_layout.h"
#include "engine/net/plane_features.h"
#include "engine/plane/plane_colours.h"
#include "engine/step/gpu_forward.h"
#include "engine/step/kernels.h"
#include "engine/step/work_sizer.h"

namespace lockstep {

enum class MapDetail {
    moving, ///< one of many pictures while the network trains: a small share of the device's time
    still,  ///< a picture to look at for longer: ten times as much
};

struct PlaneMapOptions {
    std::uint32_t outputSize = 512; ///< side of the output picture in pixels: 16 to 2,048
    std::uint32_t neuronSize = 40;  ///< side of one neuron's map in pixels: 4 to 512
    std::uint32_t mostNeurons = 32; ///< maps per layer (of its first neurons)
    float from = -6, to = 6; ///< the rectangle, both axes; y grows upwards (row 0 of a picture is y = to)
};

/// The layout of a wide layer's picture: neuron n is at column n % columns, line n / columns.
struct NeuronGrid {
    std::uint32_t columns = 0;
    std::uint32_t lines = 0;
    std::uint32_t tile = 0; ///< side in pixels
    std::uint32_t width() const { return columns * tile; }
    std::uint32_t height() const { return lines * tile; }
};

/// Maps are computed at the centres of a grid of cells. If one cell per pixel would occupy the device for too
/// long, cells double in size until the work fits the budget for the chosen MapDetail; pictures show them as
/// squares. On a GPU the budget is measured. On a software device it is a fixed amount of work, so that
/// pictures do not depend on speed. Output colours: a single output is shown by sign and size, clamped to
/// [-1, 1] (a probability p counts as 2 p - 1). Several outputs are classes, whose colours are mixed by their
/// probabilities (without cross-entropy: by the outputs, clamped to [0, 1] and normalised). Neuron colours:
/// the output, divided by its largest magnitude on the map if that exceeds 1. Use from one thread at a time.
class PlaneMap {
  public:
    /// `features` are the network's inputs, in order. Throws std::invalid_argument if they do not match the
    /// shape or an option is out of range; gpu::OutOfMemoryError; gpu::GpuError.
    PlaneMap(gpu::Device& device, const NetShape& shape, std::vector<PlaneFeature> features,
             PlaneMapOptions options = {});

    /// Computes all pictures for a parameter arena (ParamLayout). Returns after submission, or waits if two
    /// earlier computations are still running. Wait for the ticket before reading the pictures; the previous
    /// pictures must no longer be in use.
    gpu::Ticket compute(std::span<const float> parameters, const PlaneColours& colours,
                        MapDetail detail = MapDetail::still);

    const PlaneMapOptions& options() const { return options_; }
    const NetShape& shape() const { return shape_; }

    // Pictures of the last computation. The next one writes others: they stay as they are until the one after
    // it is submitted, for a frame that still copies them.

    /// outputSize * outputSize words.
    gpu::BufferView outputPicture() const { return last().output.view(); }
    /// atlasHeight() * atlasWidth() words: line l is level l (0 the input features, then the hidden layers,
    /// the last one the outputs), neuronSize pixels high; column n shows neuron n.
    gpu::BufferView neuronPicture() const { return last().neurons.view(); }
    std::uint32_t atlasWidth() const { return atlasColumns_ * options_.neuronSize; }
    std::uint32_t atlasHeight() const;

    /// A level of more than mostNeurons neurons also has a picture of all of them at a smaller size.
    bool isWide(std::size_t level) const { return shape_.widths[level] > options_.mostNeurons; }
    NeuronGrid wideLayerGrid(std::size_t level) const;
    gpu::BufferView wideLayerPicture(std::size_t level) const { return last().wide.at(level).view(); }

    /// The network's outputs of the last computation, [outputCells()][outputCells()][outputs rounded up to
    /// four]. Waits for the device.
    std::vector<float> outputs() const;

    /// Cells along one side of the last computation's output map, and of its neurons' maps.
    std::uint32_t outputCells() const { return outputCells_; }
    std::uint32_t neuronCells() const { return neuronCells_; }
    /// Device time of the last computation known to be finished; 0 before the first.
    double milliseconds();

  private:
    struct Upload {
        gpu::Buffer buffer;
        gpu::Ticket ticket = 0;
        double work = 0; ///< work of the submission that reads it
    };

    struct Pictures {
        explicit Pictures(const PlaneMap& map);

        gpu::Buffer output;
        gpu::Buffer neurons;
        std::map<std::size_t, gpu::Buffer> wide; ///< by level: those with neurons that the others leave out
    };

    Pictures& next() { return pictures_[turn_ % pictures_.size()]; }
    const Pictures& last() const { return pictures_[(turn_ + 1) % pictures_.size()]; }
    void drawNeurons(bool discretise);
    void drawLevel(std::size_t level, bool discretise);
    void drawOutput(bool discretise);
    void inputs(std::uint32_t cells, std::size_t first, std::size_t rows);
    std::uint32_t cellsFor(std::uint32_t size, std::uint32_t smallest, MapDetail detail) const;
    void noteTime();
    gpu::BufferView colours() const;

    gpu::Device& device_;
    const NetShape shape_;
    const ParamLayout layout_;
    const std::vector<PlaneFeature> features_;
    const PlaneMapOptions options_;
    const std::uint32_t atlasColumns_;
    const std::size_t capacity_; ///< rows computed at a time
    const double workPerCell_;
    WorkSizer budget_; ///< work of a picture, as workPerCell_ counts it

    Kernels kernels_;
    std::array<Upload, 2> uploads_;
    std::size_t turn_ = 0;
    gpu::Buffer parameters_; ///< followed by the colours
    GpuForward forward_;
    gpu::Buffer outputs_; ///< [cells][stride]
    std::array<Pictures, 2> pictures_;

    gpu::Recorder recorder_; ///< declared last, destroyed first: waits for work that uses the buffers

    std::uint32_t outputCells_ = 0;
    std::uint32_t neuronCells_ = 0;
    double milliseconds_ = 0;
};

} // namespace lockstep
