// The mosaic without its looks: two machines train the same networks, in different orders, to the same end.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

#include "demos/exhibits/mosaic/mosaic_measured.h"
#include "demos/exhibits/mosaic/mosaic_model.h"
#include "demos/exhibits/mosaic/mosaic_verdict.h"
#include "demos/exhibits/mosaic/mosaic_view.h"
#include "demos/exhibits/playground/playground_settings.h"
#include "engine/net/param_layout.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

constexpr std::size_t onGpu = 0;
constexpr std::size_t onCpu = 1;

MosaicSettings small() {
    MosaicSettings settings;
    settings.population.columns = 4;
    settings.population.rows = 4;
    settings.population.x = populationAxisFromText("lr=0.01:0.1:log");
    settings.population.steps = 80;
    settings.population.hidden = {4};
    return settings;
}

/// A mosaic on the test's device, driven as by a script: everything asked for is there after a frame.
struct Mosaic {
    Machines machines{0, testDeviceOptions().select};
    MosaicModel model;

    explicit Mosaic(const MosaicSettings& settings = small()) {
        machines.openForDrawing({});
        model.change(settings);
        frames(1);
    }
    void frames(int count) {
        for (int i = 0; i < count; ++i) model.update(machines, 1.0 / 60, true);
    }
    void toTheEnd() {
        model.run();
        for (int i = 0; i < 100 && model.running(); ++i) frames(1);
    }
    const MosaicShot& shot(std::size_t side) const { return *model.sides()[side].shot; }
    std::vector<std::uint64_t> steps(std::size_t side) const {
        std::vector<std::uint64_t> steps;
        for (const MemberResult& result : shot(side).results) steps.push_back(result.steps);
        return steps;
    }
};

