#include "demos/exhibits/precision/precision_model.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/language.h"
#include "engine/files/json_field.h"
#include "engine/gpu/error.h"
#include "engine/net/names.h"
#include "engine/net/plain_training.h"
#include "engine/run/make_trainer.h"

namespace lockstep::demos {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view ownFields[] = {"loss_scaling", "master_weights", "rounding", "steps",  "kind",
                                          "layer",        "neuron",         "input",    "flipped"};
constexpr std::size_t progressParts = 40; ///< in which a run tells how far it is
constexpr double soon = 0.05;             ///< seconds within which a run ends that is no longer wanted
constexpr std::size_t mostRows = 256;     ///< of the batch that is looked at

bool trainsEveryFormat(const RungRow& row) {
    return row.trains && !row.half && row.rung != Rung::wholeStep && !(row.gpu() && row.rung == Rung::best);
}

bool scalesTensors(FloatKind kind) { return kind == FloatKind::e4m3 || kind == FloatKind::e5m2; }

std::uint32_t signBit(FloatKind kind) { return std::uint32_t{1} << (rowOf(kind).bits() - 1); }

/// The operands of layer `l` in the first batch of the training's order.
LayerNumbers lookAt(const TrainJob& job, std::size_t l, std::span<const float> parameters) {
    PlainNetwork<double> network(*job.data, job.shape, parameters);
    const BatchOrder order = job.order();
    BatchRange batch = order.range(0);
    batch.rows = std::min(batch.rows, mostRows);
    LayerNumbers numbers;
    numbers.loss = network.lossAndGradients(order, batch);
    const LayerLayout layer = ParamLayout(job.shape).layer(l);
    const auto take = [](std::vector<double>& into, const double* from, std::size_t rows, std::size_t columns,
                         std::size_t stride) {
        into.reserve(rows * columns);
        for (std::size_t row = 0; row < rows; ++row)
            into.insert(into.end(), from + row * stride, from + row * stride + columns);
    };
    take(numbers.weights, network.parameters.data() + layer.weightOffset, layer.outputs, layer.inputs,
         layer.rowStride);
    take(numbers.inputs, network.inputsOf(l), batch.rows, layer.inputs, layer.rowStride);
    take(numbers.dSums, network.dSumsOf(l), batch.rows, layer.outputs, roundUpToFour(layer.outputs));
    return numbers;
}

Fate fateOf(double number, const Rounding& rounding, int scale) {
    const FloatKindRow& row = rowOf(rounding.kind);
    const float rounded = lockstep::rounded(static_cast<float>(number), rounding.kind, scale);
    if (!std::isfinite(rounded)) return Fate::over;
    if (rounded == 0) return Fate::lost;
    return std::abs(number) < std::ldexp(static_cast<double>(row.smallestNormal()), -scale) ? Fate::coarse
                                                                                            : Fate::kept;
}

/// A run to be completed.
struct Open {
    std::string key;
    TrainJob job;
    TrainerState state; ///< without parameters: from the start
};

/// Trains all of them, a part of the steps at a time, and tells what came of each part.
template <class Tell>
void trainSideBySide(const std::vector<Open>& open, const LaneSpec& lane, const MachineShare& share,
                     gpu::Device* device, std::uint64_t steps, const std::atomic<bool>& cancelled,
                     const Tell& tell) {
    std::vector<std::unique_ptr<Trainer>> trainers(open.size());
    std::vector<std::uint64_t> trained(open.size());
    std::ranges::transform(open, trained.begin(), [](const Open& each) { return each.state.step; });
    const std::uint64_t part = std::max<std::uint64_t>(1, steps / progressParts);
    const auto trainPart = [&](std::size_t at) {
        PrecisionRun news;
        std::vector<LossPoint> losses;
        try {
            if (trainers[at] == nullptr) {
                trainers[at] = makeTrainer(open[at].job, lane, share, device, &cancelled);
                if (!open[at].state.parameters.empty()) trainers[at]->restore(open[at].state);
            }
            Trainer& trainer = *trainers[at];
            const std::uint64_t end = std::min(trained[at] + part, steps);
            while (trained[at] < end &&
                   !cancelled) { // processors do not look at `cancelled` before a run's end
                const std::uint64_t before = trained[at] - open[at].state.step;
                const double perStep =
                    before == 0 ? soon : trainer.trainingSeconds() / static_cast<double>(before);
                trainer.run(std::clamp(static_cast<std::uint64_t>(soon / std::max(perStep, 1e-9)),
                                       std::uint64_t{1}, end - trained[at]));
                trainer.finish();
                trainer.takeLosses(losses); // before what may throw
                trained[at] = trainer.completedSteps();
            }
            news.state = trainer.state();
            if (const std::uint64_t own = trained[at] - open[at].state.step; own > 0)
                news.secondsPerStep = trainer.trainingSeconds() / static_cast<double>(own);
            if (trained[at] >= steps) {
                const Evaluation result = trainer.evaluate(Split::test);
                news.accuracy = result.accuracy, news.loss = result.loss;
                news.done = true;
            }
        } catch (const gpu::DeviceLostError&) {
            throw;
        } catch (const gpu::Cancelled&) {
            return;
        } catch (const std::exception& error) {
            news.failure = error.what();
            news.done = true;
            trained[at] = steps;
        }
        for (const LossPoint& loss : losses) {
            news.steps.push_back(static_cast<double>(loss.step));
            news.losses.push_back(static_cast<double>(loss.loss));
        }
        tell(open[at].key, std::move(news));
    };
    while (!cancelled && std::ranges::any_of(trained, [&](std::uint64_t step) { return step < steps; }))
        for (std::size_t at = 0; at < open.size() && !cancelled; ++at)
            if (trained[at] < steps) trainPart(at);
}

} // namespace

