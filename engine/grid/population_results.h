// What is read back from a population on a GPU: the scores of all networks, one network's parameters,
// pictures of all answers.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/grid/population_gpu.h"
#include "engine/net/param_layout.h"
#include "engine/net/plain_ops.h"

namespace lockstep {

/// Evaluates a population: losses, accuracies and norms of all networks.
/// Every call waits for the device, and throws gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors,
/// and std::runtime_error if the device refuses a kernel.
class PopulationScores {
  public:
    /// `arenas` must outlive the object. Also throws gpu::OutOfMemoryError.
    explicit PopulationScores(PopulationArenas& arenas)
        : arenas_(arenas), parts_(populationParts(arenas.device, arenas.job, networks())),
          partSums_(arenas.device, parts_.bytes(networks()), gpu::Memory::device, "scores"),
          results_(arenas.device, networks() * sizeof(shared::PopulationResult), gpu::Memory::readback,
                   "results"),
          column_(arenas.device, arenas.arenaIndices.size() * sizeof(float), gpu::Memory::readback,
                  "parameters of a network"),
          recorder_(arenas.device) {}

    /// Scores the networks once, and again only after forget().
    std::vector<MemberResult> results() {
        if (!scored_) score();
        std::vector<MemberResult> all;
        for (const auto& result : mappedValues<shared::PopulationResult>(results_, networks()))
            all.push_back({result.steps, result.diverged != 0, result.batchLoss, result.loss, result.accuracy,
                           result.weightNorm});
        return all;
    }
    /// Call after training: the scores are out of date.
    void forget() { scored_ = false; }

    /// In ParamLayout's order. Also throws std::out_of_range if there is no such member.
    std::vector<float> parameters(std::size_t member) {
        const std::vector<std::uint32_t>& members = arenas_.places.members;
        const std::size_t count = arenas_.arenaIndices.size();
        const auto place = static_cast<std::size_t>(std::ranges::find(members, member) - members.begin());
        if (place == members.size())
            throw std::out_of_range("the population has no network " + std::to_string(member));
        recorder_.begin();
        for (std::size_t p = 0; p < count; ++p)
            recorder_.copy(
                arenas_.parameters.view((p * members.size() + place) * sizeof(float), sizeof(float)),
                column_.view(p * sizeof(float), sizeof(float)));
        recorder_.submitAndTime();
        const std::vector<float> column = mappedValues<float>(column_, count);
        std::vector<float> arena(ParamLayout(arenas_.job.shape).size());
        for (std::size_t p = 0; p < count; ++p) arena[arenas_.arenaIndices[p]] = column[p];
        return arena;
    }

  private:
    std::size_t networks() const { return arenas_.job.members.size(); }

    /// Waits for no other work on the device, as Buffer::download() would.
    template <class T> static std::vector<T> mappedValues(const gpu::Buffer& buffer, std::size_t count) {
        std::vector<T> values(count);
        std::memcpy(values.data(), buffer.mapped().data(), count * sizeof(T));
        return values;
    }

    void score() {
        const PopulationJob& job = arenas_.job;
        shared::PopulationScoreParams params{};
        params.places = gpu::asUint(networks());
        params.examples = parts_.examples;
        params.rows = parts_.rows;
        params.classes = gpu::asUint(job.data.front()->classes);
        params.parts = parts_.count;
        params.terms = static_cast<float>(lossTerms(job.shape.loss, params.examples, job.shape.outputs()));
        const double workOfOne =
            static_cast<double>(params.examples) * static_cast<double>(arenas_.arenaIndices.size());
        recorder_.begin();
        for (const PopulationRun& piece :
             arenas_.places.pieces(0, params.places, arenas_.atOnce(workOfOne, 32) / 32 * 32))
            scoreNetworks(piece, params);
        params.networks = params.places;
        recorder_.dispatch(arenas_.kernels.find<shared::PopulationScoreParams>("population_result",
                                                                               arenas_.widthConstants(32)),
                           {params.networks, 1, 1}, params,
                           {arenas_.parameters.view(), arenas_.networks.view(), arenas_.states.view(),
                            partSums_.view(), results_.view()});
        recorder_.submitAndTime();
        scored_ = true;
    }

    /// In as many submissions as their parts need to be short.
    void scoreNetworks(const PopulationRun& run, shared::PopulationScoreParams params) {
        params.first = run.first;
        params.networks = run.count;
        const double workOfPart = static_cast<double>(params.networks) * static_cast<double>(parts_.rows) *
                                  static_cast<double>(arenas_.arenaIndices.size());
        const std::uint32_t most = arenas_.atOnce(workOfPart);
        const auto& kernel = arenas_.kernels.find<shared::PopulationScoreParams>(
            arenas_.loopedIfLarge("population_score"), arenas_.networkConstants(32, run.activation));
        for (; params.firstPart < parts_.count; params.firstPart += most) {
            recorder_.dispatch(kernel, {params.networks, std::min(most, parts_.count - params.firstPart), 1},
                               params,
                               {arenas_.parameters.view(), arenas_.networks.view(),
                                (arenas_.test ? *arenas_.test : arenas_.train).view(), partSums_.view()});
            recorder_.submitAndGoOn();
        }
    }

