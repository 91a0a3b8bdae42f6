// Axes and grids: texts and what is wrong with them, values from cell to cell, and the population they mean.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "engine/grid/population_grid.h"

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

PopulationSpec gridOf(const std::string& x, const std::string& y, std::size_t columns = 4,
                      std::size_t rows = 3) {
    PopulationSpec spec;
    spec.columns = columns;
    spec.rows = rows;
    spec.x = populationAxisFromText(x);
    spec.y = populationAxisFromText(y);
    return spec;
}

/// "0 0.5 1".
std::string labels(const std::vector<AxisTick>& ticks) {
    std::string all;
    for (const AxisTick& tick : ticks) all += (all.empty() ? "" : " ") + tick.label;
    return all;
}

} // namespace

TEST_CASE("an axis reads what it writes") {
    for (const std::string text :
         {"lr=0.001:1:log", "init-scale=0.1:10", "momentum=0:0.99", "l2=0.1:1e-05:log", "noise=0:0.8",
          "seed=1:32", "activation=relu,tanh,silu"}) {
        CAPTURE(text);
        const PopulationAxis axis = populationAxisFromText(text);
        CHECK(axis.text() == text);
        CHECK(populationAxisFromText(axis.text()) == axis);
    }
    CHECK(populationAxisFromText(" lr = 1e-4 : 1 : linear ") == populationAxisFromText("lr=0.0001:1"));
}

TEST_CASE("an axis that makes no sense is refused with what would be right") {
    struct Case {
        std::string text;
        std::string answer;
    };
    const Case cases[] = {
        {"", "unknown hyperparameter ''"},
        {"lr", "'lr' is not an axis"},
        {"lr=1", "as in lr=1e-4:1:log"},
        {"lr=1:2:log:3", "as in lr=1e-4:1:log"},
        {"rl=1:2", "did you mean 'lr'"},
        {"init_scale=1:2", "did you mean 'init-scale'"},
        {"activatoin=relu,tanh", "did you mean 'activation'"},
        {"lr=1e-4:1:lgo", "did you mean 'log'"},
        {"lr=-1:1", "lr is -1; it must be a number above 0"},
        {"lr=0:1", "lr is 0; it must be"},
        {"lr=1:1e9", "lr is 1e+09; it must be"},
        {"lr=some:1", "'some' is not a number"},
        {"lr=:1", "'' is not a number"},
        {"lr=0.1:nan", "'nan' is not a number"},
        {"lr=0.1:1e999", "'1e999' is not a number"},
        {"lr=0.1:0.1", "equal ends"},
        {"init-scale=-1:1:log", "init-scale is -1; it must be"},
        {"momentum=0:1", "from 0 to below 1"},
        {"l2=0:0.1:log", "0 has no logarithm: write l2=0:0.1:linear"},
        {"l2=-1:0.1", "l2 is -1; it must be"},
        {"noise=0:0.9", "from 0 to 0.8"},
        {"seed=1:2.5", "a whole number"},
        {"seed=1:1e300", "a whole number"},
        {"seed=1:32:log", "have no log scale; write seed=1:32"},
        {"activation=relu", "at least two"},
        {"activation=relu,tanh,relu", "relu is on the axis twice"},
        {"activation=relu,tahn", "did you mean 'tanh'"},
        {"activation=", "unknown activation ''"},
    };
    for (const Case& wrong : cases) {
        CAPTURE(wrong.text);
        const std::string message = messageOf([&] { populationAxisFromText(wrong.text); });
        CAPTURE(message);
        CHECK(message.find(wrong.answer) != std::string::npos);
    }
}

TEST_CASE("values go from the first cell to the last, both ends included to the bit") {
    const PopulationAxis rates = populationAxisFromText("lr=1e-4:1:log");
    CHECK(rates.value(0, 5) == 1e-4);
    CHECK(rates.value(1, 5) == Approx(1e-3));
    CHECK(rates.value(4, 5) == 1.0);
    CHECK(rates.value(0, 1) == 1e-4);
    CHECK(rates.label(1, 5) == "0.001");
    CHECK(populationAxisFromText("l2=0:1").value(1, 5) == Approx(0.25));
    CHECK(populationAxisFromText("lr=1:0.5").value(1, 3) == Approx(0.75));
    const PopulationAxis seeds = populationAxisFromText("seed=1:4");
    CHECK(seeds.value(1, 3) == 3); // 2.5, rounded
    CHECK(populationAxisFromText("seed=1:1000000").label(1, 2) == "1000000");
    const PopulationAxis functions = populationAxisFromText("activation=relu,tanh");
    CHECK(functions.activation(0, 5) == Activation::relu);
    CHECK(functions.activation(2, 5) == Activation::relu);
    CHECK(functions.activation(3, 5) == Activation::tanh);
    CHECK(functions.label(4, 5) == "tanh");
}

