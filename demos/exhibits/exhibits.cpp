// The list of exhibits: the one place that knows them all.
#include "demos/exhibits/inside/inside_exhibit.h"
#include "demos/exhibits/ladder/ladder_exhibit.h"
#include "demos/exhibits/map/map_exhibit.h"
#include "demos/exhibits/mosaic/mosaic_exhibit.h"
#include "demos/exhibits/playground/playground_exhibit.h"
#include "demos/exhibits/race/race_exhibit.h"
#include "demos/kit/exhibit.h"

namespace lockstep::demos {

std::vector<std::unique_ptr<Exhibit>> makeExhibits() {
    std::vector<std::unique_ptr<Exhibit>> exhibits;
    exhibits.push_back(std::make_unique<RaceExhibit>());
    exhibits.push_back(std::make_unique<PlaygroundExhibit>());
    exhibits.push_back(std::make_unique<InsideExhibit>());
    exhibits.push_back(std::make_unique<LadderExhibit>());
    exhibits.push_back(std::make_unique<MosaicExhibit>());
    exhibits.push_back(std::make_unique<MapExhibit>());
    return exhibits;
}

} // namespace lockstep::demos
