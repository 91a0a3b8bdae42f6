// The mosaic's pictures: all decision maps of a side in one, and its losses as a map over both axes.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "demos/exhibits/mosaic/mosaic_model.h"
#include "demos/shell/picture.h"
#include "demos/shell/ui.h"

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
    LossScale scale_; // of the pictures of losses
    std::uint64_t generation_ = 0;
};

/// The ground of what has diverged, in either theme.
ImU32 divergedColour(const Theme& theme);
/// In the colour of its loss; what has diverged is dark, what has no loss yet is grey.
ImU32 lossColour(const Theme& theme, const LossScale& scale, const MemberResult& result);

} // namespace lockstep::demos
