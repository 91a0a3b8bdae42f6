// The playground without its window: settings as JSON, changes without a reset, undo, and what goes wrong.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "demos/exhibits/playground/host_network.h"
#include "demos/exhibits/playground/passages.h"
#include "demos/exhibits/playground/playground_model.h"
#include "engine/run/make_trainer.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

Lane::MakeTrainer scalarTrainer(const TrainJob& job) {
    return [job] { return makeTrainer(job, laneSpecFromText("cpu:scalar"), {.threads = 1}, nullptr); };
}

void frames(PlaygroundModel& model, int count) {
    for (int i = 0; i < count; ++i) model.update(scalarTrainer, 1.0 / 60, true);
}

/// As a script's frames do: ten steps each.
void train(PlaygroundModel& model, int steps) {
    model.run();
    frames(model, steps / 10);
    model.pause();
}

std::string messageOf(const nlohmann::ordered_json& json) {
    try {
        playgroundSettingsFromJson(json);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("settings come back from JSON exactly") {
    PlaygroundSettings settings;
    settings.data = ownData;
    settings.own = {{0.1f, -2.7f, 0, 0}, {1.0f / 3, 5, 2, 0}};
    settings.features = {PlaneFeature::x, PlaneFeature::xy, PlaneFeature::sinY};
    settings.hidden = {1024, 1, 33};
    settings.loss = Loss::crossEntropy;
    settings.train.optimizer.kind = Optimizer::adamw;
    settings.train.optimizer.learningRate = 0.1234567890123;
    settings.lane = "gpu:tiled";
    const nlohmann::ordered_json json = toJson(settings);
    const PlaygroundSettings back = playgroundSettingsFromJson(nlohmann::ordered_json::parse(json.dump()));
    CHECK(toJson(back) == json);
    CHECK(sameTrainer(back, settings));
    CHECK(back.shape().widths == std::vector<std::size_t>{3, 1024, 1, 33, 3});
}

TEST_CASE("a wrong field is named") {
    CHECK(messageOf({{"hiden", {4}}}).find("hidden") != std::string::npos);
    CHECK(messageOf({{"settings", {{"rate", 1}}}}).find("settings") != std::string::npos);
    CHECK(messageOf({{"data", "circel"}}).find("circle") != std::string::npos);
    CHECK(messageOf({{"features", nlohmann::json::array()}}).find("features") != std::string::npos);
    CHECK(messageOf({{"hidden", {2000}}}).find("hidden") != std::string::npos);
    CHECK(messageOf({{"own", {{1, 2}}}}).find("own") != std::string::npos);
    CHECK(messageOf({{"lane", "cpu:bets"}}).find("cpu:best") != std::string::npos);
    CHECK(messageOf(nlohmann::ordered_json::object()).empty());
}

TEST_CASE("a state of an older version comes back") {
    const nlohmann::ordered_json train = {{"optimizer", "momentum"}, {"lr", 0.25}, {"batch", 7u}};
    const PlaygroundSettings settings = playgroundSettingsFromJson({{"data", "xor"}, {"train", train}});
    CHECK(settings.train.optimizer.kind == Optimizer::momentum);
    CHECK(settings.train.optimizer.learningRate == 0.25);
    CHECK(settings.train.batch == 7);
    CHECK(toJson(settings)["settings"]["batch"] == 7);
}

TEST_CASE("the presets are settings of the playground") {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(LOCKSTEP_SOURCE_DIR "/assets/presets")) {
        if (!entry.path().filename().string().starts_with("playground-")) continue;
        const auto preset = nlohmann::ordered_json::parse(std::ifstream(entry.path()));
        nlohmann::ordered_json settings = preset["exhibits"]["playground"];
        settings.erase("view");
        CHECK_NOTHROW(playgroundSettingsFromJson(settings));
        CHECK(preset["title"].get<std::string>().size() > 3);
        ++count;
    }
    CHECK(count >= 6);
}

TEST_CASE("points are the same however the split goes, and every one is in one split") {
    PlaygroundSettings settings;
    settings.trainShare = 0.7;
    const PlaygroundData data = makePlaygroundData(settings);
    CHECK(data.dataset.train.count == 350);
    CHECK(data.dataset.test.count == 150);
    std::size_t test = 0;
    for (const PlanePoint& point : data.points) test += point.test ? 1 : 0;
    CHECK(test == 150);
}

TEST_CASE("training is the same every time, and reset begins it again") {
    PlaygroundModel model;
    frames(model, 1);
    const std::vector<float> first = model.parameters();
    train(model, 200);
    CHECK(model.step() == 200);
    CHECK(model.moment().train.loss < 0.7);
    const std::vector<float> trained = model.parameters();
    model.reset();
    CHECK(model.parameters() == first);
    CHECK(model.step() == 0);
    train(model, 200);
    CHECK(model.parameters() == trained);
    model.reroll();
    CHECK(model.parameters() != first);
}

TEST_CASE("every setting but the shape changes without a reset") {
    PlaygroundModel model;
    train(model, 100);
    const std::vector<float> before = model.parameters();
    const auto keeps = [&](auto edit) {
        PlaygroundSettings settings = model.settings();
        edit(settings);
        model.change(settings);
        frames(model, 1);
        CHECK(model.step() == 100);
        CHECK(model.parameters() == before);
    };
    keeps([](PlaygroundSettings& s) { s.train.optimizer.learningRate = 0.5; });
    keeps([](PlaygroundSettings& s) { s.train.batch = 64; });
    keeps([](PlaygroundSettings& s) { s.data = "xor"; });
    keeps([](PlaygroundSettings& s) { s.noise = 0.3; });
    keeps([](PlaygroundSettings& s) { s.activation = Activation::relu; });
    keeps([](PlaygroundSettings& s) { s.loss = Loss::meanSquared; });
    keeps([](PlaygroundSettings& s) { s.train.optimizer.kind = Optimizer::momentum; });
    keeps([](PlaygroundSettings& s) { s.train.optimizer.kind = Optimizer::rmsprop; });
    keeps([](PlaygroundSettings& s) { s.train.optimizer.kind = Optimizer::adam; });
    keeps([](PlaygroundSettings& s) { s.trainShare = 0.8; });
    train(model, 50);
    CHECK(model.step() == 150);
    CHECK(!model.failed());

    PlaygroundSettings wider = model.settings();
    wider.hidden = {4, 3};
    model.change(wider);
    CHECK(model.step() == 0);
    train(model, 20);
    CHECK(model.step() == 20);
}

TEST_CASE("undo goes back by as many steps, exactly") {
    PlaygroundModel model;
    PlaygroundSettings settings = model.settings();
    settings.train.optimizer.kind = Optimizer::adam;
    model.change(settings);
    train(model, 250);
    const std::vector<float> at250 = model.parameters();
    train(model, 90);
    model.step(10);
    frames(model, 1);
    CHECK(model.step() == 350);
    model.undo(100);
    frames(model, 1);
    CHECK(model.step() == 250);
    CHECK(model.parameters() == at250);
    model.undo(1000);
    frames(model, 1);
    CHECK(model.step() == 0);
}

TEST_CASE("a rate that is too high ends in a message, and undo gets back from it") {
    PlaygroundModel model;
    PlaygroundSettings settings;
    settings.data = "plane";
    settings.features = {PlaneFeature::x, PlaneFeature::y, PlaneFeature::xx};
    settings.activation = Activation::relu;
    settings.loss = Loss::meanSquared;
    settings.train.optimizer.learningRate = 1000;
    model.change(settings);
    model.run();
    frames(model, 20);
    REQUIRE(model.failed());
    CHECK(!model.running());
    CHECK(model.failure().find("rate") != std::string::npos);
    CHECK(model.failedLayer() == settings.hidden.size()); // its outputs and the loss overflow first
    model.undo(100);
    settings.train.optimizer.learningRate = 1e-4;
    model.change(settings);
    train(model, 30);
    CHECK(!model.failed());
    CHECK(!model.failedLayer());
    CHECK(model.step() == 30);
    CHECK(std::isfinite(model.moment().train.loss));
}

TEST_CASE("a weight that a person writes is trained on from") {
    PlaygroundModel model;
    train(model, 20);
    model.setParameter(0, 2.5f);
    CHECK(model.parameters()[0] == 2.5f);
    frames(model, 1);
    CHECK(model.parameters()[0] == 2.5f);
    CHECK(model.step() == 20);
    train(model, 10);
    CHECK(model.parameters()[0] != 2.5f);
}

TEST_CASE("edits are undone and redone: settings, points, layers with their trained weights") {
    PlaygroundModel model;
    train(model, 50);
    const std::vector<float> trained = model.parameters();
    model.edit([](PlaygroundSettings& s) { s.own = {{1, 2, 0, 0}, {2, 1, 1, 0}}; });
    model.edit([](PlaygroundSettings& s) { s.own.clear(); });
    model.edit([](PlaygroundSettings& s) { s.hidden = {4, 3}; });
    train(model, 20);
    const std::vector<float> wider = model.parameters();
    CHECK(model.edits() == 3);
    model.undoEdit();
    frames(model, 1);
    CHECK(model.settings().hidden == std::vector<std::size_t>{4, 2});
    CHECK(model.parameters() == trained);
    CHECK(model.step() == 50);
    CHECK(model.history().steps().back() == 50);
    model.undoEdit();
    CHECK(model.settings().own.size() == 2);
    model.undoEdit();
    CHECK(model.settings().own.empty());
    model.undoEdit(); // nothing is left
    for (int i = 0; i < 3; ++i) model.redoEdit();
    frames(model, 1);
    CHECK(model.parameters() == wider);
    CHECK(model.step() == 20);
    CHECK(model.redoableEdit() == 0);
    // A setting that keeps the weights gives back none: what was trained since stays.
    model.edit([](PlaygroundSettings& s) { s.train.optimizer.learningRate = 0.5; });
    train(model, 10);
    const std::vector<float> later = model.parameters();
    model.undoEdit();
    frames(model, 1);
    CHECK(model.settings().train.optimizer.learningRate == 0.03);
    CHECK(model.parameters() == later);
    CHECK(model.step() == 30);
}

TEST_CASE("a reset and a weight written by hand are undone; what a drag changes is one edit") {
    PlaygroundModel model;
    train(model, 50);
    const std::vector<float> trained = model.parameters();
    model.reset();
    model.reset(); // changes nothing
    CHECK(model.edits() == 1);
    model.undoEdit();
    CHECK(model.parameters() == trained);
    model.reroll();
    CHECK(model.edits() == 1);
    model.undoEdit();
    CHECK(model.parameters() == trained);
    CHECK(model.settings().train.seed == PlaygroundSettings{}.train.seed);
    model.holdEdit(true);
    for (const float value : {1.0f, 2.0f, 3.0f}) model.setParameter(0, value);
    model.holdEdit(false);
    CHECK(model.edits() == 1);
    model.undoEdit();
    frames(model, 1);
    CHECK(model.parameters() == trained);
    CHECK(model.step() == 50);
}

TEST_CASE("without points there is nothing to train, and with one there is") {
    PlaygroundModel model;
    PlaygroundSettings settings;
    settings.data = ownData;
    model.change(settings);
    frames(model, 2);
    CHECK(!model.trainable());
    CHECK(!model.failed());
    settings.own.push_back({1, 1, 1, 0});
    model.change(settings);
    frames(model, 1);
    CHECK(model.trainable());
    train(model, 10);
    CHECK(model.step() == 10);
}

TEST_CASE("slow motion makes steps by time") {
    PlaygroundModel model;
    model.setSpeed(30);
    model.run();
    frames(model, 60);
    CHECK(model.step() == 30);
}

TEST_CASE("the gradient is the loss's slope") {
    PlaygroundSettings settings;
    settings.data = "rings";
    settings.loss = Loss::crossEntropy;
    settings.activation = Activation::gelu;
    PlaygroundModel model;
    model.change(settings);
    const NetShape shape = model.shape();
    const std::size_t rows = model.order().batch();
    const std::vector<float> slopes =
        gradient(shape, model.parameters(), model.dataset(), model.order(), 0, rows);
    // The loss over the same batch, from the twin's outputs.
    const auto lossAt = [&](const std::vector<float>& parameters) {
        double sum = 0;
        for (std::size_t row = 0; row < rows; ++row) {
            const std::size_t example = model.order().example(0, row);
            const auto first =
                model.dataset().train.values.begin() + static_cast<std::ptrdiff_t>(2 * example);
            const std::vector<float> inputs(first, first + 2);
            const std::vector<LayerValues> values = forward(shape, parameters, inputs, 1);
            const std::vector<float> answer = answerOf(shape.loss, values.back().row(0));
            sum -= std::log(static_cast<double>(answer[model.dataset().train.labels[example]]));
        }
        return sum / static_cast<double>(rows);
    };
    const ParamLayout layout(shape);
    for (std::size_t layer = 0; layer < layout.layers(); ++layer) {
        const std::size_t index = layout.layer(layer).weightOffset + 1;
        std::vector<float> parameters = model.parameters();
        const float step = 1e-2f;
        parameters[index] += step;
        const double above = lossAt(parameters);
        parameters[index] -= 2 * step;
        const double below = lossAt(parameters);
        CHECK((above - below) / (2 * static_cast<double>(step)) ==
              doctest::Approx(slopes[index]).epsilon(0.02));
    }
}

TEST_CASE("the history stays small and keeps the newest") {
    LossHistory history;
    for (std::uint64_t step = 0; step <= 100000; step += 10) history.add(step, 1, 2);
    CHECK(history.steps().size() < 2100);
    CHECK(history.steps().front() == 0);
    CHECK(history.steps().back() == 100000);
    history.goBackTo(500);
    CHECK(history.steps().back() <= 500);

    LossHistory few;
    CHECK(std::isnan(few.lowestTest().loss));
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    const double losses[] = {unknown, 0.7, 0.2, 0.2, 0.9};
    for (std::size_t i = 0; i < std::size(losses); ++i) few.add(10 * i, 0.1, losses[i]);
    CHECK(few.lowestTest().step == 20);
    CHECK(few.lowestTest().loss == 0.2);
    few.goBackTo(10);
    CHECK(few.lowestTest().step == 10);
}

TEST_CASE("points pass through the untrained network, a few of them, and no more once it trains") {
    PlaygroundModel model;
    frames(model, 1);
    Passages passages;
    passages.update(model, 0.05);
    CHECK_FALSE(passages.now().has_value()); // before start()
    passages.start();
    int arrived = 0;
    bool was = false;
    for (int frame = 0; passages.going(); ++frame) {
        REQUIRE(frame < 10000);
        passages.update(model, 0.05);
        const bool is = passages.now() && passages.now()->arrived();
        arrived += is && !was ? 1 : 0;
        was = is;
    }
    CHECK(arrived == 8);

    passages.start();
    passages.update(model, 0.05);
    REQUIRE(passages.now().has_value());
    CHECK(passages.now()->fits(model.shape()));
    for (const std::vector<std::size_t>& widths : {std::vector<std::size_t>{2, 4, 1}, {2, 5, 2, 1}})
        CHECK_FALSE(
            passages.now()->fits(NetShape{widths, Activation::tanh, Activation::tanh, Loss::meanSquared}));
    Passage sure = *passages.now();
    sure.point.label = 1;
    sure.values.back().data[0] = 2; // the sigmoid of it: 88 % for the second class
    CHECK(passageText(model.settings(), Loss::binaryCrossEntropy, sure) ==
          "Untrained, it says orange, 88 %: right.");
    sure.point.label = 0;
    CHECK(passageText(model.settings(), Loss::binaryCrossEntropy, sure) ==
          "Untrained, it says orange, 88 %: wrong.");
    CHECK(passageText(model.settings(), Loss::meanSquared, sure) == "Untrained, it says 2.00.");

    train(model, 10);
    passages.update(model, 0.05);
    CHECK_FALSE(passages.going());
    CHECK_FALSE(passages.now().has_value());
}
