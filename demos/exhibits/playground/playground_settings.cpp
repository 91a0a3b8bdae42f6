#include "demos/exhibits/playground/playground_settings.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

#include "engine/step/lane_spec.h"

namespace lockstep::demos {

namespace {

void require(bool fine, std::string_view field, std::string_view reason) {
    if (!fine) throw std::invalid_argument(fmt::format("'{}' of the playground {}", field, reason));
}

std::size_t ownClassCount(const std::vector<LabelledPoint>& points) {
    std::uint32_t most = 1;
    for (const LabelledPoint& point : points) most = std::max(most, point.label);
    return std::size_t{most} + 1;
}

void validateOwn(const std::vector<LabelledPoint>& points) {
    require(points.size() <= mostOwnPoints, "own", fmt::format("has more than {} points", mostOwnPoints));
    for (const LabelledPoint& point : points) {
        require(std::isfinite(point.x) && std::isfinite(point.y) && std::isfinite(point.target), "own",
                "has a point that is not finite");
        require(point.label < mostOwnClasses, "own", fmt::format("has more than {} classes", mostOwnClasses));
    }
}

} // namespace

PlaygroundSettings::PlaygroundSettings() {
    // As TensorFlow Playground begins.
    train.optimizer.kind = Optimizer::sgd;
    train.optimizer.learningRate = 0.03;
    train.optimizer.weightDecay = 0;
    train.batch = 10;
}

std::size_t PlaygroundSettings::classes() const {
    if (data != ownData) return points2dClasses(points2dFromName(data));
    return ownValues ? 0 : ownClassCount(own);
}

Loss PlaygroundSettings::effectiveLoss() const {
    const bool compares = loss == Loss::meanSquared || loss == Loss::huber;
    return classes() > 0 || compares ? loss : Loss::meanSquared;
}

bool PlaygroundSettings::allowsOutputActivation() const {
    const Loss used = effectiveLoss();
    return used == Loss::meanSquared || used == Loss::huber;
}

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
    require(noise >= 0 && noise <= 0.8, "noise", "must be from 0 to 0.8");
    require(samples >= 10 && samples <= mostSamples, "samples", fmt::format("must be 10 to {}", mostSamples));
    require(trainShare >= 0.1 && trainShare <= 0.9, "train_share", "must be from 0.1 to 0.9");
    validateOwn(own);
    require(!features.empty(), "features", "needs one feature at least");
    require(std::ranges::is_sorted(features, std::ranges::less_equal{}), "features",
            "must be in order, none of them twice");
    require(hidden.size() <= mostHiddenLayers, "hidden",
            fmt::format("has more than {} layers", mostHiddenLayers));
    for (const std::size_t width : hidden)
        require(width >= 1 && width <= mostNeurons, "hidden",
                fmt::format("has a layer of {} neurons; 1 to {} can be had", width, mostNeurons));
    require(train.batch >= 1 && train.batch <= mostBatch, "batch", fmt::format("must be 1 to {}", mostBatch));
    train.optimizer.validate();
    if (!lane.empty()) laneSpecFromText(lane);
    shape().validate();
}

bool sameWeights(const PlaygroundSettings& a, const PlaygroundSettings& b) {
    return a.features == b.features && a.shape().widths == b.shape().widths;
}

bool sameData(const PlaygroundSettings& a, const PlaygroundSettings& b) {
    const auto samePoint = [](const LabelledPoint& p, const LabelledPoint& q) {
        return p.x == q.x && p.y == q.y && p.label == q.label && p.target == q.target;
    };
    if (a.data != b.data || a.trainShare != b.trainShare || a.dataSeed != b.dataSeed ||
        a.features != b.features)
        return false;
    if (a.data != ownData) return a.noise == b.noise && a.samples == b.samples;
    return a.ownValues == b.ownValues && std::ranges::equal(a.own, b.own, samePoint);
}

bool sameTrainer(const PlaygroundSettings& a, const PlaygroundSettings& b) {
    NetShape first = a.shape();
    first.init = b.init; // matters at the next reset only
    return sameData(a, b) && first == b.shape() && a.train.batch == b.train.batch &&
           a.train.seed == b.train.seed && a.train.shuffle == b.train.shuffle &&
           a.train.optimizer.kind == b.train.optimizer.kind && a.lane == b.lane;
}

} // namespace lockstep::demos