TEST_CASE("ends so close that rounding loses the steps between them have a few marks") {
    CHECK(populationAxisFromText("lr=1:1.0000000000000002").ticks(8, 5).size() <= 12);
    CHECK(populationAxisFromText("seed=9007199254740990:9007199254740992").ticks(8, 5).size() <= 12);
}

TEST_CASE("ticks are round values at their places, also on short axes and on those that fall") {
    const std::vector<AxisTick> decades = populationAxisFromText("lr=1e-4:1:log").ticks(5);
    CHECK(labels(decades) == "0.0001 0.001 0.01 0.1 1");
    CHECK(decades[1].place == Approx(1.5));
    CHECK(decades.back().place == Approx(4.5));
    CHECK(labels(populationAxisFromText("init-scale=0.1:10:log").ticks(32)) == "0.1 0.2 0.5 1 2 5 10");
    CHECK(labels(populationAxisFromText("lr=2:5:log").ticks(32, 3)) == "2 3 4 5");
    CHECK(labels(populationAxisFromText("lr=1e-6:1e6:log").ticks(32)) ==
          "1e-06 0.0001 0.01 1 100 10000 1e+06");
    CHECK(labels(populationAxisFromText("noise=0:0.8").ticks(16)) == "0 0.2 0.4 0.6 0.8");
    CHECK(labels(populationAxisFromText("seed=1:4").ticks(16)) == "1 2 3 4");
    const std::vector<AxisTick> falling = populationAxisFromText("momentum=0.9:0.1").ticks(9, 4);
    CHECK(labels(falling) == "0.2 0.4 0.6 0.8");
    CHECK(falling[3].place == Approx(1.5));
    const std::vector<AxisTick> names = populationAxisFromText("activation=relu,tanh").ticks(5);
    CHECK(labels(names) == "relu tanh");
    CHECK(names[0].place == Approx(1.5));
    CHECK(names[1].place == Approx(4));
    CHECK(labels(populationAxisFromText("lr=0.5:1").ticks(1)) == "0.5");
}

TEST_CASE("members go row by row from the upper left, and y grows upwards") {
    const PopulationGrid grid = makePopulationGrid(gridOf("lr=0.1:0.4", "activation=relu,tanh,silu"));
    REQUIRE(grid.job.members.size() == 12);
    CHECK(grid.job.members[0].learningRate == 0.1);
    CHECK(grid.job.members[0].activation == Activation::silu);
    CHECK(grid.job.members[3].learningRate == 0.4);
    CHECK(grid.job.members[8].learningRate == 0.1);
    CHECK(grid.job.members[8].activation == Activation::relu);
    for (std::size_t member = 0; member < 12; ++member) {
        const GridCell place = grid.spec.cell(member);
        CHECK((grid.spec.rows - 1 - place.y) * grid.spec.columns + place.x == member);
    }
    CHECK(grid.spec.describe(7) == "lr 0.4, activation tanh");
    CHECK(grid.job.shape.widths == std::vector<std::size_t>{2, 8, 8, 1});
    CHECK(grid.job.shape.loss == Loss::binaryCrossEntropy);
}

TEST_CASE("an axis of noise makes a data set per value, of the same points") {
    PopulationSpec spec = gridOf("seed=1:4", "noise=0:0.4");
    const PopulationGrid grid = makePopulationGrid(spec);
    REQUIRE(grid.data.size() == 3);
    CHECK(grid.job.members[0].data == 2); // the upper row has the most noise
    CHECK(grid.spec.noise(0) == 0.4);
    CHECK(grid.job.members[11].data == 0);
    CHECK(grid.job.members[11].seed == 4);
    spec.dataOptions.noise = 0.2;
    CHECK(spec.noise(4) == Approx(0.2));
    spec.y = populationAxisFromText("l2=0:0.1");
    CHECK(grid.job.data[1]->train.values == loadDataset("spiral", spec.dataOptions).train.values);
    CHECK(grid.data[0]->train.labels == grid.data[2]->train.labels);
}

TEST_CASE("a moved grid's job still points to its data") {
    PopulationGrid grid = makePopulationGrid(gridOf("lr=0.1:0.4", "noise=0:0.4"));
    const PopulationGrid moved = std::move(grid);
    moved.job.validate();
    CHECK(moved.job.data[2] == moved.data[2].get());
}