    PopulationArenas& arenas_;
    const PopulationParts parts_;
    gpu::Buffer partSums_; ///< vec2 [part][place]
    gpu::Buffer results_;  ///< shared::PopulationResult [member]
    gpu::Buffer column_;   ///< one network's parameters
    bool scored_ = false;
    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers
};

/// Pictures of all networks. The one before the last is given up for the next.
class PopulationMaps {
  public:
    /// `arenas` must outlive the object.
    explicit PopulationMaps(PopulationArenas& arenas) : arenas_(arenas), recorder_(arenas.device) {}

    /// Submits and returns. The picture stays valid until the call after the next one. Throws
    /// std::invalid_argument for options that don't fit the shape or the device (with the largest that do),
    /// gpu::OutOfMemoryError, gpu::DeviceLostError, gpu::TimeoutError, other gpu::GpuErrors.
    DevicePicture compute(const DecisionMapOptions& options) {
        options.validate(arenas_.job);
        requireRoom(options);
        Turn& turn = nextTurn(options);
        recorder_.begin();
        draw(turn, options);
        turn.ready = recorder_.submit();
        return {turn.picture->view(0, 4 * pixelsOf(options)), turn.ready};
    }

    /// The same in host memory. Waits for the device. Throws likewise.
    std::vector<std::uint32_t> download(const DecisionMapOptions& options) {
        compute(options);
        const Turn& turn = turns_[(next_ - 1) % turns_.size()];
        return turn.picture->downloadValues<std::uint32_t>(pixelsOf(options));
    }

  private:
    struct Turn {
        std::unique_ptr<gpu::Buffer> picture; ///< null: not yet, or of another size
        std::unique_ptr<gpu::Buffer> colours;
        gpu::Ticket ready = 0;
    };

    std::uint64_t pixelsOf(const DecisionMapOptions& options) const {
        return std::uint64_t{options.width()} * options.height(arenas_.job.members.size());
    }

    void requireRoom(const DecisionMapOptions& options) const {
        const std::uint64_t most = arenas_.device.limits().storageRange / 4;
        if (pixelsOf(options) <= most) return;
        DecisionMapOptions smaller = options;
        while (smaller.cells > 0 && pixelsOf(smaller) > most) --smaller.cells;
        throw std::invalid_argument("decision maps of " + std::to_string(pixelsOf(options)) +
                                    " pixels are too large for the device, which takes " +
                                    std::to_string(most) + ": with " + std::to_string(options.columns) +
                                    " tiles beside each other their sides have at most " +
                                    std::to_string(smaller.cells) + " pixels");
    }

    Turn& nextTurn(const DecisionMapOptions& options) {
        Turn& turn = turns_[next_++ % turns_.size()];
        arenas_.device.wait(turn.ready);
        const std::uint64_t bytes = 4 * pixelsOf(options);
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

    void draw(const Turn& turn, const DecisionMapOptions& options) {
        recorder_.fill(turn.picture->view(), options.colours.background); // the last line may not be full
        shared::PopulationPictureParams params{};
        params.places = gpu::asUint(arenas_.job.members.size());
        params.columns = options.columns;
        params.cells = options.cells;
        params.kinds = packedFeatures(options.features);
        params.left = options.from;
        params.top = options.to;
        params.cell = (options.to - options.from) / static_cast<float>(options.cells);
        params.discretise = options.colours.discretise ? 1 : 0;
        const double workOfOne = static_cast<double>(options.cells) * options.cells *
                                 static_cast<double>(arenas_.job.shape.parameters() + 100); // its colours
        for (const PopulationRun& piece :
             arenas_.places.pieces(0, params.places, arenas_.atOnce(workOfOne))) {
            if (piece.first > 0) recorder_.submitAndGoOn();
            params.first = piece.first;
            params.networks = piece.count;
            gpu::SpecConstants constants = arenas_.networkConstants(4, piece.activation);
            constants[5] = 8; // a workgroup has 16 x 8 cells: four beside each other per invocation
            recorder_.dispatch(arenas_.kernels.find<shared::PopulationPictureParams>(
                                   arenas_.loopedIfLarge("population_picture"), std::move(constants)),
                               {(params.cells + 3) / 4, params.cells, params.networks}, params,
                               {arenas_.parameters.view(), arenas_.networks.view(), turn.colours->view(),
                                turn.picture->view()});
        }
    }

    PopulationArenas& arenas_;
    std::array<Turn, 2> turns_;
    std::size_t next_ = 0;
    gpu::Recorder recorder_; ///< destroyed first: it waits for what still uses the buffers
};

} // namespace lockstep
