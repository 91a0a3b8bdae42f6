#include "demos/exhibits/mosaic/mosaic_pictures.h"

#include <algorithm>
#include <utility>

namespace lockstep::demos {

void MosaicPictures::beginFrame(const MosaicModel& model) {
    if (generation_ != model.generation()) sides_.clear();
    generation_ = model.generation();
}

void MosaicPictures::update(Ui& ui, const MosaicModel& model) {
    sides_.resize(model.sides().size());
    const LossScale scale = model.scale();
    const bool rescaled = std::exchange(scale_, scale) != scale;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
        const MosaicSide& side = model.sides()[i];
        if (side.maps) {
            const MosaicMaps& maps = *side.maps;
            std::unique_ptr<Picture>& picture = sides_[i].maps;
            if (!picture) picture = std::make_unique<Picture>(ui.graphics, maps.width, maps.height, true);
            if (maps.device)
                picture->show(maps.device->view, maps.device->ready);
            else
                picture->upload(maps.words);
        }
        if (side.shot && (side.maps || (rescaled && sides_[i].losses))) showLosses(ui, model, i);
    }
}

void MosaicPictures::showLosses(Ui& ui, const MosaicModel& model, std::size_t side) {
    const PopulationSpec& spec = model.spec();
    std::vector<std::uint32_t> pixels;
    for (const MemberResult& result : model.sides()[side].shot->results)
        pixels.push_back(lossColour(ui.theme, scale_, result));
    std::unique_ptr<Picture>& picture = sides_[side].losses;
    if (!picture)
        picture = std::make_unique<Picture>(ui.graphics, static_cast<std::uint32_t>(spec.columns),
                                            static_cast<std::uint32_t>(spec.rows), false);
    picture->upload(pixels);
}

TilePicture MosaicPictures::tile(const PopulationSpec& spec, std::size_t side, std::size_t member) const {
    const Picture& maps = *sides_[side].maps;
    const auto width = static_cast<float>(maps.width());
    const auto height = static_cast<float>(maps.height());
    const float cells = width / static_cast<float>(spec.columns);
    const float x = static_cast<float>(member % spec.columns) * cells;
    const float y = static_cast<float>(member / spec.columns) * cells;
    // Half a pixel inside, so that smoothing does not bring in the neighbour.
    return {maps.id(),
            {(x + 0.5f) / width, (y + 0.5f) / height},
            {(x + cells - 0.5f) / width, (y + cells - 0.5f) / height}};
}

} // namespace lockstep::demos