void PrecisionRun::add(const PrecisionRun& later) {
    steps.insert(steps.end(), later.steps.begin(), later.steps.end());
    losses.insert(losses.end(), later.losses.begin(), later.losses.end());
    if (later.failure.empty()) {
        state = later.state;
        secondsPerStep = later.secondsPerStep;
    }
    accuracy = later.accuracy, loss = later.loss;
    failure = later.failure;
    done = later.done;
}

PrecisionOptions usualPrecision() {
    PrecisionOptions options;
    options.run.data = "spiral";
    options.run.dataOptions.samples = 1024;
    options.run.hiddenWidths = {32, 32};
    options.run.settings.optimizer.kind = Optimizer::adam;
    options.run.settings.optimizer.learningRate = 0.005;
    options.run.settings.batch = 64;
    options.run.lanes = {{true, Rung::texel, {}}};
    return options;
}

Json toJson(const PrecisionOptions& options) {
    Json json = toJson(options.run);
    for (const char* own : {"format", "loss_scaling", "master_weights", "rounding"})
        json["settings"].erase(own);
    json["loss_scaling"] = options.switches.lossScaling;
    json["master_weights"] = options.switches.masterWeights;
    json["rounding"] = name(options.switches.rounding);
    json["steps"] = options.steps;
    json["kind"] = rowOf(options.kind).name;
    json["layer"] = options.place.layer + 1;
    json["neuron"] = options.place.neuron;
    json["input"] = options.place.input;
    json["flipped"] = options.flipped;
    return json;
}

PrecisionOptions precisionOptionsFromJson(const Json& state) {
    PrecisionOptions options = usualPrecision();
    options.run = runFromJson(state, options.run, "precision", ownFields);
    const auto take = [&](const char* field, auto& value) {
        if (state.contains(field)) value = jsonValue<std::remove_reference_t<decltype(value)>>(state, field);
    };
    if (options.run.lanes.size() != 1)
        throw std::invalid_argument(
            fmt::format("field 'lanes': must name one lane, not {}", options.run.lanes.size()));
    if (const LaneSpec& lane = options.run.lanes.front(); !trainsEveryFormat(lane.row())) {
        const std::vector<std::string> known = precisionLanes();
        throwUnknownName("field 'lanes': lane", lane.text(),
                         std::vector<std::string_view>(known.begin(), known.end()));
    }
    take("steps", options.steps);
    if (options.steps == 0 || options.steps > mostPrecisionSteps)
        throw std::invalid_argument(fmt::format("field 'steps': must be 1 to {}", mostPrecisionSteps));
    if (state.contains("kind")) {
        std::string kind;
        take("kind", kind);
        const auto* const found = std::ranges::find(floatKinds, kind, &FloatKindRow::name);
        if (found == std::end(floatKinds)) {
            std::vector<std::string_view> names;
            for (const FloatKindRow& row : floatKinds) names.push_back(row.name);
            throwUnknownName("field 'kind': format", kind, names);
        }
        options.kind = found->kind;
    }
    if (options.run.settings.precision != PrecisionSettings{})
        throw std::invalid_argument(
            "field 'settings': here, every format trains; 'kind' says which is shown, and "
            "'loss_scaling', 'master_weights' and 'rounding' stand beside 'settings'");
    take("loss_scaling", options.switches.lossScaling);
    take("master_weights", options.switches.masterWeights);
    if (std::string mode(name(options.switches.rounding)); state.contains("rounding")) {
        take("rounding", mode);
        options.switches.rounding = roundingModeFromName(mode);
    }
    std::size_t layer = options.place.layer + 1;
    take("layer", layer);
    if (layer == 0) throw std::invalid_argument("field 'layer': the first layer is 1");
    options.place.layer = layer - 1;
    take("neuron", options.place.neuron);
    take("input", options.place.input);
    take("flipped", options.flipped);
    return options;
}

