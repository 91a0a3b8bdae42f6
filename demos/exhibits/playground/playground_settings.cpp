#include "demos/exhibits/playground/playground_settings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/options/run_options.h"
#include "demos/words/language.h"
#include "engine/data/data_source.h"
#include "engine/files/json_field.h"
#include "engine/run/settings_json.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

namespace {

void require(bool fine, std::string_view field, std::string_view reason) {
    if (!fine) throw std::invalid_argument(fmt::format("'{}' of the playground {}", field, reason));
}

bool comparesValues(Loss loss) { return loss == Loss::meanSquared || loss == Loss::huber; }

void validateOwn(const std::vector<LabelledPoint>& points) {
    require(points.size() <= mostOwnPoints, "own", fmt::format("has more than {} points", mostOwnPoints));
    for (const LabelledPoint& point : points) {
        require(std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.target), "own",
                "has a point that is not finite");
        require(point.label < mostOwnClasses, "own", fmt::format("has more than {} classes", mostOwnClasses));
    }
}

using nlohmann::ordered_json;

ordered_json ownToJson(const PlaygroundSettings& settings) {
    ordered_json points = ordered_json::array();
    for (const LabelledPoint& point : settings.own) {
        const ordered_json answer =
            settings.ownValues ? ordered_json(point.target) : ordered_json(point.label);
        points.push_back({point.x, point.y, answer});
    }
    return points;
}

LabelledPoint ownFromJson(const ordered_json& json, bool values) {
    const bool fits =
        json.size() == 3 && jsonHolds<std::vector<float>>(json) && (values || json[2].is_number_unsigned());
    if (!fits)
        throw std::invalid_argument(
            fmt::format("the field 'own' must have points [x, y, {}]", values ? "value" : "class from 0"));
    LabelledPoint point{json[0].get<float>(), json[1].get<float>(), 0, 0};
    if (values)
        point.target = json[2].get<float>();
    else
        point.label = static_cast<std::uint32_t>(std::min<std::uint64_t>(json[2].get<std::uint64_t>(), 1000));
    return point;
}

std::vector<PlanePoint> pointsOf(const PlaygroundSettings& settings) {
    std::vector<PlanePoint> points;
    if (settings.data == ownData) {
        for (const LabelledPoint& point : settings.own) points.push_back({point, false});
        return points;
    }
    const Points2d set = points2dFromName(settings.data);
    points.reserve(settings.samples);
    for (std::size_t i = 0; i < settings.samples; ++i)
        points.push_back({point2d(set, settings.dataSeed, i, settings.noise), false});
    return points;
}

} // namespace

std::size_t PlaygroundSettings::classes() const {
    if (data != ownData) return points2dClasses(points2dFromName(data));
    if (ownValues) return 0;
    std::size_t most = 1;
    for (const LabelledPoint& point : own) most = std::max<std::size_t>(most, point.label);
    return most + 1;
}

Loss PlaygroundSettings::effectiveLoss() const {
    return classes() > 0 || comparesValues(loss) ? loss : Loss::meanSquared;
}

bool PlaygroundSettings::allowsOutputActivation() const { return comparesValues(effectiveLoss()); }

NetShape PlaygroundSettings::shape() const {
    Dataset answers;
    answers.classes = classes();
    NetShape shape;
    shape.loss = effectiveLoss();
    shape.widths.push_back(features.size());
    shape.widths.insert(shape.widths.end(), hidden.begin(), hidden.end());
    shape.widths.push_back(outputsFor(answers, shape.loss));
    shape.activation = activation;
    shape.outputActivation = allowsOutputActivation() ? outputActivation : Activation::identity;
    shape.init = init;
    return shape;
}

void PlaygroundSettings::validate() const {
    if (data != ownData) points2dFromName(data);
    require(noise >= 0 && noise <= mostNoise, "noise", fmt::format("must be from 0 to {}", mostNoise));
    require(samples >= 10 && samples <= mostSamples, "samples", fmt::format("must be 10 to {}", mostSamples));
    require(trainShare >= 0.1 && trainShare <= 0.9, "train_share", "must be from 0.1 to 0.9");
    validateOwn(own);
    require(!features.empty(), "features", "needs one feature at least");
    require(std::ranges::is_sorted(features, std::ranges::less_equal{}), "features",
            "must be in order, without duplicates");
    require(hidden.size() <= playgroundLimits.layers, "hidden",
            fmt::format("has more than {} layers", playgroundLimits.layers));
    for (const std::size_t width : hidden)
        require(
            width >= 1 && width <= playgroundLimits.width, "hidden",
            fmt::format("has a layer of {} neurons; the limit is 1 to {}", width, playgroundLimits.width));
    require(train.batch >= 1 && train.batch <= playgroundLimits.batch, "batch",
            fmt::format("must be 1 to {}", playgroundLimits.batch));
    train.optimizer.validate();
    if (!lane.empty()) laneSpecFromText(lane);
    shape().validate();
}

bool sameData(const PlaygroundSettings& a, const PlaygroundSettings& b) {
    if (a.data != b.data || a.trainShare != b.trainShare || a.dataSeed != b.dataSeed ||
        a.features != b.features)
        return false;
    if (a.data != ownData) return a.noise == b.noise && a.samples == b.samples;
    return a.ownValues == b.ownValues && a.own == b.own;
}

bool sameTrainer(const PlaygroundSettings& a, const PlaygroundSettings& b) {
    NetShape first = a.shape();
    first.init = b.init; // matters at the next reset only
    return sameData(a, b) && first == b.shape() && a.train.batch == b.train.batch &&
           a.train.seed == b.train.seed && a.train.shuffle == b.train.shuffle &&
           a.train.optimizer.kind == b.train.optimizer.kind && a.lane == b.lane;
}

