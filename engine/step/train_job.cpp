#include "engine/step/train_job.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "engine/gpu/device.h"
#include "engine/many/exchange.h"

namespace lockstep {

namespace {

[[noreturn]] void throwBroken(const Dataset& data, const char* split, const std::string& reason) {
    throw std::invalid_argument("data '" + data.name + "', " + split + " split: " + reason);
}

void validateSplit(const Dataset& data, const Examples& examples, const char* split) {
    constexpr std::size_t mostExamples = std::size_t{1} << 30; // the order's limit (shaders/shared/order.h)
    if (examples.count > mostExamples) throwBroken(data, split, "more than 2^30 examples");
    const auto require = [&](const char* what, std::size_t have, std::size_t width) {
        if (have == examples.count * width) return;
        throwBroken(data, split,
                    std::to_string(have) + " " + what + " for " + std::to_string(examples.count) +
                        " examples of " + std::to_string(width));
    };
    if (examples.pixels.empty())
        require("values", examples.values.size(), data.inputs);
    else
        require("pixels", examples.pixels.size(), data.inputs);
    if (data.classes == 0) return require("targets", examples.targets.size(), data.targetWidth);
    require("labels", examples.labels.size(), 1);
    for (std::size_t example = 0; example < examples.count; ++example)
        if (examples.labels[example] >= data.classes)
            throwBroken(data, split,
                        "example " + std::to_string(example) + " has label " +
                            std::to_string(examples.labels[example]) + ", and there are " +
                            std::to_string(data.classes) + " classes");
}

} // namespace

void TrainJob::validate() const {
    if (data == nullptr) throw std::invalid_argument("a training job needs data");
    shape.validate();
    settings.optimizer.validate();
    if (settings.batch == 0) throw std::invalid_argument("the batch needs at least 1 example");
    settings.memory.validate(settings.batch);
    settings.precision.validate();
    settings.share.validate(settings.batch);
    if (settings.share.shard == 2 && settings.memory.accumulate > 1)
        throw std::invalid_argument(
            "--shard 2 gives gradients away layer by layer, so a batch cannot be taken in "
            "parts whose gradients are added up first: use --shard 1 with --accumulate");
    if (!settings.share.alone() && settings.precision.wide())
        throw std::invalid_argument("fp64 is computed by the plain loops, by one rank alone");
    if (settings.precision.wide() && settings.memory != MemorySettings{})
        throw std::invalid_argument("fp64 is computed by the plain loops, which save no memory: without "
                                    "--recompute, --accumulate and --offload");
    if (settings.memory.recompute > 1 && settings.memory.recompute >= shape.layers())
        throw std::invalid_argument("'recompute' is " + std::to_string(settings.memory.recompute) +
                                    "; with " + std::to_string(shape.layers()) +
                                    " layers, it can be at most " +
                                    std::to_string(std::max<std::size_t>(shape.layers() - 1, 1)));
    if (data->train.count == 0) throwBroken(*data, "training", "there is no example to train on");
    validateSplit(*data, data->train, "training");
    validateSplit(*data, data->test, "test");
    if (data->classes == 1) throwBroken(*data, "training", "only one class; classification needs two");
    if (data->test.count > 0 && data->test.pixels.empty() != data->train.pixels.empty())
        throwBroken(*data, "test", "one split holds pixels, the other values");
    targetKind(*data, shape); // throws when outputs, loss and data do not fit
}

void TrainJob::requireExchange() const {
    const RankShare& share = settings.share;
    if (share.alone()) return;
    if (exchange == nullptr || exchange->ranks() != share.ranks || exchange->rank() != share.rank)
        throw std::logic_error("a job that ranks share needs an exchange between them");
}

std::size_t TrainJob::pieceRows() const {
    const std::size_t pieces = settings.pieces();
    return (order().batch() + pieces - 1) / pieces;
}

Evaluation meanOf(const TrainJob& job, Split split, const ScoreSum& sum) {
    Evaluation result;
    result.loss = result.accuracy = std::numeric_limits<double>::quiet_NaN();
    result.count = job.data->of(split).count;
    if (result.count == 0) return result;
    result.loss =
        sum.loss / static_cast<double>(lossTerms(job.shape.loss, result.count, job.shape.outputs()));
    if (job.data->classes > 0)
        result.accuracy = static_cast<double>(sum.correct) / static_cast<double>(result.count);
    return result;
}

Evaluation evaluate(const TrainJob& job, Split split, std::span<const float> outputs) {
    const Dataset& data = *job.data;
    const Examples& examples = data.of(split);
    if (outputs.size() != examples.count * job.shape.outputs())
        throw std::invalid_argument("a split of " + std::to_string(examples.count) + " examples with " +
                                    std::to_string(job.shape.outputs()) + " outputs each was given " +
                                    std::to_string(outputs.size()) + " outputs");
    const LossShape shape{.rows = examples.count,
                          .outputs = job.shape.outputs(),
                          .stride = job.shape.outputs(),
                          .targetWidth = data.classes > 0 ? 1 : data.targetWidth,
                          .loss = job.shape.loss,
                          .targetKind = targetKind(data, job.shape),
                          .outputActivation = job.shape.outputActivation};
    std::vector<TargetWord> targets(examples.labels.begin(), examples.labels.end());
    targets.reserve(targets.size() + examples.targets.size());
    for (const float target : examples.targets) targets.push_back(std::bit_cast<TargetWord>(target));
    std::vector<std::uint64_t> confusion(data.classes * data.classes);
    Evaluation result = meanOf(job, split,
                               plain::score(shape, data.classes, outputs.data(), targets.data(),
                                            confusion.empty() ? nullptr : confusion.data()));
    result.confusion = std::move(confusion);
    return result;
}

std::vector<float> withoutPadding(std::span<const float> rows, std::size_t width, std::size_t stride) {
    std::vector<float> values;
    values.reserve(rows.size() / stride * width);
    for (; rows.size() >= stride; rows = rows.subspan(stride))
        values.insert(values.end(), rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(width));
    return values;
}

MachineInfo machineOf(const gpu::Device& device) {
    return {.device = device.report().name,
            .driver = device.report().driver,
            .uuid = device.report().uuid,
            .gpu = true,
            .software = device.software()};
}

} // namespace lockstep
