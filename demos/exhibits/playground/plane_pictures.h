// The playground's pictures: what the network and each of its neurons answer over the plane, computed on the
// card and shown without a copy to the host; maps of the features; and the marks of points.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/playground/playground_model.h"
#include "engine/plane/plane_map.h"

namespace lockstep::demos {

/// A part of a picture.
struct PicturePart {
    ImTextureID picture{};
    ImVec2 from{0, 0};
    ImVec2 to{1, 1};

    /// Fills a rectangle of the window with it.
    void draw(ImVec2 low, ImVec2 high, ImU32 colour = IM_COL32_WHITE, float rounding = 0) const {
        ImGui::GetWindowDrawList()->AddImageRounded(picture, low, high, from, to, colour, rounding);
    }
};

class PlanePictures {
  public:
    /// Computes what has changed, and shows what is ready: once at a frame's begin, and again where drawing
    /// may have changed the network. While it trains, maps take a tenth of the device's time at most. Throws
    /// gpu::GpuError, and then nothing has changed.
    void update(Ui& ui, const PlaygroundModel& model, bool discretise);
    /// Whether there are pictures of this network, so that the ones below may be asked for.
    bool fit(const PlaygroundModel& model) const;
    /// Nothing that this frame has drawn is needed any more.
    void beginFrame() { retired_.clear(); }
    bool busy() const { return computing_.has_value(); }
    void release() { *this = {}; }

    PicturePart output() const { return {output_->id(), {0, 0}, {1, 1}}; }
    /// Layer 0 is the features in use. Of a wide layer, neurons from `mapped()` on have a coarser map.
    PicturePart neuron(std::size_t layer, std::size_t index) const;
    /// All neurons of a layer of more than mapped(), in small: neuron n at column n % columns, line n /
    /// columns.
    PicturePart wideLayer(std::size_t layer) const { return {maps_.wide[layer]->id(), {0, 0}, {1, 1}}; }
    NeuronGrid wideLayerGrid(std::size_t layer) const { return maps_.map->wideLayerGrid(layer); }
    static constexpr std::size_t mapped() { return 32; }
    /// The picture of any feature, in use or not.
    PicturePart feature(PlaneFeature feature) const;
    /// A white mark: a shape per class; hollow for test points.
    PicturePart mark(std::size_t shape, bool hollow) const;
    /// The mark in its colour within a white ring, so that it is seen on its own colour, too. As opaque as
    /// the colour.
    void ringedMark(std::size_t shape, bool hollow, ImVec2 at, float half, ImU32 colour) const;
    /// The plane in the colours of the data set's nearest points; no picture where there is no memory for it.
    PicturePart dataSet(Points2d set) const;

  private:
    // What another network needs anew.
    struct Maps {
        std::unique_ptr<PlaneMap> map;
        std::vector<PlaneFeature> features;
        std::unique_ptr<Picture> neurons;
        std::vector<std::unique_ptr<Picture>> wide; ///< by layer; null where all have a map of their own
    };

    void compute(Ui& ui, const PlaygroundModel& model, bool discretise);
    void show();
    void makeMaps(Ui& ui, const PlaygroundModel& model);
    void drawFeatures(Ui& ui);
    void drawDataSets(Ui& ui);
    void drawMarks(Ui& ui);

    Maps maps_;
    std::unique_ptr<Picture> output_;
    std::unique_ptr<Picture> featureMaps_;
    std::unique_ptr<Picture> dataSets_;
    std::unique_ptr<Picture> marks_;
    std::uint64_t revision_ = 0;
    bool discretise_ = false;
    bool fine_ = false;        // the last maps were computed in full
    std::optional<bool> dark_; ///< of what was drawn last
    std::optional<gpu::Ticket> computing_;
    double next_ = 0;           ///< when the next one may begin while training runs
    std::vector<Maps> retired_; ///< the frame under way may still show them
};

} // namespace lockstep::demos