ordered_json toJson(const PlaygroundSettings& settings) {
    ordered_json features = ordered_json::array();
    for (const PlaneFeature feature : settings.features) features.push_back(name(feature));
    return {{"data", settings.data},
            {"noise", settings.noise},
            {"samples", settings.samples},
            {"train_share", settings.trainShare},
            {"data_seed", settings.dataSeed},
            {"own", ownToJson(settings)},
            {"own_values", settings.ownValues},
            {"features", features},
            {"hidden", settings.hidden},
            {"activation", name(settings.activation)},
            {"output_activation", name(settings.outputActivation)},
            {"loss", name(settings.loss)},
            {"init", name(settings.init)},
            {"settings", toJson(settings.train)},
            {"lane", settings.lane}};
}

PlaygroundSettings playgroundSettingsFromJson(const ordered_json& given) {
    PlaygroundSettings settings;
    ordered_json json = given;
    for (const char* field : {"train", "settings"}) // "train" in older states
        if (json.is_object() && json.contains(field)) {
            settings.train = trainSettingsOver(settings.train, json[field]);
            json.erase(field);
        }
    json = jsonCompleted(toJson(settings), json, "playground");
    settings.data = jsonValue<std::string>(json, "data");
    settings.noise = jsonValue<double>(json, "noise");
    settings.samples = jsonValue<std::size_t>(json, "samples");
    settings.trainShare = jsonValue<double>(json, "train_share");
    settings.dataSeed = jsonValue<std::uint64_t>(json, "data_seed");
    settings.ownValues = jsonValue<bool>(json, "own_values");
    for (const ordered_json& point : json["own"])
        settings.own.push_back(ownFromJson(point, settings.ownValues));
    settings.features.clear();
    for (const std::string& feature : jsonValue<std::vector<std::string>>(json, "features"))
        settings.features.push_back(planeFeatureFromName(feature));
    std::ranges::sort(settings.features);
    settings.hidden = jsonValue<std::vector<std::size_t>>(json, "hidden");
    settings.activation = activationFromName(jsonValue<std::string>(json, "activation"));
    settings.outputActivation = activationFromName(jsonValue<std::string>(json, "output_activation"));
    settings.loss = lossFromName(jsonValue<std::string>(json, "loss"));
    settings.init = initSchemeFromName(jsonValue<std::string>(json, "init"));
    settings.lane = jsonValue<std::string>(json, "lane");
    settings.validate();
    return settings;
}

PlaygroundData makePlaygroundData(const PlaygroundSettings& settings) {
    PlaygroundData data;
    data.points = pointsOf(settings);
    Dataset& set = data.dataset;
    set.name = settings.data;
    set.inputs = settings.features.size();
    set.classes = settings.classes();
    for (std::size_t i = 0; i < set.classes; ++i) set.classNames.push_back(fmt::format("{}", i + 1));
    for (const PlaneFeature feature : settings.features) set.inputNames.emplace_back(name(feature));
    Examples& all = set.train;
    all.count = data.points.size();
    for (const PlanePoint& each : data.points) {
        const LabelledPoint& point = each.at;
        const std::vector<float> features = planeFeatures(point.x, point.y, settings.features);
        all.values.insert(all.values.end(), features.begin(), features.end());
        if (set.classes > 0)
            all.labels.push_back(point.label);
        else
            all.targets.push_back(point.target);
    }
    const double testShare = 1 - settings.trainShare;
    const auto count = static_cast<double>(all.count);
    if (std::round(testShare * count) >= count) return data; // too few to hold any back
    const std::vector<bool> test = splitOffTest(set, testShare, settings.dataSeed);
    for (std::size_t i = 0; i < test.size(); ++i) data.points[i].test = test[i];
    return data;
}

bool takeOwnPoints(PlaygroundSettings& settings, const std::filesystem::path& file) {
    if (!readAtOnce(file))
        throw std::runtime_error(translatedFormat("{} is larger than what the playground reads, {} MiB",
                                                  file.string(), mostReadAtOnce >> 20));
    DataOptions options;
    options.testShare = 0;
    options.table.scale = InputScale::none; // points stay where they are, or are fitted below
    options.table.ignore = {"none"};
    const Dataset table = loadDataset("csv:" + file.string(), options);
    if (table.inputs != 2)
        throw std::runtime_error(
            translatedFormat("{} has {} columns besides the target; the plane needs two, x and y",
                             file.string(), table.inputs));
    if (table.train.count > mostOwnPoints || table.classes > mostOwnClasses)
        throw std::runtime_error(
            translatedFormat("{} has {} rows and {} classes; the playground shows at most {} and {}",
                             file.string(), table.train.count, table.classes, mostOwnPoints, mostOwnClasses));
    settings.data = ownData;
    settings.own.clear();
    settings.ownValues = table.classes == 0;
    for (std::size_t i = 0; i < table.train.count; ++i) {
        LabelledPoint point{table.train.values[2 * i], table.train.values[2 * i + 1], 0, 0};
        if (settings.ownValues)
            point.target = table.train.targets[i];
        else
            point.label = table.train.labels[i];
        settings.own.push_back(point);
    }
    bool scaled = false;
    for (float LabelledPoint::*axis : {&LabelledPoint::x, &LabelledPoint::y}) {
        const auto [low, high] = std::ranges::minmax(settings.own, {}, axis);
        const float from = low.*axis;
        const float to = high.*axis;
        if (from >= -planeReach && to <= planeReach) continue;
        const float size = std::max((to - from) / 2, 1e-20f);
        for (LabelledPoint& point : settings.own) point.*axis = (point.*axis - (from + to) / 2) / size * 5;
        scaled = true;
    }
    return scaled;
}

} // namespace lockstep::demos