TEST_CASE("the loss suits the data, unless it is said") {
    PopulationSpec spec = gridOf("lr=0.1:0.4", "init-scale=0.5:2");
    spec.data = "rings";
    CHECK(makePopulationGrid(spec).job.shape.loss == Loss::crossEntropy);
    CHECK(makePopulationGrid(spec).job.shape.outputs() == 3);
    spec.data = "plane";
    CHECK(makePopulationGrid(spec).job.shape.loss == Loss::meanSquared);
    spec.data = "spiral";
    spec.loss = Loss::crossEntropy;
    CHECK(makePopulationGrid(spec).job.shape.outputs() == 2);
}

TEST_CASE("a grid that makes no sense is refused with what would be right") {
    const auto refusal = [](PopulationSpec spec, auto change) {
        change(spec);
        return messageOf([&] { makePopulationGrid(spec); });
    };
    struct Case {
        void (*change)(PopulationSpec&);
        std::string answer;
    };
    const Case cases[] = {
        {[](PopulationSpec& spec) { spec.rows = 0; }, "1x1 is the smallest"},
        {[](PopulationSpec& spec) { spec.columns = spec.rows = 300; }, "256x256 fits"},
        {[](PopulationSpec& spec) { spec.columns = std::size_t{1} << 60; }, "fits"},
        {[](PopulationSpec& spec) { spec.y = spec.x; }, "lr is on both axes"},
        {[](PopulationSpec& spec) { spec.y = populationAxisFromText("momentum=0:0.9"); },
         "the y axis: the optimizer adam has no momentum"},
        {[](PopulationSpec& spec) {
             spec.x = populationAxisFromText("noise=0:0.5");
             spec.data = "csv:table.csv";
         },
         "the x axis: only generated points have noise"},
        {[](PopulationSpec& spec) {
             spec.y = populationAxisFromText("activation=relu,tanh");
             spec.hidden.clear();
         },
         "no activation to vary"},
        {[](PopulationSpec& spec) { spec.init = InitScheme::zeros; }, "no scale to vary"},
        {[](PopulationSpec& spec) { spec.initialScale = -1; }, "above 0"},
        {[](PopulationSpec& spec) { spec.initialScale = 1e39; }, "up to 1,000,000"},
        {[](PopulationSpec& spec) { spec.steps = 0; }, "1 to 10,000,000 steps"},
        {[](PopulationSpec& spec) {
             spec.hidden = {64, 64};
         },
         "neurons fit"},
        {[](PopulationSpec& spec) { spec.data = "spirl"; }, "did you mean 'spiral'"},
    };
    for (const Case& wrong : cases) {
        CAPTURE(wrong.answer);
        const std::string message = refusal(gridOf("lr=0.1:1", "init-scale=0.1:10:log"), wrong.change);
        CAPTURE(message);
        CHECK(message.find(wrong.answer) != std::string::npos);
    }
}

TEST_CASE("a size is columns x rows") {
    CHECK(populationSizeFromText("32x16") == std::array<std::size_t, 2>{32, 16});
    CHECK(populationSizeFromText("1x65536") == std::array<std::size_t, 2>{1, 65536});
    for (const std::string text : {"", "32", "32x", "x32", "32x32x2", "-1x2", "32 x 32", "a"}) {
        CAPTURE(text);
        CHECK(messageOf([&] { populationSizeFromText(text); }).find("as in 32x32") != std::string::npos);
    }
    CHECK(messageOf([] { populationSizeFromText("0x5"); }).find("1x1") != std::string::npos);
    CHECK(messageOf([] { populationSizeFromText("65536x2"); }).find("65536x1 fits") != std::string::npos);
}

TEST_CASE("settings come back from JSON as they were") {
    PopulationSpec spec = gridOf("lr=1e-4:1:log", "activation=relu,tanh", 16, 8);
    spec.data = "moons";
    spec.dataOptions.noise = 0.25;
    spec.hidden = {5, 3, 2};
    spec.loss = Loss::meanSquared;
    spec.initialScale = 0.5;
    spec.train.optimizer.kind = Optimizer::momentum;
    spec.train.batch = 7;
    spec.steps = 123;
    const PopulationSpec back = populationSpecFromJson(toJson(spec));
    CHECK(toJson(back).dump() == toJson(spec).dump());
    CHECK(back.x == spec.x);
    CHECK(back.hidden == spec.hidden);
    CHECK(back.loss == spec.loss);
    CHECK(makePopulationGrid(back).job.members == makePopulationGrid(spec).job.members);
    spec.loss.reset();
    CHECK_FALSE(populationSpecFromJson(toJson(spec)).loss.has_value());

    nlohmann::ordered_json wrong = toJson(spec);
    wrong["x"] = "rl=1:2";
    CHECK(messageOf([&] { populationSpecFromJson(wrong); }).find("did you mean 'lr'") != std::string::npos);
    wrong.erase("x");
    CHECK(messageOf([&] { populationSpecFromJson(wrong); }).find("'x'") != std::string::npos);
}
