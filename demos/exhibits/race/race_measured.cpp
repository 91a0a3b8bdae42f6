#include "demos/exhibits/race/race_measured.h"

namespace lockstep::demos {

namespace {

void addLane(MeasuredValues& values, const std::string& lane, const LaneResult* result,
             const LaneFigures& figures) {
    const auto add = [&](const char* name, double number) {
        values["race." + lane + "." + name].number = number;
    };
    const LaneSnapshot end = result == nullptr ? LaneSnapshot{} : result->end;
    const bool finished = end.status == LaneStatus::finished;
    add("samples_per_second", finished ? figures.rate : LaneSnapshot::unknown);
    add("seconds", finished ? figures.seconds : LaneSnapshot::unknown);
    add("gflops", finished ? figures.gflops : LaneSnapshot::unknown);
    add("watts", finished ? figures.watts : LaneSnapshot::unknown);
    add("loss", finished ? end.testLoss : LaneSnapshot::unknown);
    add("accuracy", finished ? end.testAccuracy : LaneSnapshot::unknown);
}

} // namespace

void addMeasured(MeasuredValues& values, const RaceModel& model) {
    for (const LaneSpec& spec : plannedLanes(model.settings)) addLane(values, spec.text(), nullptr, {});
    for (const char* name : {"race.finished", "race.faster", "race.ratio", "race.gpu_to_cpu"})
        values[name] = {};
    const RaceRun* run = model.shown();
    if (run == nullptr || model.changed()) return;
    const std::vector<LaneFigures> figures = run->figures();
    for (std::size_t lane = 0; lane < run->lanes.size(); ++lane)
        addLane(values, run->lanes[lane].spec.text(), &run->lanes[lane], figures[lane]);
    if (!run->over) return;
    values["race.finished"].number = 1;
    if (!run->headline.valid) return;
    const LaneSpec& faster = run->lanes[run->headline.faster].spec;
    const LaneSpec& slower = run->lanes[run->headline.slower].spec;
    values["race.faster"].text = faster.gpu ? "GPU" : "CPU";
    values["race.ratio"].number = run->headline.ratio;
    if (faster.gpu != slower.gpu)
        values["race.gpu_to_cpu"].number = faster.gpu ? run->headline.ratio : 1 / run->headline.ratio;
}

} // namespace lockstep::demos
