#include "demos/exhibits/playground/playground_data.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/options/run_options.h"
#include "engine/data/data_source.h"

namespace lockstep::demos {

namespace {

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

// The engine's own split, asked by numbers which points it moves.
void markTestPoints(std::vector<PlanePoint>& points, const PlaygroundSettings& settings) {
    const double share = 1 - settings.trainShare;
    const auto count = static_cast<double>(points.size());
    if (std::round(share * count) >= count) return; // too few to hold any back
    Dataset numbers;
    numbers.inputs = 1;
    numbers.classes = 2;
    numbers.train.count = points.size();
    numbers.train.labels.assign(points.size(), 0);
    for (std::size_t i = 0; i < points.size(); ++i) numbers.train.values.push_back(static_cast<float>(i));
    splitOffTest(numbers, share, settings.dataSeed);
    for (const float number : numbers.test.values) points[static_cast<std::size_t>(number)].test = true;
}

void add(Examples& examples, const LabelledPoint& point, const PlaygroundSettings& settings, bool classes) {
    const std::vector<float> features = planeFeatures(point.x, point.y, settings.features);
    examples.values.insert(examples.values.end(), features.begin(), features.end());
    if (classes)
        examples.labels.push_back(point.label);
    else
        examples.targets.push_back(point.target);
    ++examples.count;
}

} // namespace

PlaygroundData makePlaygroundData(const PlaygroundSettings& settings) {
    PlaygroundData data;
    data.points = pointsOf(settings);
    markTestPoints(data.points, settings);
    Dataset& set = data.dataset;
    set.name = settings.data;
    set.inputs = settings.features.size();
    set.classes = settings.classes();
    for (std::size_t i = 0; i < set.classes; ++i) set.classNames.push_back(fmt::format("{}", i + 1));
    for (const PlaneFeature feature : settings.features) set.inputNames.emplace_back(name(feature));
    for (const PlanePoint& point : data.points)
        add(point.test ? set.test : set.train, point.at, settings, set.classes > 0);
    return data;
}

OwnPoints readOwnPoints(const std::filesystem::path& file) {
    if (!readAtOnce(file))
        throw std::runtime_error(fmt::format("{} is larger than what the playground reads, {} MiB",
                                             file.string(), mostReadAtOnce >> 20));
    DataOptions options;
    options.testShare = 0;
    const Dataset table = loadDataset("csv:" + file.string(), options);
    if (table.inputs != 2)
        throw std::runtime_error(
            fmt::format("{} has {} columns besides the target; the plane needs two, x and y", file.string(),
                        table.inputs));
    if (table.train.count > mostOwnPoints || table.classes > mostOwnClasses)
        throw std::runtime_error(
            fmt::format("{} has {} rows and {} classes; the playground shows at most {} and {}",
                        file.string(), table.train.count, table.classes, mostOwnPoints, mostOwnClasses));
    OwnPoints own;
    own.values = table.classes == 0;
    for (std::size_t i = 0; i < table.train.count; ++i) {
        LabelledPoint point{table.train.values[2 * i], table.train.values[2 * i + 1], 0, 0};
        if (own.values)
            point.target = table.train.targets[i];
        else
            point.label = table.train.labels[i];
        own.points.push_back(point);
    }
    for (float LabelledPoint::*axis : {&LabelledPoint::x, &LabelledPoint::y}) {
        const auto [low, high] = std::ranges::minmax(own.points, {}, axis);
        const float from = low.*axis;
        const float to = high.*axis;
        if (from >= -planeReach && to <= planeReach) continue;
        const float size = std::max((to - from) / 2, 1e-20f);
        for (LabelledPoint& point : own.points) point.*axis = (point.*axis - (from + to) / 2) / size * 5;
        own.scaled = true;
    }
    return own;
}

} // namespace lockstep::demos
