#include "demos/report/population_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/race_report.h"
#include "demos/words/text.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

bool agree(const MemberResult& a, const MemberResult& b) {
    if (a.diverged || b.diverged) return a.diverged == b.diverged && a.steps == b.steps;
    const double difference = std::abs(static_cast<double>(a.batchLoss) - static_cast<double>(b.batchLoss));
    return difference <=
           PopulationAgreement::tolerance * std::max(std::abs(a.batchLoss), std::abs(b.batchLoss));
}

double agreedShare(const std::vector<MemberResult>& a, const std::vector<MemberResult>& b) {
    std::size_t agreed = 0;
    for (std::size_t member = 0; member < a.size(); ++member) agreed += agree(a[member], b[member]) ? 1 : 0;
    return static_cast<double>(agreed) / static_cast<double>(a.size());
}

double perSecond(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

const PopulationLaneResult* referenceOf(const std::vector<PopulationLaneResult>& results) {
    const PopulationLaneResult* reference = nullptr;
    for (const PopulationLaneResult& result : results) {
        if (result.opening.empty()) continue;
        if (!result.spec.gpu) return &result;
        if (reference == nullptr) reference = &result;
    }
    return reference;
}

std::string axisText(const PopulationAxis& axis) {
    if (axis.parameter == Hyperparameter::activation) return axis.text();
    return fmt::format("{} {:g} to {:g}{}", name(axis.parameter), axis.from, axis.to,
                       axis.logarithmic ? ", logarithmic" : "");
}

TableRow numbers(const PopulationLaneResult& lane, int decimals) {
    return {grouped(lane.summary.finished),
            grouped(lane.summary.networkSteps),
            fixed(lane.end.trainingSeconds, decimals),
            shortRate(lane.networkStepsPerSecond()),
            shortRate(lane.networksPerSecond()),
            grouped(lane.summary.diverged)};
}

std::string bestText(const PopulationSpec& spec, const PopulationLaneResult& lane, std::size_t laneWidth) {
    const std::string start = fmt::format("{:<{}}  best network: ", lane.spec.text(), laneWidth);
    const std::size_t member = lane.summary.begun > 0 ? lane.summary.ranking.front() : 0;
    const MemberResult& best = lane.members[member];
    if (lane.summary.begun == 0 || best.diverged || !std::isfinite(best.loss))
        return start + "none has a finite loss\n";
    const std::string accuracy = std::isnan(best.accuracy) ? "" : ", accuracy " + percent(best.accuracy);
    return start + fmt::format("{}: loss {}{}\n", spec.describe(member), lossText(best.loss), accuracy);
}

/// "100 % of the networks after 1 step, 98.2 % after 10".
std::string sharesText(const std::vector<AgreedShare>& shares) {
    std::string text;
    for (const AgreedShare& agreed : shares)
        text += text.empty() ? fmt::format("{:.4g} % of the networks after {} step{}", agreed.share * 100,
                                           agreed.steps, agreed.steps == 1 ? "" : "s")
                             : fmt::format(", {:.4g} % after {}", agreed.share * 100, agreed.steps);
    return text;
}

constexpr double shortestTimed = 0.01; // seconds: below, a machine's hiccups decide

using Json = nlohmann::ordered_json;

/// Place of every member in the ranking, from 1; 0: it has none.
std::vector<std::size_t> ranks(const PopulationLaneResult& lane) {
    std::vector<std::size_t> all(lane.members.size(), 0);
    for (std::size_t place = 0; place < lane.summary.begun; ++place)
        all[lane.summary.ranking[place]] = place + 1;
    return all;
}

Json axisJson(const PopulationAxis& axis, std::size_t cells) {
    Json values = Json::array();
    for (std::size_t cell = 0; cell < cells; ++cell) {
        if (axis.parameter == Hyperparameter::activation)
            values.push_back(name(axis.activation(cell, cells)));
        else
            values.push_back(axis.value(cell, cells));
    }
    return {{"name", name(axis.parameter)}, {"text", axis.text()}, {"values", values}};
}

Json networksJson(const PopulationSpec& spec, const PopulationLaneResult& lane) {
    const std::vector<std::size_t> rank = ranks(lane);
    Json networks = Json::array();
    for (std::size_t member = 0; member < lane.members.size(); ++member) {
        const MemberResult& result = lane.members[member];
        networks.push_back({{"column", member % spec.columns},
                            {"row", member / spec.columns},
                            {"steps", result.steps},
                            {"diverged", result.diverged},
                            {"loss", result.loss},
                            {"accuracy", result.accuracy},
                            {"batch_loss", result.batchLoss},
                            {"weight_norm", result.weightNorm},
                            {"rank", rank[member] > 0 ? Json(rank[member]) : Json()}});
    }
    return networks;
}

Json percentilesJson(const PopulationLaneResult& lane) {
    Json percentiles = Json::array();
    for (std::size_t i = 0; i < PopulationSummary::shares.size(); ++i)
        percentiles.push_back(
            {{"percent", PopulationSummary::shares[i]},
             {"loss", lane.members.empty() ? MemberResult::unknown : lane.summary.percentiles[i]}});
    return percentiles;
}

Json agreementJson(const PopulationAgreement& agreement) {
    Json shares = Json::array();
    for (const AgreedShare& agreed : agreement.shares)
        shares.push_back({{"steps", agreed.steps}, {"share", agreed.share}});
    return {{"shares", shares}, {"tolerance", PopulationAgreement::tolerance}, {"same", agreement.same()}};
}

Json laneJson(const PopulationSpec& spec, const PopulationLaneResult& lane) {
    const bool best = !lane.members.empty() && lane.summary.begun > 0;
    Json json = laneJson(lane);
    json.update({{"begun", lane.summary.begun},
                 {"finished", lane.summary.finished},
                 {"diverged", lane.summary.diverged},
                 {"network_steps", lane.summary.networkSteps},
                 {"seconds", lane.end.trainingSeconds},
                 {"warm_up_seconds", lane.end.warmUpSeconds},
                 {"evaluation_seconds", lane.end.evaluationSeconds},
                 {"network_steps_per_second", lane.networkStepsPerSecond()},
                 {"networks_per_second", lane.networksPerSecond()},
                 {"percentiles", percentilesJson(lane)},
                 {"best", best ? Json(lane.summary.ranking.front()) : Json()},
                 {"agreement", agreementJson(lane.agreement)},
                 {"networks", networksJson(spec, lane)}});
    return json;
}

std::string numberOrNothing(float value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

} // namespace

bool PopulationAgreement::same() const {
    return std::ranges::all_of(shares, [](const AgreedShare& agreed) {
        return agreed.steps > decisiveSteps || agreed.share >= decisiveShare;
    });
}

double PopulationLaneResult::networkStepsPerSecond() const {
    return perSecond(static_cast<double>(summary.networkSteps), end.trainingSeconds);
}

double PopulationLaneResult::networksPerSecond() const {
    return perSecond(static_cast<double>(summary.finished), end.trainingSeconds);
}

std::vector<std::uint64_t> openingSteps(std::uint64_t steps) {
    std::vector<std::uint64_t> opening{1, 10, 100};
    for (std::uint64_t& step : opening) step = std::min(step, steps);
    opening.erase(std::unique(opening.begin(), opening.end()), opening.end());
    return opening;
}

void addAgreements(std::vector<PopulationLaneResult>& results) {
    const PopulationLaneResult* reference = referenceOf(results);
    for (PopulationLaneResult& result : results) {
        result.agreement = {};
        if (&result == reference) continue;
        const std::size_t compared =
            std::min(result.opening.size(), reference ? reference->opening.size() : 0);
        for (std::size_t i = 0; i < compared; ++i)
            result.agreement.shares.push_back(
                {result.opening[i].steps,
                 agreedShare(result.opening[i].members, reference->opening[i].members)});
    }
}

std::string populationText(const PopulationGrid& grid) {
    const Dataset& data = *grid.data.front();
    const NetShape& shape = grid.job.shape;
    const TrainSettings& settings = grid.job.settings;
    return fmt::format("{}: {} training and {} test examples; {} networks {}, {}, {} parameters each\n"
                       "{} columns from left to right: {}\n{} rows from below: {}\n"
                       "{}, batch {}, seed {}{}; until {}\n",
                       data.name, grouped(data.train.count), grouped(data.test.count),
                       grouped(grid.job.members.size()), shape.describeWidths(), name(shape.loss),
                       grouped(shape.parameters()), grid.spec.columns, axisText(grid.spec.x), grid.spec.rows,
                       axisText(grid.spec.y), name(settings.optimizer.kind), settings.batch, settings.seed,
                       settings.shuffle ? "" : ", file order", counted(grid.job.steps, "step"));
}

std::string populationResultText(const PopulationSpec& spec,
                                 const std::vector<PopulationLaneResult>& results) {
    std::vector<TableRow> rows{{"networks", "network-steps", "seconds", "steps/s", "networks/s", "diverged"}};
    const int decimals = secondsDecimals(results);
    for (const PopulationLaneResult& lane : results) rows.push_back(numbers(lane, decimals));
    const std::size_t laneWidth = longestName(results);
    std::string text = laneTable({results.begin(), results.end()}, rows) + "\n";
    for (const PopulationLaneResult& lane : results)
        if (!lane.members.empty()) text += bestText(spec, lane, laneWidth);
    text += "\n";
    for (const PopulationLaneResult& lane : results) text += whatRan(lane, laneWidth, "not counted above");
    for (const PopulationLaneResult& lane : results)
        text += howItEnded(lane, fmt::format("with {} networks finished", grouped(lane.summary.finished)));
    return text;
}

std::string agreementText(const std::vector<PopulationLaneResult>& results) {
    std::string text;
    for (const PopulationLaneResult& lane : results) {
        const PopulationAgreement& agreement = lane.agreement;
        if (agreement.shares.empty()) continue;
        const bool begunAlike = agreement.shares.front().share >= PopulationAgreement::decisiveShare;
        const char* verdict = agreement.same() ? "same mathematics"
                              : begunAlike     ? "different results"
                                               : "different mathematics";
        text += wrapped(fmt::format("{}: {} agrees within {:.0g} in {}\n", verdict, lane.spec.text(),
                                    PopulationAgreement::tolerance, sharesText(agreement.shares)));
        if (agreement.same()) continue;
        text += wrapped(fmt::format(
            "What was compared: the batch loss of each network with that of {}. At least {:.0f} % of the "
            "networks "
            "must agree, up to step {}; otherwise the speeds are not compared. {}\n",
            referenceOf(results)->spec.text(), 100 * PopulationAgreement::decisiveShare,
            PopulationAgreement::decisiveSteps,
            begunAlike ? "The first step agrees, so the likely reason is rounding, which networks with large "
                         "learning rates or weights amplify. Narrow the axes to networks that train."
                       : "One step is too few for rounding to matter: one of the lanes computes something "
                         "else."));
    }
    return text;
}

Headline headlineFor(const std::vector<PopulationLaneResult>& results) {
    return headlineByRate(results, &PopulationLaneResult::networkStepsPerSecond,
                          {"network-steps/s", shortestTimed, "raise --steps"});
}

Json populationJson(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results,
                    const Headline& headline) {
    const PopulationSpec& spec = grid.spec;
    Json lanes = Json::array();
    for (const PopulationLaneResult& lane : results) lanes.push_back(laneJson(spec, lane));
    return {{"data", dataJson(*grid.data.front())},
            {"net", toJson(grid.job.shape)},
            {"population", toJson(spec)},
            {"x", axisJson(spec.x, spec.columns)},
            {"y", axisJson(spec.y, spec.rows)},
            {"lanes", lanes},
            {"headline", headlineJson(headline, results[headline.faster].spec, results[headline.slower].spec,
                                      "network_steps_per_second")}};
}

std::string populationCsv(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results) {
    std::string text = "lane,column,row,seed,lr,init_scale,momentum,l2,activation,noise,steps,diverged,loss,"
                       "accuracy,batch_loss,weight_norm,rank\n";
    const bool momentum = infoOf(grid.job.settings.optimizer.kind).has(usesMomentum);
    for (const PopulationLaneResult& lane : results) {
        const std::string laneName = csvField(lane.spec.text());
        const std::vector<std::size_t> rank = ranks(lane);
        for (std::size_t member = 0; member < lane.members.size(); ++member) {
            const PopulationMember& its = grid.job.members[member];
            const MemberResult& result = lane.members[member];
            text +=
                fmt::format("{},{},{},{},{},{},", laneName, member % grid.spec.columns,
                            member / grid.spec.columns, its.seed, its.learningRate.value(), its.initialScale);
            text += fmt::format("{},{},{},{},{},{},", momentum ? fmt::format("{}", its.momentum) : "",
                                its.weightDecay.value(), name(its.activation), grid.spec.noise(member),
                                result.steps, result.diverged ? 1 : 0);
            text += fmt::format("{},{},{},{},{}\n", numberOrNothing(result.loss),
                                numberOrNothing(result.accuracy), numberOrNothing(result.batchLoss),
                                numberOrNothing(result.weightNorm),
                                rank[member] > 0 ? std::to_string(rank[member]) : "");
        }
    }
    return text;
}

} // namespace lockstep::demos
