#include "demos/exhibits/race/race_exhibit.h"

#include <fmt/format.h>

#include "demos/report/text.h"

namespace lockstep::demos {

void RaceExhibit::drawIcon(ImDrawList& draw, ImVec2 centre, float size, ImU32 colour) const {
    // Two lanes, one ahead.
    const float r = size / 2;
    for (const float lane : {-0.45f, 0.45f}) {
        const float y = centre.y + lane * r;
        draw.AddLine({centre.x - r, y}, {centre.x + r, y}, faded(colour, 0.5f), size / 12);
        draw.AddCircleFilled({centre.x + (lane < 0 ? 0.55f : -0.2f) * r, y}, size / 6, colour);
    }
}

void RaceExhibit::begin(Ui& ui) {
    race_.reset();
    data_ = loadData(options_);
    const TrainJob job = makeJob(options_, data_);
    const LaneChoice choice = chooseRaceLanes(options_.lanes, ui.machines);
    RaceOptions race;
    race.lane.finish = finishLineFor(options_, job, true);
    std::vector<RaceEntry> entries;
    for (const LaneSpec& spec : choice.lanes) entries.push_back({spec, ui.machines.maker(job, spec)});
    race_ = std::make_unique<Race>(job, std::move(entries), race);
    race_->start();
    over_ = paused_ = false;
}

void RaceExhibit::update(Ui&) {
    if (race_ && !over_) over_ = !race_->advance();
}

void RaceExhibit::run(Ui& ui) {
    if (!race_ || over_) begin(ui);
    else race_->resume();
    paused_ = false;
}

void RaceExhibit::pause() {
    if (race_ && !over_) race_->pause();
    paused_ = true;
}

void RaceExhibit::reset(Ui&) { race_.reset(); }
void RaceExhibit::reroll(Ui&) {
    ++options_.settings.seed;
    race_.reset();
}
void RaceExhibit::releaseDevice() { race_.reset(); }

void RaceExhibit::draw(Ui& ui) {
    if (!race_) {
        ui.paragraph("Press Run.");
        return;
    }
    for (std::size_t i = 0; i < race_->size(); ++i) {
        const LaneSnapshot shot = race_->lane(i).snapshot();
        ui.text(race_->spec(i).text(), ui.colour(race_->spec(i)), ui.fonts.title);
        ui.row("samples/s", ui.timing(shortRate(shot.recentRate)));
        ui.row("loss", fixed(shot.loss, 4));
    }
}

void RaceExhibit::drawDetails(Ui& ui) { ui.paragraph("Two machines."); }

} // namespace lockstep::demos
