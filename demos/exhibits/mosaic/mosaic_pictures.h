// The mosaic's pictures: all decision maps of a side in one, and its losses as a map over both axes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "demos/draw/picture.h"
#include "demos/draw/ui.h"
#include "demos/exhibits/mosaic/mosaic_model.h"

namespace lockstep::demos {

/// A part of a picture.
struct TilePicture {
    ImTextureID picture{};
    ImVec2 from{0, 0};
    ImVec2 to{1, 1};
};

class MosaicPictures {
  public:
    /// Before the model's update: pictures of sides that are gone go first.
    void beginFrame(const MosaicModel& model);
    /// After it: shows what is new.
    void update(Ui& ui, const MosaicModel& model);
    void release() { *this = {}; }

    /// Of the losses of all sides, as they were at the last update.
    const LossScale& scale() const { return scale_; }

    /// Whether there are tiles of that side, so that those below may be asked for.
    bool has(std::size_t side) const { return side < sides_.size() && sides_[side].maps; }
    TilePicture tile(const PopulationSpec& spec, std::size_t side, std::size_t member) const;
    /// A pixel per network, in their places.
    ImTextureID losses(std::size_t side) const { return sides_[side].losses->id(); }

  private:
    struct SidePictures {
        std::unique_ptr<Picture> maps;
        std::unique_ptr<Picture> losses;
    };
    void showLosses(Ui& ui, const MosaicModel& model, std::size_t side);

    std::vector<SidePictures> sides_;
    LossScale scale_;
    std::uint64_t generation_ = 0;
};

} // namespace lockstep::demos