std::vector<std::string> precisionLanes() {
    std::vector<std::string> names;
    for (const RungRow& row : rungTable)
        if (trainsEveryFormat(row)) names.emplace_back(row.lane);
    return names;
}

std::vector<OperandFormat> formatsOf(const LaneSpec& lane) {
    std::vector<OperandFormat> formats(std::begin(allOperandFormats), std::end(allOperandFormats));
    if (!lane.gpu && lane.rung == Rung::scalar) formats.push_back(OperandFormat::fp64);
    return formats;
}

OperandFormat formatOf(FloatKind kind) {
    switch (kind) {
    case FloatKind::fp32: return OperandFormat::fp32;
    case FloatKind::tf32: return OperandFormat::tf32;
    case FloatKind::bf16: return OperandFormat::bf16;
    case FloatKind::fp16: return OperandFormat::fp16;
    case FloatKind::e4m3:
    case FloatKind::e5m2: return OperandFormat::fp8;
    }
    throw std::logic_error("no such format");
}

std::size_t Magnitudes::count(Fate fate) const {
    std::size_t number = 0;
    for (const auto& count : counts) number += count[static_cast<std::size_t>(fate)];
    return number;
}

double Magnitudes::share(Fate fate) const {
    return all == zeros ? 0 : static_cast<double>(count(fate)) / static_cast<double>(all - zeros);
}

Magnitudes magnitudesOf(std::span<const double> numbers, const Rounding& rounding) {
    Magnitudes magnitudes;
    magnitudes.rounding = rounding;
    magnitudes.all = numbers.size();
    int low = std::numeric_limits<int>::max();
    int high = std::numeric_limits<int>::min();
    float largest = 0;
    for (const double number : numbers) {
        largest = std::max(largest, std::abs(static_cast<float>(number)));
        if (number == 0 || !std::isfinite(number)) continue;
        low = std::min(low, std::ilogb(number));
        high = std::max(high, std::ilogb(number));
    }
    if (rounding.scaled) magnitudes.scale = scaleFor(largest, rounding.kind, rounding.mostScale);
    if (low <= high) {
        magnitudes.first = low;
        magnitudes.counts.resize(static_cast<std::size_t>(high - low) + 1);
    }
    for (const double number : numbers) {
        if (number == 0) ++magnitudes.zeros;
        if (number == 0 || !std::isfinite(number)) continue;
        const Fate fate = fateOf(number, rounding, magnitudes.scale);
        ++magnitudes
              .counts[static_cast<std::size_t>(std::ilogb(number) - low)][static_cast<std::size_t>(fate)];
    }
    return magnitudes;
}

double valueOf(std::uint32_t code, FloatKind kind, int scale) {
    return std::ldexp(static_cast<double>(decoded(code, kind)), -scale);
}

WeightCode codeOf(double weight, FloatKind kind, int scale) {
    return flippedCode({encoded(static_cast<float>(std::ldexp(weight, scale)), kind)}, 0, kind, scale);
}

