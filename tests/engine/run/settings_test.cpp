// Settings: schedules, bias corrections, defaults, and names that are refused with a hint.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/net/names.h"
#include "engine/net/net_shape.h"
#include "engine/net/setting_table.h"
#include "engine/net/settings.h"
#include "engine/run/settings_json.h"

using namespace lockstep;
using doctest::Approx;

namespace {

template <class Function> std::string messageOf(Function function) {
    try {
        function();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "nothing was thrown";
}

OptimizerSettings optimizer(Optimizer kind) {
    OptimizerSettings settings;
    settings.kind = kind;
    return settings;
}

shared::UpdateParams updateOf(const OptimizerSettings& settings, std::uint64_t step) {
    TrainSettings train;
    train.optimizer = settings;
    return stepSettings(train, BatchOrder(100, 10, 1, true), step).update;
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("a wrong name is answered with the right ones, the nearest first") {
    const std::string_view known[] = {"relu", "elu", "gelu", "tanh"};
    CHECK(rightNames("rleu", known) == "; did you mean 'relu'? (known: relu, elu, gelu, tanh)");
    CHECK(rightNames("tahn", known) == "; did you mean 'tanh'? (known: tanh, relu, elu, gelu)");
    CHECK(rightNames("something", known) == " (known: relu, elu, gelu, tanh)");
    std::vector<std::string> many;
    for (int i = 0; i < 20; ++i) many.push_back("name-" + std::to_string(i));
    CHECK(rightNames("nane-7", std::vector<std::string_view>(many.begin(), many.end()), "`list`") ==
          "; did you mean 'name-7'? (known: name-7, name-0, name-1, name-2, name-3, name-4, ...; `list` "
          "lists all)");
}

TEST_CASE("places are written as editors and terminals jump to them") {
    CHECK(placeInFile("a.md", 0) == "a.md");
    CHECK(placeInFile("a.md", 3) == "a.md:3");
    CHECK(placeInFile("dir/a.md", 3, 7) == "dir/a.md:3:7");
}

TEST_CASE("rates default to the optimizer's own") {
    CHECK(optimizer(Optimizer::sgd).effectiveLearningRate() == 0.1);
    CHECK(optimizer(Optimizer::momentum).effectiveLearningRate() == 0.1);
    CHECK(optimizer(Optimizer::rmsprop).effectiveLearningRate() == 1e-2);
    CHECK(optimizer(Optimizer::adam).effectiveLearningRate() == 1e-3);
    CHECK(optimizer(Optimizer::adamw).effectiveLearningRate() == 1e-3);
    CHECK(optimizer(Optimizer::adam).effectiveWeightDecay() == 0);
    CHECK(optimizer(Optimizer::adamw).effectiveWeightDecay() == 0.01);
}

TEST_CASE("the step schedule falls by gamma every scheduleSteps") {
    OptimizerSettings settings = optimizer(Optimizer::sgd);
    settings.schedule = Schedule::step;
    settings.scheduleSteps = 10;
    settings.scheduleGamma = 0.5;
    CHECK(learningRate(settings, 0) == Approx(0.1));
    CHECK(learningRate(settings, 9) == Approx(0.1));
    CHECK(learningRate(settings, 10) == Approx(0.05));
    CHECK(learningRate(settings, 29) == Approx(0.025));
}

TEST_CASE("the cosine schedule is half at half time, and 0 at the end and after") {
    OptimizerSettings settings = optimizer(Optimizer::sgd);
    settings.schedule = Schedule::cosine;
    settings.scheduleSteps = 100;
    CHECK(learningRate(settings, 0) == Approx(0.1));
    CHECK(learningRate(settings, 50) == Approx(0.05));
    CHECK(learningRate(settings, 25) == Approx(0.1 * (1 + std::sqrt(0.5)) / 2));
    CHECK(std::abs(learningRate(settings, 100)) < 1e-15);
    CHECK(std::abs(learningRate(settings, 1000)) < 1e-15);
}

TEST_CASE("warm-up rises linearly to the schedule's rate") {
    OptimizerSettings settings = optimizer(Optimizer::sgd);
    settings.warmupSteps = 4;
    CHECK(learningRate(settings, 0) == Approx(0.025));
    CHECK(learningRate(settings, 2) == Approx(0.075));
    CHECK(learningRate(settings, 3) == Approx(0.1));
    CHECK(learningRate(settings, 4) == Approx(0.1));
}

TEST_CASE("Adam's bias corrections follow beta1^t and beta2^t, t from 1, of the betas as floats") {
    const OptimizerSettings settings = optimizer(Optimizer::adam);
    const double beta1 = 0.9f, beta2 = 0.999f;
    for (std::uint64_t step : {0u, 1u, 9u, 5000u}) {
        const double t = static_cast<double>(step) + 1;
        const shared::UpdateParams update = updateOf(settings, step);
        CHECK(update.momentum == 0.9f);
        CHECK(update.secondDecay == 0.999f);
        CHECK(update.learningRate == Approx(1e-3 / (1 - std::pow(beta1, t))).epsilon(1e-7));
        CHECK(update.secondScale == Approx(1 / std::sqrt(1 - std::pow(beta2, t))).epsilon(1e-7));
        CHECK(update.secondScale == Approx(1 / std::sqrt(1 - std::pow(0.999, t))).epsilon(1e-5));
    }
    // For any gradient, Adam's first step has the size of the learning rate: lr / (1 - b1) * (1 - b1) g /
    // |g|.
    const shared::UpdateParams first = updateOf(settings, 0);
    CHECK(first.learningRate * (1 - first.momentum) == Approx(1e-3).epsilon(2e-7));
    CHECK(first.secondScale * std::sqrt(1 - first.secondDecay) == Approx(1).epsilon(2e-7));
}

TEST_CASE("a beta that a float rounds to 1 still gives finite numbers") {
    OptimizerSettings settings = optimizer(Optimizer::adam);
    settings.beta1 = settings.beta2 = 1 - 1e-12;
    CHECK_NOTHROW(settings.validate());
    CHECK(std::isfinite(updateOf(settings, 0).learningRate));
    CHECK(std::isfinite(updateOf(settings, 0).secondScale));
}

TEST_CASE("weight decay is decoupled in adamw and part of the gradient elsewhere") {
    OptimizerSettings settings = optimizer(Optimizer::adamw);
    settings.learningRate = 0.5;
    CHECK(updateOf(settings, 0).weightKeep == Approx(1 - 0.5 * 0.01));
    CHECK(updateOf(settings, 0).l2 == 0.0f);
    settings.kind = Optimizer::adam;
    settings.weightDecay = 0.25;
    CHECK(updateOf(settings, 0).weightKeep == 1.0f);
    CHECK(updateOf(settings, 0).l2 == 0.25f);
}

TEST_CASE("the numbers of the other optimizers are passed on as they are") {
    OptimizerSettings settings = optimizer(Optimizer::momentum);
    settings.nesterov = true;
    CHECK(updateOf(settings, 3).momentum == 0.9f);
    CHECK(updateOf(settings, 3).nesterov == 1);
    CHECK(updateOf(settings, 3).learningRate == 0.1f);
    CHECK(updateOf(optimizer(Optimizer::rmsprop), 3).secondDecay == 0.99f);
    CHECK(updateOf(optimizer(Optimizer::rmsprop), 3).secondScale == 1.0f);
}

TEST_CASE("optimizers keep as many arrays as they need") {
    CHECK(optimizer(Optimizer::sgd).stateArrays() == 0);
    CHECK(optimizer(Optimizer::momentum).stateArrays() == 1);
    CHECK(optimizer(Optimizer::rmsprop).stateArrays() == 1);
    CHECK(optimizer(Optimizer::adam).stateArrays() == 2);
    CHECK(optimizer(Optimizer::adamw).stateArrays() == 2);
}

TEST_CASE("invalid settings are rejected by name") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    OptimizerSettings settings;
    CHECK_NOTHROW(settings.validate());
    settings.learningRate = -1;
    CHECK(contains(messageOf([&] { settings.validate(); }), "learning rate"));
    settings.learningRate = nan;
    CHECK(contains(messageOf([&] { settings.validate(); }), "learning rate"));
    settings.learningRate = 0;
    CHECK(contains(messageOf([&] { settings.validate(); }), "learning rate"));
    settings = {};
    settings.beta1 = 1;
    CHECK(contains(messageOf([&] { settings.validate(); }), "beta1"));
    settings = {};
    settings.weightDecay = -0.5;
    CHECK(contains(messageOf([&] { settings.validate(); }), "weight decay"));
    settings = {};
    settings.scheduleSteps = 0;
    CHECK(contains(messageOf([&] { settings.validate(); }), "schedule"));
    settings = {};
    settings.nesterov = true; // with Adam
    CHECK(contains(messageOf([&] { settings.validate(); }), "Nesterov"));
}

TEST_CASE("every row of the table is checked, and read from files") {
    for (const SettingRow& row : settingTable) {
        CAPTURE(row.key);
        TrainSettings changed;
        changed.optimizer.kind = Optimizer::momentum;
        OptimizerSettings& settings = changed.optimizer;
        const auto set = [&](double value) {
            if (const auto* own = std::get_if<OwnOrSet>(&row.field)) settings.*(own->field) = value;
            if (const auto* number = std::get_if<double OptimizerSettings::*>(&row.field))
                settings.** number = value;
        };
        if (row.most > 0) {
            set(row.mostIncluded ? std::nextafter(row.most, 1e9) : row.most);
            CHECK(messageOf([&] { settings.validate(); }).starts_with(std::string(row.title) + " is "));
            set(-0.25);
            CHECK(messageOf([&] { settings.validate(); }).starts_with(std::string(row.title) + " is -0.25"));
            set(0.25);
        } else if (const auto* count = std::get_if<std::uint64_t OptimizerSettings::*>(&row.field)) {
            settings.** count = 77;
        } else {
            settings.nesterov = true;
        }
        CHECK(trainSettingsFromJson(toJson(changed)) ==
              TrainSettings{effectiveSettings(settings), changed.batch, changed.seed, changed.shuffle});
        auto json = toJson(changed);
        json.erase(std::string(row.key));
        CHECK(messageOf([&] { trainSettingsFromJson(json); }) ==
              "the field '" + std::string(row.key) + "' is missing");
    }
}

TEST_CASE("names convert to values and back") {
    for (Optimizer value : allOptimizers) CHECK(optimizerFromName(name(value)) == value);
    for (Schedule value : {Schedule::constant, Schedule::step, Schedule::cosine})
        CHECK(scheduleFromName(name(value)) == value);
    for (const Activation value : allActivations) CHECK(activationFromName(name(value)) == value);
    for (std::uint32_t number = 0; number < 4; ++number)
        CHECK(lossFromName(name(Loss(number))) == Loss(number));
    for (std::uint32_t number = 0; number < 5; ++number)
        CHECK(initSchemeFromName(name(InitScheme(number))) == InitScheme(number));
}

TEST_CASE("for a wrong name, the message suggests the nearest one and lists all") {
    const std::string adam = messageOf([] { optimizerFromName("adan"); });
    CHECK(contains(adam, "unknown optimizer 'adan'"));
    CHECK(contains(adam, "did you mean 'adam'?"));
    CHECK(contains(adam, "rmsprop"));
    CHECK(contains(messageOf([] { lossFromName("crossentropy"); }), "did you mean 'cross-entropy'?"));
    CHECK(contains(messageOf([] { activationFromName("leakyrelu"); }), "did you mean 'leaky-relu'?"));
    CHECK(contains(messageOf([] { scheduleFromName("cosin"); }), "did you mean 'cosine'?"));
    CHECK(contains(messageOf([] { initSchemeFromName("kaiming-normal"); }), "known: he, xavier"));
    CHECK(!contains(messageOf([] { initSchemeFromName("kaiming-normal"); }), "did you mean"));
    CHECK(contains(messageOf([] { optimizerFromName(""); }), "unknown optimizer ''"));
}

TEST_CASE("invalid shapes are rejected with the reason") {
    NetShape shape;
    shape.widths = {2};
    CHECK(contains(messageOf([&] { shape.validate(); }), "input and an output"));
    shape.widths = {2, 0, 3};
    CHECK(contains(messageOf([&] { shape.validate(); }), "width 0"));
    shape.widths = {2, 65537, 3};
    CHECK(contains(messageOf([&] { shape.validate(); }), "65537"));
    shape.widths = {2, 8, 1};
    CHECK(contains(messageOf([&] { shape.validate(); }), "cross-entropy"));
    shape.loss = Loss::binaryCrossEntropy;
    CHECK_NOTHROW(shape.validate());
    shape.outputActivation = Activation::sigmoid;
    CHECK(contains(messageOf([&] { shape.validate(); }), "logits"));
}

TEST_CASE("a shape counts its parameters and operations") {
    NetShape shape;
    shape.widths = {784, 256, 128, 10};
    CHECK(shape.parameters() == 784 * 256 + 256 + 256 * 128 + 128 + 128 * 10 + 10);
    CHECK(shape.flopsPerExample() == 4.0 * 784 * 256 + 6.0 * 256 * 128 + 6.0 * 128 * 10);
    CHECK(shape.describeWidths() == "784-256-128-10");
}