std::string messageOf(const Json& json) {
    try {
        mosaicSettingsFromJson(json);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

bool says(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("settings come back from JSON, and what is missing is as at the first start") {
    MosaicSettings settings = small();
    settings.population.y = populationAxisFromText("noise=0:0.5");
    settings.cpu = false;
    settings.layout = PopulationLayout::workgroup;
    const Json json = toJson(settings);
    CHECK(toJson(mosaicSettingsFromJson(Json::parse(json.dump()))) == json);
    CHECK(mosaicSettingsFromJson(Json::object()) == MosaicSettings{});
    const MosaicSettings one = mosaicSettingsFromJson({{"data", "circle"}, {"settings", {{"batch", 4u}}}});
    CHECK(one.population.data == "circle");
    CHECK(one.population.train.batch == 4);
    CHECK(one.population.columns == MosaicSettings{}.population.columns);
}

TEST_CASE("settings that make no sense are refused with what would be right") {
    CHECK(says(messageOf({{"colums", 8u}}), "'columns'"));
    CHECK(says(messageOf({{"rows", 65u}}), "64 x 64"));
    CHECK(says(messageOf({{"data", "spiralle"}}), "spiral"));
    CHECK(says(messageOf({{"x", "l2=0:1:log"}}), "0 has no logarithm"));
    CHECK(says(messageOf({{"x", "init-scale=0.5:2"}}), "both axes"));
    CHECK(says(messageOf({{"layout", "warp"}}), "known"));
    CHECK(says(messageOf({{"cpu", 1}}), "'cpu'"));
    for (const Hyperparameter parameter :
         {Hyperparameter::learningRate, Hyperparameter::initialScale, Hyperparameter::momentum,
          Hyperparameter::weightDecay, Hyperparameter::noise, Hyperparameter::seed,
          Hyperparameter::activation}) {
        CHECK_NOTHROW(usualAxis(parameter).validate());
        CHECK(usualAxis(parameter).parameter == parameter);
    }
}

TEST_CASE("both sides make the same steps: one of them for all networks alike, one row by row") {
    Mosaic mosaic;
    CHECK(mosaic.shot(onGpu).summary.begun == 0);
    mosaic.model.run();
    mosaic.frames(3); // 10 steps each of 80, a row's share four times as fast
    CHECK(mosaic.shot(onGpu).summary.networkSteps == mosaic.shot(onCpu).summary.networkSteps);
    CHECK(mosaic.steps(onGpu) == std::vector<std::uint64_t>(16, 30));
    const std::vector<std::uint64_t> steps = mosaic.steps(onCpu);
    for (std::size_t member = 0; member < 16; ++member)
        CHECK(steps[member] == (member < 4 ? 80u : member < 8 ? 40u : 0u));
    CHECK(mosaic.shot(onCpu).summary.finished == 4);
    CHECK(mosaic.model.sides()[onGpu].shareDone(80) == doctest::Approx(3.0 / 8));
    CHECK(mosaic.model.sides()[onCpu].shareDone(80) == doctest::Approx(3.0 / 8));
    CHECK(mosaic.model.sides()[onGpu].maps.has_value());
    CHECK(mosaic.model.sides()[onCpu].maps->words.size() == 4 * 4 * 64 * 64);
}

TEST_CASE("both sides come to the same losses, and run begins again when all is over") {
    Mosaic mosaic;
    mosaic.toTheEnd();
    CHECK(mosaic.model.over());
    CHECK_FALSE(mosaic.model.running());
    for (std::size_t member = 0; member < 16; ++member) {
        CAPTURE(member);
        const auto expected = static_cast<double>(mosaic.shot(onCpu).results[member].loss);
        CHECK(static_cast<double>(mosaic.shot(onGpu).results[member].loss) ==
              doctest::Approx(expected).epsilon(1e-3));
    }
    const std::vector<float> losses = [&] {
        std::vector<float> all;
        for (const MemberResult& result : mosaic.shot(onGpu).results) all.push_back(result.loss);
        return all;
    }();
    CHECK(mosaic.model.sides()[onGpu].spread.steps.size() == 8);
    for (const MosaicSide& side :
         mosaic.model.sides()) // the rate is that of the steps and the time beside it
        CHECK(side.networkStepsPerSecond() * side.shot->seconds ==
              doctest::Approx(static_cast<double>(side.shot->summary.networkSteps)));
    mosaic.model.run();
    mosaic.frames(1);
    CHECK(mosaic.model.running());
    CHECK(mosaic.shot(onGpu).summary.networkSteps == 160);
    mosaic.toTheEnd();
    for (std::size_t member = 0; member < 16; ++member)
        CHECK(mosaic.shot(onGpu).results[member].loss == losses[member]); // to the bit
}

TEST_CASE("a preview is a moment of one side, then of the other, and what follows starts over") {
    MosaicSettings settings = small();
    settings.population.steps = 10'000'000; // far more than a preview has time for
    Mosaic mosaic(settings);
    const auto update = [&] {
        mosaic.model.update(mosaic.machines, 1.0 / 60, false);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    mosaic.model.update(mosaic.machines, 1.0 / 60, false);
    mosaic.model.preview();
    CHECK(mosaic.model.previewing());
    bool alone = true;
    for (int i = 0; i < 60'000 && mosaic.model.previewing(); ++i) {
        update();
        const std::span<const MosaicSide> sides = mosaic.model.sides();
        if (sides.empty() || !sides[onGpu].shot || !sides[onCpu].shot) continue;
        alone &= std::ranges::count(sides, PreviewStage::trains, &MosaicSide::preview) <= 1;
    }
    CHECK(alone);
    CHECK(mosaic.model.previewed());
    CHECK_FALSE(mosaic.model.previewing());
    CHECK_FALSE(mosaic.model.running());
    while (mosaic.model.busy()) update();
    CHECK(mosaic.shot(onGpu).summary.begun == 16);
    CHECK(mosaic.shot(onCpu).summary.begun > 0);
    mosaic.model.step(1);
    CHECK_FALSE(mosaic.model.previewed());
    while (mosaic.model.busy()) update();
    CHECK(mosaic.steps(onGpu) == std::vector<std::uint64_t>(16, 1));
    CHECK(mosaic.steps(onCpu) == std::vector<std::uint64_t>(16, 1));
}

TEST_CASE("a step is one of every network, an epoch as many as the data take") {
    Mosaic mosaic;
    mosaic.model.step(1);
    mosaic.frames(1);
    for (const std::size_t side : {onGpu, onCpu})
        CHECK(mosaic.steps(side) == std::vector<std::uint64_t>(16, 1));
    CHECK(mosaic.model.stepsPerEpoch() == 25); // 400 examples, 16 at a time
    mosaic.model.setRate(60);
    mosaic.model.run();
    mosaic.frames(10);
    CHECK(mosaic.steps(onCpu).front() == mosaic.steps(onGpu).back());
    CHECK(mosaic.steps(onCpu).front() > 5);
    mosaic.model.reset();
    mosaic.frames(1);
    CHECK(mosaic.shot(onCpu).summary.begun == 0);
    CHECK(mosaic.model.sides()[onCpu].spread.steps.empty());
}

TEST_CASE("a network opens in the playground with its data, settings and weights") {
    Mosaic mosaic;
    mosaic.model.step(7);
    mosaic.frames(1);
    for (const std::size_t side : {onGpu, onCpu}) {
        mosaic.model.open(side, 6);
        mosaic.frames(1);
        const auto opened = mosaic.model.takeOpened();
        REQUIRE(opened.has_value());
        CHECK_FALSE(mosaic.model.takeOpened().has_value());
        Json json = Json::parse(*opened);
        CHECK(json["step"] == 7);
        const std::size_t weights = json["weights"].size();
        json.erase("step");
        json.erase("weights");
        const PlaygroundSettings settings = playgroundSettingsFromJson(json);
        const PopulationSpec& spec = mosaic.model.spec();
        CHECK(settings.train.optimizer.learningRate == doctest::Approx(spec.x.value(2, 4)));
        CHECK(settings.shape().widths == std::vector<std::size_t>{2, 4, 1});
        CHECK(weights == ParamLayout(settings.shape()).size());
        CHECK(settings.noise == doctest::Approx(0.2));
    }
}

TEST_CASE("networks that diverge are at their end, and say at which step") {
    MosaicSettings settings = small();
    settings.population.data = "plane";
    settings.population.hidden = {4, 4};
    settings.population.activation = Activation::relu;
    settings.population.x = populationAxisFromText("lr=0.01:100000:log");
    Mosaic mosaic(settings);
    mosaic.toTheEnd();
    CHECK(mosaic.model.over());
    for (const std::size_t side : {onGpu, onCpu}) {
        CHECK(mosaic.shot(side).summary.diverged > 0);
        const auto failed = std::ranges::find(mosaic.shot(side).results, true, &MemberResult::diverged);
        CHECK(says(memberState(settings.population, *failed), "no longer finite at step"));
        // Nothing goes on from there: it opens with its initial weights.
        mosaic.model.open(side, static_cast<std::size_t>(failed - mosaic.shot(side).results.begin()));
        mosaic.frames(1);
        const std::optional<std::string> opened = mosaic.model.takeOpened();
        REQUIRE(opened.has_value());
        CHECK_FALSE(Json::parse(*opened).contains("weights"));
    }
    CHECK_FALSE(mosaic.model.scale().empty());
}

TEST_CASE("without the device all is given up, and goes on when frames are drawn again") {
    Mosaic mosaic;
    CHECK_FALSE(mosaic.model.releaseDevice());
    mosaic.frames(1);
    mosaic.model.step(1);
    mosaic.frames(1);
    CHECK(mosaic.model.releaseDevice());
    CHECK(mosaic.model.sides().empty());
    mosaic.frames(1);
    CHECK(mosaic.shot(onGpu).summary.begun == 0);
}

TEST_CASE("pictures on the device stay until the frame that shows them is done, whatever is changed in it") {
    Mosaic mosaic;
    gpu::Device& device = *mosaic.machines.deviceOf({true, Rung::best, {}});
    mosaic.model.run();
    mosaic.frames(1);
    const std::uint64_t before = device.counters().bytesAllocated;
    mosaic.model.reroll();                                       // in the middle of a frame
    std::this_thread::sleep_for(std::chrono::milliseconds(200)); // time for the lane's thread to end
    CHECK(device.counters().bytesAllocated == before);
    for (int i = 0; i < 100; ++i) mosaic.frames(1); // and gone with the frames after it
    CHECK(device.counters().bytesAllocated <= before);
}

TEST_CASE("a side can be left out, and settings that cannot be had change nothing") {
    MosaicSettings settings = small();
    settings.cpu = false;
    Mosaic mosaic(settings);
    CHECK(mosaic.model.sides().size() == 1);
    MosaicSettings large = settings;
    large.population.hidden = {64, 64};
    CHECK_THROWS_AS(mosaic.model.change(large), std::invalid_argument);
    CHECK(mosaic.model.settings() == settings);
    CHECK(mosaic.model.sides().size() == 1);
}

TEST_CASE("tiles go to the places of their ranks, and back") {
    TileOrder order;
    order.aim(3, 6, {});
    CHECK(order.memberAt(2.5f, 1.5f) == 5);
    CHECK_FALSE(order.memberAt(3.1f, 0).has_value());
    CHECK_FALSE(order.memberAt(0, 2).has_value());
    CHECK_FALSE(order.memberAt(-0.1f, 0).has_value());
    const std::vector<std::uint32_t> ranking{5, 4, 3, 2, 1, 0};
    order.aim(3, 6, ranking);
    CHECK(order.memberAt(0, 0) == 5);
    order.update(0.05, false);
    CHECK(order.moving());
    CHECK(order.place(5).column > 0);
    CHECK(order.place(5).column < 2);
    for (int frame = 0; frame < 300 && order.moving(); ++frame) order.update(1.0 / 60, false);
    CHECK_FALSE(order.moving());
    CHECK(order.place(5).column == 0);
    order.aim(3, 6, {});
    order.update(0, true);
    CHECK(order.place(5).row == 1);
    CHECK_FALSE(order.moving());
}

TEST_CASE("losses have colours on a logarithmic scale, and what diverged does not stretch it") {
    constexpr float infinite = std::numeric_limits<float>::infinity();
    PopulationSummary summary;
    summary.percentiles = {0.01f, 0.02f, 0.1f, 1, 1, infinite, infinite};
    const PopulationSummary* both[] = {&summary, &summary};
    const LossScale scale = lossScaleOf(both);
    CHECK(scale.best == doctest::Approx(0.01));
    CHECK(scale.worst == doctest::Approx(1));
    CHECK(scale.share(0.1f) == doctest::Approx(0.5));
    CHECK(scale.share(0) == 1);
    CHECK(scale.share(infinite) == 0);
    CHECK(scale.share(MemberResult::unknown) == 0);
    summary.percentiles.fill(MemberResult::unknown);
    CHECK(lossScaleOf(both).empty());
    CHECK(lossScaleOf({}).empty());
}

TEST_CASE("a long history keeps a moment in two, then one in four") {
    LossSpread spread;
    PopulationSummary summary;
    summary.begun = 1;
    for (int step = 1; step <= 10000; ++step) spread.add(step, summary);
    CHECK(spread.steps.size() < 2048);
    CHECK(spread.steps.size() == spread.losses[0].size());
    CHECK(spread.steps.front() == 1);
    CHECK(spread.steps.back() > 9900);
    CHECK(std::ranges::is_sorted(spread.steps));
}

TEST_CASE("a side that cannot train says why once, the other goes on, and reset tries again") {
    MosaicSettings settings = small();
    settings.population.hidden = {16, 16, 16, 16}; // more than an invocation holds on any device
    settings.layout = PopulationLayout::invocation;
    Mosaic mosaic(settings);
    mosaic.toTheEnd();
    CHECK(says(mosaic.model.sides()[onGpu].failure, "parameters"));
    CHECK(says(mosaic.model.takeFailure(), "parameters"));
    CHECK(mosaic.model.takeFailure().empty());
    CHECK(mosaic.shot(onCpu).summary.finished == 16);
    mosaic.model.reset();
    mosaic.frames(1);
    CHECK(mosaic.shot(onCpu).summary.begun == 0);
    CHECK(says(mosaic.model.takeFailure(), "parameters"));
}

TEST_CASE("once all have finished, the mosaic names the best settings and both speeds") {
    Mosaic mosaic;
    CHECK(mosaicVerdict(mosaic.model).empty());
    CHECK(mosaicEvidence(mosaic.model).empty());
    mosaic.toTheEnd();
    const PopulationSpec& spec = mosaic.model.spec();
    const GridCell best = spec.cell(mosaic.shot(onGpu).summary.ranking.front());
    CHECK(says(mosaicVerdict(mosaic.model), "Best: "));
    CHECK(says(mosaicEvidence(mosaic.model),
               "Lowest loss: learning rate " + spec.x.label(best.x, spec.columns) +
                   ", initial weight scale " + spec.y.label(best.y, spec.rows)));
    CHECK(says(mosaicEvidence(mosaic.model), "steps/s, the CPU"));
    mosaic.model.reset();
    mosaic.frames(1);
    CHECK(mosaicVerdict(mosaic.model).empty());
}

TEST_CASE("the best networks are a range along the axes that matter") {
    PopulationSpec spec = small().population;
    spec.columns = spec.rows = 10;
    std::vector<bool> good(spec.size());
    const auto mark = [&](auto isGood) {
        for (std::size_t member = 0; member < good.size(); ++member) {
            const GridCell cell = spec.cell(member);
            good[member] = isGood(cell.x, cell.y);
        }
    };
    mark([](std::size_t x, std::size_t) { return x == 6 || x == 7; }); // a band
    CHECK(bestPlaces(spec, good, true) == PlaceRange{6, 7});
    CHECK(bestPlaces(spec, good, false) == std::nullopt);
    mark([](std::size_t x, std::size_t y) { return x >= 2 && x <= 5 && y <= 4; });
    CHECK(bestPlaces(spec, good, true) == PlaceRange{2, 5});
    CHECK(bestPlaces(spec, good, false) == PlaceRange{0, 4});
    mark([](std::size_t x, std::size_t y) { return (x == 1 && y < 4) || (x == 8 && y < 9) || x == 9; });
    CHECK(bestPlaces(spec, good, true) == PlaceRange{8, 9}); // not the lonely one
    mark([](std::size_t x, std::size_t y) { return (x + y) % 4 == 0; });
    CHECK(bestPlaces(spec, good, true) == std::nullopt);
    CHECK(bestPlaces(spec, std::vector<bool>(spec.size()), true) == std::nullopt); // all diverged
}

TEST_CASE("lessons quote the best network and the lowest rate that diverged, once all have finished") {
    MosaicSettings settings = small();
    settings.population.activation = Activation::relu;
    settings.population.loss = Loss::meanSquared;
    settings.population.x = populationAxisFromText("lr=0.01:1000:log");
    Mosaic mosaic(settings);
    const auto value = [&](const char* name) {
        MeasuredValues values;
        addMeasured(values, mosaic.model);
        return values.at(std::string("mosaic.") + name).number;
    };
    CHECK(value("networks") == 16);
    for (const char* name :
         {"finished", "diverged_share", "best_loss", "best_learning_rate", "first_diverged_learning_rate"})
        CHECK(std::isnan(value(name)));
    mosaic.toTheEnd();
    double diverged = 0;
    double first = std::numeric_limits<double>::infinity();
    double best = first;
    double bestRate = 0;
    for (std::size_t i = 0; i < 16; ++i) {
        const MemberResult& result = mosaic.shot(onGpu).results[i];
        const double rate = 0.01 * std::pow(1e5, static_cast<double>(i % 4) / 3);
        diverged += result.diverged ? 1 : 0;
        if (result.diverged) first = std::min(first, rate);
        if (result.diverged || static_cast<double>(result.loss) >= best) continue;
        best = static_cast<double>(result.loss);
        bestRate = rate;
    }
    REQUIRE(diverged > 0);
    REQUIRE(diverged < 16);
    CHECK(value("finished") == 1);
    CHECK(value("diverged_share") == diverged / 16);
    CHECK(value("best_loss") == best);
    CHECK(value("best_learning_rate") == doctest::Approx(bestRate));
    CHECK(value("first_diverged_learning_rate") == doctest::Approx(first));
}
