// "Precision" without its looks: its number lines are the formats', its runs are the trainers' own, and a
// flipped bit does to the loss what it would do to the network.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/exhibits/precision/precision_model.h"
#include "engine/net/plain_training.h"
#include "engine/run/make_trainer.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

PrecisionOptions smallPrecision(const char* lane = "cpu:scalar") {
    PrecisionOptions options = usualPrecision();
    options.run.dataOptions.samples = 256;
    options.run.hiddenWidths = {16, 8};
    options.run.settings.batch = 32;
    options.run.lanes = {laneSpecFromText(lane)};
    options.steps = 60;
    return options;
}

/// Ten layers whose gradients shrink from one to the next.
PrecisionOptions deepSigmoids() {
    PrecisionOptions options = smallPrecision();
    options.run.hiddenWidths = std::vector<std::size_t>(10, 16);
    options.run.activation = Activation::sigmoid;
    options.kind = FloatKind::fp16;
    options.place.layer = 0;
    return options;
}

/// The exhibit's model on the test's device, driven as by a script.
struct Precision {
    Machines machines{0, testDeviceOptions().select};
    PrecisionModel model;

    explicit Precision(const PrecisionOptions& options = smallPrecision()) { set(options); }
    void set(const PrecisionOptions& options) {
        model.change(options);
        model.update(machines, true);
    }
    void train() {
        model.train(machines);
        model.update(machines, true);
        CHECK_FALSE(model.training());
    }
    const PrecisionRun& run(OperandFormat format) const {
        const PrecisionRun* const found = model.run(format);
        REQUIRE(found != nullptr);
        return *found;
    }
};