WeightCode flippedCode(const WeightCode& code, std::uint32_t bits, FloatKind kind, int scale) {
    WeightCode found{code.code ^ bits};
    found.value = valueOf(found.code, kind, scale);
    const std::uint32_t size = found.code & (signBit(kind) - 1);
    found.gap = valueOf(size + 1, kind, scale) - valueOf(size, kind, scale);
    if (!std::isfinite(found.gap)) found.gap = std::numeric_limits<double>::quiet_NaN();
    return found;
}

std::int64_t placeOnLine(double value, FloatKind kind, int scale) {
    const double size = std::abs(value);
    const std::uint32_t last = encoded(rowOf(kind).largest(), kind);
    std::uint32_t code = std::min(last, encoded(static_cast<float>(std::ldexp(size, scale)), kind));
    if (value >= 0) {
        if (valueOf(code, kind, scale) > size) --code;
        return code;
    }
    if (valueOf(code, kind, scale) < size && code < last) ++code;
    return -static_cast<std::int64_t>(code);
}

void PrecisionModel::change(PrecisionOptions options) {
    if (options == options_) return;
    PrecisionOptions same = options; // but for what is looked at
    same.kind = options_.kind, same.flipped = options_.flipped;
    same.place = options_.place;
    if (same != options_) stop(); // it trains under other settings
    options_ = std::move(options);
    changed_ = true;
}

void PrecisionModel::update(Machines& machines, bool wait) {
    const auto take = [](WorkQueue& queue) {
        for (const auto& news : queue.takeNews()) news();
        if (const std::string failure = queue.takeFailure(); !failure.empty())
            throw std::runtime_error(failure);
    };
    try {
        takeJob(machines, wait);
    } catch (...) {
        wanted_ = false;
        throw;
    }
    if (wanted_ && job_) train(machines);
    if (wait) work_.wait();
    take(work_);
    take(looking_);
    look();
    if (!wait) return;
    looking_.wait();
    take(looking_);
}

void PrecisionModel::takeJob(Machines& machines, bool wait) {
    if (failed_ && !changed_) return;
    failed_ = true; // unless all goes well
    const std::shared_ptr<const Dataset> data = loader_.get(options_.run, wait);
    failed_ = false;
    if (data != nullptr && data == data_ && !changed_) return;
    if (data == nullptr || data != data_) job_.reset(), numbers_.reset(); // they are of other data
    if (data == nullptr) return;
    failed_ = true;
    changed_ = false; // also where what follows throws: not again in every frame
    data_ = data;
    job_.reset();
    const TrainJob job = makeJob(options_.run, *data);
    job.validate();
    const gpu::Device* const device = machines.deviceOf(options_.run.lanes.front());
    layout_ = ParamLayout(job.shape);
    first_ = initialWeights(job.shape, options_.run.settings.seed);
    settingsKey_ = fmt::format("{} {} {} ", toJson(options_.run).dump(), options_.steps,
                               device == nullptr ? std::string() : device->report().name);
    job_ = job;
    failed_ = false;
}

void PrecisionModel::look() {
    if (!job_ || !looking_.idle()) return;
    const PrecisionSettings precision = precisionOf(formatOf(options_.kind));
    const PrecisionRun* const shown = run(precision.format);
    const WeightPlace at = place();
    std::string wanted =
        fmt::format("{} {} {} {} {} {} {}", keyOf(precision), shown == nullptr ? 0 : shown->steps.size(),
                    rowOf(options_.kind).name, at.layer, at.neuron, at.input, flipped());
    if (wanted == looked_) return;
    looked_ = std::move(wanted);
    std::vector<float> changed;
    if (flipped() != 0) {
        const int scale = weightScale(options_.kind);
        const WeightCode code = codeOf(weight(), options_.kind, scale);
        changed = parameters();
        changed[layer().weightOffset + at.neuron * layer().rowStride + at.input] =
            static_cast<float>(flippedCode(code, flipped(), options_.kind, scale).value);
    }
    looking_.post("", [this, data = data_, job = *job_, layer = at.layer, precision,
                       parameters = parameters(), changed = std::move(changed)](const std::atomic<bool>&) {
        LayerNumbers numbers = lookAt(job, layer, parameters);
        const std::array<Magnitudes, 3> magnitudes{
            magnitudesOf(numbers.weights, roundingOf(precision, Operation::roundWeights)),
            magnitudesOf(numbers.inputs, roundingOf(precision, Operation::roundActivations)),
            magnitudesOf(numbers.dSums, roundingOf(precision, Operation::roundDSums))};
        std::optional<double> loss;
        if (!changed.empty()) loss = lookAt(job, layer, changed).loss;
        looking_.tell([this, numbers = std::move(numbers), magnitudes, loss] {
            numbers_ = numbers;
            magnitudes_ = magnitudes;
            flippedLoss_ = loss;
        });
    });
}

