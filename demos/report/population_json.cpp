#include "demos/report/population_json.h"

#include <cmath>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/report/race_json.h"
#include "demos/words/text.h"
#include "engine/run/settings_json.h"

namespace lockstep::demos {

namespace {

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
    const auto textOrNull = [](const std::string& text) { return text.empty() ? Json() : Json(text); };
    const bool best = !lane.members.empty() && lane.summary.begun > 0;
    return {{"lane", lane.spec.text()},
            {"device", textOrNull(lane.machine.device)},
            {"software", lane.machine.software},
            {"threads", lane.machine.threads},
            {"gpu", lane.machine.gpu},
            {"driver", textOrNull(lane.machine.driver)},
            {"kernels", lane.machine.kernels},
            {"status", name(lane.status)},
            {"message", textOrNull(lane.message)},
            {"begun", lane.summary.begun},
            {"finished", lane.summary.finished},
            {"diverged", lane.summary.diverged},
            {"network_steps", lane.summary.networkSteps},
            {"seconds", lane.trainingSeconds},
            {"warm_up_seconds", lane.warmUpSeconds},
            {"evaluation_seconds", lane.evaluationSeconds},
            {"network_steps_per_second", lane.networkStepsPerSecond()},
            {"networks_per_second", lane.networksPerSecond()},
            {"percentiles", percentilesJson(lane)},
            {"best", best ? Json(lane.summary.ranking.front()) : Json()},
            {"agreement", agreementJson(lane.agreement)},
            {"networks", networksJson(spec, lane)}};
}

Json headlineJson(const Headline& headline, const std::vector<PopulationLaneResult>& results) {
    const auto ifValid = [&headline](const Json& value) { return headline.valid ? value : Json(); };
    return {{"text", headline.text},
            {"faster", ifValid(results[headline.faster].spec.text())},
            {"slower", ifValid(results[headline.slower].spec.text())},
            {"ratio", ifValid(headline.ratio)},
            {"measured_by", ifValid("network_steps_per_second")}};
}

std::string numberOrNothing(float value) { return std::isnan(value) ? "" : fmt::format("{}", value); }

/// seed, lr, init_scale, momentum, l2, activation, noise.
std::string hyperparametersCsv(const PopulationGrid& grid, std::size_t member) {
    const PopulationMember& its = grid.job.members[member];
    const bool momentum = infoOf(grid.job.settings.optimizer.kind).has(usesMomentum);
    return fmt::format("{},{},{},{},{},{},{}", its.seed, its.learningRate, its.initialScale,
                       momentum ? fmt::format("{}", its.momentum) : "", its.weightDecay, name(its.activation),
                       grid.spec.noise(member));
}

} // namespace

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
            {"headline", headlineJson(headline, results)}};
}

std::string populationCsv(const PopulationGrid& grid, const std::vector<PopulationLaneResult>& results) {
    std::string text = "lane,column,row,seed,lr,init_scale,momentum,l2,activation,noise,steps,diverged,loss,"
                       "accuracy,batch_loss,weight_norm,rank\n";
    for (const PopulationLaneResult& lane : results) {
        const std::string laneName = csvField(lane.spec.text());
        const std::vector<std::size_t> rank = ranks(lane);
        for (std::size_t member = 0; member < lane.members.size(); ++member) {
            const MemberResult& result = lane.members[member];
            text += fmt::format("{},{},{},{},{},{},{},{},{},{},{}\n", laneName, member % grid.spec.columns,
                                member / grid.spec.columns, hyperparametersCsv(grid, member), result.steps,
                                result.diverged ? 1 : 0, numberOrNothing(result.loss),
                                numberOrNothing(result.accuracy), numberOrNothing(result.batchLoss),
                                numberOrNothing(result.weightNorm),
                                rank[member] > 0 ? std::to_string(rank[member]) : "");
        }
    }
    return text;
}

} // namespace lockstep::demos
