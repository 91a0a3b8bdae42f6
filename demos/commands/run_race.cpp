#include "demos/commands/run_race.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/kit/interrupt.h"
#include "demos/report/headline.h"
#include "demos/report/progress.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/text.h"
#include "engine/net/param_layout.h"
#include "engine/run/checkpoint.h"

namespace lockstep::demos {

int runToEnd(Race& race, bool quiet) {
    const InterruptGuard interrupt;
    ProgressLines progress(quiet);
    race.start();
    bool stopping = false;
    while (!race.waitFor(std::chrono::milliseconds(100))) {
        progress.show(progressOf(race));
        if (interrupt.exitCode() == 0 || stopping) continue;
        race.stop();
        stopping = true;
    }
    progress.show(progressOf(race));
    return interrupt.exitCode();
}

int report(const TrainJob& job, const FinishLine& finish, const RunOptions& options, Race& race, int soFar) {
    const std::vector<LaneResult> results = race.results();
    const Headline headline = headlineFor(results, finish, race.together());
    std::FILE* people = peopleStream(options.jsonFile, options.csvFile);
    fmt::print(people, "\n{}", resultText(results, race.together()));
    if (results.size() > 1) fmt::print(people, "\n{}{}\n", agreementText(results), wrapped(headline.text));
    std::fflush(people);

    if (!options.jsonFile.empty())
        writeResult(options.jsonFile,
                    raceJson(job, finish, race.together(), results, headline).dump(1) + "\n");
    writeResult(options.csvFile, raceCsv(results));
    if (soFar != 0) return soFar;
    const auto failed = [](const LaneResult& result) { return result.end.status == LaneStatus::failed; };
    return std::ranges::any_of(results, failed) ? 1 : 0;
}

LaneOptions laneOptions(const RunOptions& options, const TrainJob& job, const FinishLine& finish) {
    LaneOptions lane;
    lane.finish = finish;
    lane.evaluateEvery = options.evaluateEvery;
    lane.keepLossEvery = options.logEvery;
    if (options.weightsFile.empty()) return lane;
    TrainerState state;
    state.parameters = loadWeights(options.weightsFile, job.shape);
    const std::size_t size = ParamLayout(job.shape).size();
    state.optimizerState.assign(job.settings.optimizer.stateArrays(), std::vector<float>(size, 0.0F));
    lane.start = std::move(state);
    return lane;
}

} // namespace lockstep::demos