std::string refusalOf(const Json& state) {
    try {
        precisionOptionsFromJson(state);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

bool holds(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a number line has every number of a format, in its order") {
    for (const FloatKind kind : {FloatKind::bf16, FloatKind::fp16, FloatKind::e4m3, FloatKind::e5m2})
        for (const int scale : {0, 5, -3}) {
            CAPTURE(rowOf(kind).name);
            CAPTURE(scale);
            const std::uint32_t last = encoded(rowOf(kind).largest(), kind);
            std::size_t wrong = 0;
            for (std::uint32_t code = 0; code <= last; ++code) {
                const double value = valueOf(code, kind, scale);
                const auto place = static_cast<std::int64_t>(code);
                const double next = code == last ? 2 * value : valueOf(code + 1, kind, scale);
                wrong += placeOnLine(value, kind, scale) != place;
                wrong += placeOnLine(-value, kind, scale) != -place;
                const double between = (value + next) / 2; // of its two neighbours on the line, the lower one
                wrong += placeOnLine(between, kind, scale) != place;
                wrong += placeOnLine(-between, kind, scale) != -std::min<std::int64_t>(place + 1, last);
                const WeightCode found = codeOf(value, kind, scale);
                wrong += found.code != code || found.value != value;
                if (code < last) wrong += found.gap != next - value;
                const std::uint32_t highest = std::uint32_t{1} << (rowOf(kind).bits() - 2);
                const WeightCode flipped = flippedCode(found, highest, kind, scale);
                wrong += flipped.code != (code ^ highest);
                if (std::isfinite(flipped.gap))
                    wrong += flipped.gap != codeOf(flipped.value, kind, scale).gap;
            }
            CHECK(wrong == 0);
        }
    CHECK(placeOnLine(1e9, FloatKind::e4m3, 0) == encoded(448, FloatKind::e4m3));
    CHECK(placeOnLine(-1e9, FloatKind::e4m3, 0) == -static_cast<int>(encoded(448, FloatKind::e4m3)));
}

TEST_CASE("the fates of numbers are what rounding does to them") {
    // fp16: normal from 2^-14, smallest 2^-24, and 2^-25 is a tie that goes to 0.
    const std::vector<double> numbers{
        0,     1,     -3, std::ldexp(1, -14), -std::ldexp(1.5, -15), std::ldexp(1, -24), std::ldexp(1, -25),
        65504, -65536};
    const Magnitudes plain = magnitudesOf(numbers, {FloatKind::fp16, false, 0});
    CHECK(plain.all == 9);
    CHECK(plain.zeros == 1);
    CHECK(plain.first == -25);
    CHECK(plain.share(Fate::kept) == doctest::Approx(4.0 / 8));
    CHECK(plain.share(Fate::coarse) == doctest::Approx(2.0 / 8));
    CHECK(plain.share(Fate::lost) == doctest::Approx(1.0 / 8));
    CHECK(plain.share(Fate::over) == doctest::Approx(1.0 / 8));
    const auto at = [&](int exponent, Fate fate) {
        return plain.counts[static_cast<std::size_t>(exponent - plain.first)][static_cast<std::size_t>(fate)];
    };
    CHECK(at(-25, Fate::lost) == 1);
    CHECK(at(-24, Fate::coarse) == 1);
    CHECK(at(-15, Fate::coarse) == 1);
    CHECK(at(16, Fate::over) == 1);
    // With a scale, the largest stays in range, and what is small enough beside it goes lost.
    const Magnitudes scaled = magnitudesOf(numbers, {FloatKind::fp16, true, 15});
    CHECK(scaled.scale == -1);
    CHECK(scaled.share(Fate::over) == 0);
    CHECK(magnitudesOf({}, {FloatKind::fp16, true, 15}).share(Fate::lost) == 0);
}

TEST_CASE("every format trains as a trainer of its own does, also after a stop") {
    for (const char* lane : {"cpu:scalar", "gpu:tiled"}) {
        CAPTURE(lane);
        Precision whole(smallPrecision(lane));
        whole.train();
        for (const OperandFormat format : formatsOf(laneSpecFromText(lane))) {
            CAPTURE(name(format));
            const PrecisionRun& run = whole.run(format);
            CHECK(run.done);
            CHECK(run.failure.empty());
            TrainJob job = *whole.model.job();
            job.settings.precision.format = format;
            const LaneSpec spec = laneSpecFromText(lane);
            const auto trainer = makeTrainer(job, spec, {}, whole.machines.deviceOf(spec));
            trainer->run(60);
            trainer->finish();
            std::vector<LossPoint> losses;
            trainer->takeLosses(losses);
            REQUIRE(losses.size() == run.losses.size());
            for (std::size_t at = 0; at < losses.size(); ++at) {
                CHECK(run.steps[at] == static_cast<double>(losses[at].step));
                CHECK(run.losses[at] == static_cast<double>(losses[at].loss));
            }
            CHECK(run.state.parameters == trainer->state().parameters);
            CHECK(run.accuracy == trainer->evaluate(Split::test).accuracy);
        }
        const bool wide = whole.model.run(OperandFormat::fp64) != nullptr;
        CHECK(wide == (std::string_view(lane) == "cpu:scalar"));
        CHECK(whole.run(OperandFormat::fp8).losses != whole.run(OperandFormat::fp32).losses);

        Precision stopped(smallPrecision(lane));
        stopped.model.train(stopped.machines);
        stopped.model.stop(); // wherever it is
        stopped.model.update(stopped.machines, true);
        stopped.train();
        for (const OperandFormat format : formatsOf(laneSpecFromText(lane)))
            CHECK(stopped.run(format).losses == whole.run(format).losses);
    }
}

TEST_CASE("runs with other switches are kept beside the new ones") {
    Precision precision(deepSigmoids());
    precision.train();
    CHECK(precision.model.others().empty());
    PrecisionOptions options = precision.model.options();
    options.switches.lossScaling = false;
    precision.set(options);
    CHECK(precision.model.run(OperandFormat::fp16) == nullptr);
    CHECK(precision.model.run(OperandFormat::bf16) != nullptr); // it has no such switch
    CHECK(precision.model.others().size() == 2);                // fp16 and fp8, scaled
    precision.train();
    CHECK(precision.run(OperandFormat::fp16).losses != precision.model.others().front()->losses);
    options.switches.lossScaling = true;
    precision.set(options);
    CHECK(precision.model.run(OperandFormat::fp16) != nullptr);
    options.switches.masterWeights = false; // of fp16 and bf16 alone
    options.switches.rounding = RoundingMode::stochastic;
    precision.set(options);
    for (const OperandFormat format : allOperandFormats) {
        CAPTURE(name(format));
        CHECK((precision.model.run(format) == nullptr) == canStoreParameters(format));
    }
    precision.train();
    const auto& stored = precision.run(OperandFormat::bf16).state.parameters;
    CHECK(std::ranges::all_of(stored, [](float each) { return rounded(each, FloatKind::bf16) == each; }));
    options.run.settings.batch = 16; // another training
    precision.set(options);
    CHECK(precision.model.run(OperandFormat::fp32) == nullptr);
    CHECK(precision.model.others().empty());
}

TEST_CASE("without loss scaling, a deep network's first layer loses its gradients in fp16") {
    PrecisionOptions options = deepSigmoids();
    Precision precision(options);
    REQUIRE(precision.model.numbers() != nullptr);
    const Magnitudes& scaled = precision.model.magnitudes()[2];
    CHECK(scaled.scale > 0);
    CHECK(scaled.share(Fate::lost) < 0.1);
    options.switches.lossScaling = false;
    precision.set(options);
    CHECK(precision.model.magnitudes()[2].scale == 0);
    CHECK(precision.model.magnitudes()[2].share(Fate::lost) > 0.5);
    options.kind = FloatKind::bf16; // as wide a range as fp32's
    precision.set(options);
    CHECK(precision.model.magnitudes()[2].share(Fate::lost) == 0);
    // The numbers are those of the trained network, once it is trained.
    const std::vector<double> before = precision.model.numbers()->weights;
    precision.train();
    precision.set(options);
    CHECK(precision.model.numbers()->weights != before);
    const float first =
        precision.run(OperandFormat::bf16).state.parameters[precision.model.layer().weightOffset];
    CHECK(precision.model.numbers()->weights.front() == static_cast<double>(first));
}

TEST_CASE("a flipped bit changes the loss as it would change the network's") {
    PrecisionOptions options = smallPrecision();
    options.place = {.layer = 1, .neuron = 3, .input = 5};
    options.kind = FloatKind::fp16;
    Precision precision(options);
    CHECK_FALSE(precision.model.flippedLoss());
    for (const std::uint32_t bits : {1u << 15, 1u << 13, 1u << 12 | 1u}) {
        options.flipped = bits;
        precision.set(options);
        REQUIRE(precision.model.flippedLoss());
        const TrainJob& job = *precision.model.job();
        std::vector<float> parameters = initialWeights(job.shape, job.settings.seed);
        const LayerLayout layer = ParamLayout(job.shape).layer(1);
        float& weight = parameters[layer.weightOffset + 3 * layer.rowStride + 5];
        CHECK(static_cast<double>(weight) == precision.model.weight());
        weight = fromFloat16(static_cast<std::uint16_t>(toFloat16(weight) ^ bits));
        PlainNetwork<double> network(*job.data, job.shape, parameters);
        const BatchOrder order = job.order();
        CHECK(*precision.model.flippedLoss() == network.lossAndGradients(order, order.range(0)));
        CHECK(*precision.model.flippedLoss() != precision.model.numbers()->loss);
    }
}

TEST_CASE("what is asked for while the data are being loaded begins once they are there") {
    Machines machines{0, testDeviceOptions().select};
    PrecisionModel model;
    model.change(smallPrecision());
    model.train(machines);
    CHECK(model.training());
    model.update(machines, true);
    CHECK_FALSE(model.training());
    REQUIRE(model.run(OperandFormat::fp8) != nullptr);
    CHECK(model.run(OperandFormat::fp8)->done);
    // Nothing waits for data that cannot be had.
    PrecisionOptions wrong = smallPrecision();
    wrong.run.data = "csv:no/such/table.csv";
    model.change(wrong);
    model.train(machines);
    CHECK_THROWS(model.update(machines, true));
    CHECK_FALSE(model.training());
}

TEST_CASE("a state comes back whole, and a wrong one names its field") {
    PrecisionOptions options = smallPrecision("gpu:tiled");
    options.kind = FloatKind::e5m2;
    options.switches = {.lossScaling = false, .masterWeights = false, .rounding = RoundingMode::stochastic};
    options.place = {.layer = 2, .neuron = 1, .input = 7};
    options.flipped = 5;
    CHECK(precisionOptionsFromJson(toJson(options)) == options);
    CHECK(precisionOptionsFromJson(Json::object()) == usualPrecision());
    CHECK(holds(refusalOf({{"settings", {{"format", "fp16"}}}}), "'kind'"));
    CHECK(holds(refusalOf({{"rounding", "up"}}), "'up'"));
    CHECK(holds(refusalOf({{"kind", "fp12"}}), "format 'fp12'"));
    CHECK(holds(refusalOf({{"lanes", {"gpu:half"}}}), "field 'lanes'"));
    CHECK(holds(refusalOf({{"lanes", {"gpu:texel", "cpu:best"}}}), "one lane"));
    CHECK(holds(refusalOf({{"steps", 0}}), "'steps'"));
    CHECK(holds(refusalOf({{"layer", 0}}), "'layer'"));
    CHECK(holds(refusalOf({{"colour", 1}}), "colour"));
}

TEST_CASE("a place or bits beyond the network at hand mean its last ones, and stay set for another network") {
    PrecisionOptions options = smallPrecision();
    options.place = {.layer = 40, .neuron = 4000, .input = 4000};
    options.kind = FloatKind::e4m3;
    options.flipped = 0x8001;
    Precision precision(options);
    CHECK(precision.model.place() == WeightPlace{2, 1, 7});
    CHECK(precision.model.flipped() == 1);
    CHECK(precision.model.flippedLoss());
    CHECK(precision.model.options() == options);
    // Before the next update, everything is asked of the network that is there.
    options.place = {.layer = 2, .neuron = 0, .input = 0};
    precision.set(options);
    options.run.hiddenWidths = {8};
    precision.set(options);
    CHECK(precision.model.place() == WeightPlace{1, 0, 0});
    options.run.hiddenWidths = {16, 8};
    precision.model.change(options);
    CHECK(precision.model.place() == WeightPlace{1, 0, 0});
    CHECK(std::isfinite(precision.model.weight()));
    CHECK(precision.model.weightScale(FloatKind::e4m3) > 0);
    precision.model.update(precision.machines, true);
    CHECK(precision.model.place() == WeightPlace{2, 0, 0});
    // Other data have another network: until they are there, there is none.
    options.run.data = "circle";
    precision.model.change(options);
    precision.model.update(precision.machines, false);
    if (precision.model.job() == nullptr) CHECK(precision.model.numbers() == nullptr);
    precision.model.update(precision.machines, true);
    REQUIRE(precision.model.job() != nullptr);
    CHECK(precision.model.job()->data->name.find("circle") != std::string::npos);
}

TEST_CASE("the lesson's flip of the exponent's highest bit does most harm") {
    PrecisionOptions options = usualPrecision();
    options.kind = FloatKind::fp32;
    options.place = {.layer = 2};
    options.run.lanes = {laneSpecFromText("cpu:scalar")};
    Precision precision(options);
    precision.train();
    precision.set(options);
    const auto lossWith = [&](std::uint32_t bit) {
        options.flipped = std::uint32_t{1} << bit;
        precision.set(options);
        REQUIRE(precision.model.flippedLoss());
        return *precision.model.flippedLoss();
    };
    const double plain = precision.model.numbers()->loss;
    const double exponent = lossWith(30);
    CHECK((std::isnan(exponent) || exponent > 100 * plain));
    for (const std::uint32_t bit : {31u, 23u, 22u}) CHECK(lossWith(bit) < 100 * plain);
    CHECK(lossWith(0) == doctest::Approx(plain).epsilon(1e-3));
}

TEST_CASE("what cannot be trained says why, and the next settings work") {
    PrecisionOptions options = smallPrecision();
    options.run.settings.optimizer.learningRate = 1e6; // beyond all bounds after a step
    options.run.settings.optimizer.kind = Optimizer::sgd;
    options.run.loss = Loss::meanSquared;
    Precision precision(options);
    precision.train();
    CHECK(precision.run(OperandFormat::fp32).done);
    CHECK_FALSE(precision.run(OperandFormat::fp32).failure.empty());
    precision.set(smallPrecision());
    precision.train();
    CHECK(precision.run(OperandFormat::fp32).failure.empty());
    precision.model.forget();
    precision.model.update(precision.machines, true);
    CHECK(precision.model.run(OperandFormat::fp32) == nullptr);
}