PrecisionSettings PrecisionModel::precisionOf(OperandFormat format) const {
    PrecisionSettings precision = options_.switches;
    precision.format = format;
    // Switches that the format does not have.
    if (format != OperandFormat::fp16 && format != OperandFormat::fp8) precision.lossScaling = true;
    if (!canStoreParameters(format)) precision.masterWeights = true;
    if (precision.masterWeights) precision.rounding = RoundingMode::nearest;
    return precision;
}

std::string PrecisionModel::keyOf(const PrecisionSettings& precision) const {
    return settingsKey_ + fmt::format("{} {} {} {}", name(precision.format), precision.lossScaling,
                                      precision.masterWeights, name(precision.rounding));
}

const PrecisionRun* PrecisionModel::run(OperandFormat format) const {
    const auto found = runs_.find(keyOf(precisionOf(format)));
    return found == runs_.end() ? nullptr : &found->second;
}

std::vector<const PrecisionRun*> PrecisionModel::others() const {
    std::vector<const PrecisionRun*> found;
    for (const auto& [key, each] : runs_)
        if (key.starts_with(settingsKey_) && each.precision != precisionOf(each.precision.format))
            found.push_back(&each);
    return found;
}

WeightPlace PrecisionModel::place() const {
    WeightPlace found;
    found.layer = std::min(options_.place.layer, layout_.layers() - 1);
    const LayerLayout& layer = layout_.layer(found.layer);
    found.neuron = std::min(options_.place.neuron, layer.outputs - 1);
    found.input = std::min(options_.place.input, layer.inputs - 1);
    return found;
}

std::uint32_t PrecisionModel::flipped() const {
    return options_.flipped & (signBit(options_.kind) | (signBit(options_.kind) - 1));
}

const std::vector<float>& PrecisionModel::parameters() const {
    const PrecisionRun* const shown = run(formatOf(options_.kind));
    return shown == nullptr || shown->state.parameters.size() != first_.size() ? first_
                                                                               : shown->state.parameters;
}

int PrecisionModel::weightScale(FloatKind kind) const {
    if (!scalesTensors(kind)) return 0;
    const auto weights = std::span(parameters()).subspan(layer().weightOffset, layer().weightCount());
    float largest = 0;
    for (const float weight : weights) largest = std::max(largest, std::abs(weight));
    return scaleFor(largest, kind);
}

void PrecisionModel::train(Machines& machines) {
    wanted_ = !job_ || changed_; // not with what was set before
    if (wanted_ || !work_.idle()) return;
    const LaneSpec lane = options_.run.lanes.front();
    gpu::Device* const device = machines.deviceOf(lane);
    std::vector<Open> open;
    for (const OperandFormat format : formatsOf(lane)) {
        const PrecisionSettings precision = precisionOf(format);
        std::string key = keyOf(precision);
        PrecisionRun& run = runs_[key];
        if (run.done) continue;
        if (precision.wide()) run = {}; // what a trainer in fp64 hands out is rounded to fp32: from the start
        run.precision = precision;
        TrainJob job = *job_;
        job.settings.precision = precision;
        open.push_back({std::move(key), std::move(job), run.state});
    }
    const auto tell = [this](const std::string& key, PrecisionRun news) {
        work_.tell([this, key, news = std::move(news)] { runs_[key].add(news); });
    };
    work_.post(std::string(translated("training in every format")),
               [data = data_, open, lane, device, tell, threads = machines.threads(),
                steps = options_.steps](const std::atomic<bool>& cancelled) {
                   trainSideBySide(open, lane, {threads, 0}, device, steps, cancelled, tell);
               });
}

void PrecisionModel::forget() {
    stop();
    work_.wait();
    work_.takeNews(); // of what is forgotten
    runs_.clear();
    looked_.clear();
}

bool PrecisionModel::releaseDevice() {
    const bool was = training();
    work_.cancel();
    work_.wait();
    changed_ = true;
    return was;
}

} // namespace lockstep::demos
