// "Memory" without its looks: what it predicts is what is allocated, its budget decides, and its picture is
// of the step that runs.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string>

#include <nlohmann/json.hpp>

#include "demos/exhibits/memory/memory_model.h"
#include "engine/run/make_trainer.h"
#include "engine/step/step_trace.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

MemoryOptions smallMemory(const char* lane = "gpu:texel") {
    MemoryOptions options = classicMemory();
    options.run.dataOptions.samples = 256;
    options.run.hiddenWidths = std::vector<std::size_t>(7, 48);
    options.run.settings.batch = 48;
    options.run.lanes = {laneSpecFromText(lane)};
    options.budgetMebibytes.reset();
    return options;
}

/// The exhibit's model on the test's device, driven as by a script.
struct Memory {
    Machines machines{0, testDeviceOptions().select};
    MemoryModel model;

    explicit Memory(const MemoryOptions& options = smallMemory()) {
        machines.openForDrawing({});
        set(options);
    }
    void set(const MemoryOptions& options) {
        model.change(options);
        model.update(machines, true);
    }
    const MemoryChoice& choice(std::string_view id) const {
        const auto found = std::ranges::find(model.choices(), id, &MemoryChoice::id);
        REQUIRE(found != model.choices().end());
        return *found;
    }
    void choose(std::string_view id) {
        model.choose(choice(id));
        model.update(machines, true);
        CHECK(model.chosen().id == id);
    }
    void measure() {
        model.measure(machines, true);
        model.update(machines, true);
        CHECK_FALSE(model.measuring());
    }
};

std::string refusalOf(const Json& state) {
    try {
        memoryOptionsFromJson(state);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

bool holds(const std::string& message, const std::string& part) {
    return message.find(part) != std::string::npos;
}

std::uint64_t in(const CategoryBytes& bytes, MemoryCategory category) {
    return bytes[static_cast<std::size_t>(category)];
}

} // namespace

TEST_CASE("what is to be measured before the data are there is measured once they are") {
    Machines machines{0, testDeviceOptions().select};
    machines.openForDrawing({});
    MemoryModel model;
    model.change(smallMemory());
    model.measure(machines, true);
    CHECK(model.measuring());
    model.update(machines, true);
    CHECK_FALSE(model.measuring());
    REQUIRE_FALSE(model.choices().empty());
    CHECK(model.measured(model.choices().front()) != nullptr);
}

TEST_CASE("every way to train is predicted to the byte, on both machines") {
    for (const char* lane : {"gpu:texel", "cpu:scalar", "cpu:best"}) {
        CAPTURE(lane);
        Memory memory(smallMemory(lane));
        memory.measure();
        CHECK(memory.model.choices().size() >= 4);
        for (const MemoryChoice& choice : memory.model.choices()) {
            CAPTURE(choice.id);
            const MemoryMeasure* measure = memory.model.measured(choice);
            REQUIRE(measure != nullptr);
            CHECK(measure->failure == "");
            CHECK(measure->asPredicted);
            CHECK(measure->own == choice.forecast.bytes());
            CHECK(measure->away == sumOf(choice.forecast.away));
            CHECK(measure->secondsPerStep > 0);
        }
    }
}

TEST_CASE("in another number format, the rounded copies of the weights count, too") {
    for (const char* lane : {"gpu:texel", "cpu:best"}) {
        CAPTURE(lane);
        MemoryOptions options = smallMemory(lane);
        options.run.settings.precision.format = OperandFormat::bf16;
        Memory memory(options);
        memory.measure();
        CHECK(in(memory.choice("as_it_is").forecast.own, MemoryCategory::copies) > 0);
        for (const MemoryChoice& choice : memory.model.choices()) {
            CAPTURE(choice.id);
            REQUIRE(memory.model.measured(choice) != nullptr);
            CHECK(memory.model.measured(choice)->failure == "");
            CHECK(memory.model.measured(choice)->asPredicted);
            CHECK(choice.id != "half"); // has a format of its own
        }
        if (lane != std::string("gpu:texel")) continue;
        options.run.lanes = {laneSpecFromText("gpu:half")};
        memory.set(options);
        CHECK(memory.model.job()->settings.precision == PrecisionSettings{});
    }
}

TEST_CASE("remedies save what they are there for") {
    Memory memory;
    const auto own = [&](const char* id) { return memory.choice(id).forecast.own; };
    const CategoryBytes plain = own("as_it_is");
    CHECK(in(own("recompute"), MemoryCategory::activations) < in(plain, MemoryCategory::activations));
    CHECK(in(own("parts"), MemoryCategory::activations) < in(plain, MemoryCategory::activations));
    CHECK(in(own("offload"), MemoryCategory::optimizer) == 0);
    CHECK(in(memory.choice("offload").forecast.away, MemoryCategory::optimizer) ==
          in(plain, MemoryCategory::optimizer));
    CHECK(in(own("fused"), MemoryCategory::gradients) < 4096); // the smallest buffer
    CHECK(in(own("half"), MemoryCategory::copies) > 0);
    CHECK(memory.choice("together").forecast.bytes() < memory.choice("fused").forecast.bytes());
}

TEST_CASE(
    "the example has the proportions that it is named after, and fits only with several remedies together") {
    Memory memory(classicMemory());
    const CategoryBytes& own = memory.choice("as_it_is").forecast.own;
    const auto mebibytes = [&](MemoryCategory category) {
        return static_cast<double>(in(own, category)) / (1 << 20);
    };
    CHECK(mebibytes(MemoryCategory::parameters) == doctest::Approx(40).epsilon(0.01));
    CHECK(mebibytes(MemoryCategory::gradients) == doctest::Approx(40).epsilon(0.01));
    CHECK(mebibytes(MemoryCategory::optimizer) == doctest::Approx(80).epsilon(0.01));
    CHECK(mebibytes(MemoryCategory::activations) == doctest::Approx(22).epsilon(0.1));
    for (const MemoryChoice& choice : memory.model.choices()) {
        CAPTURE(choice.id);
        CHECK(choice.forecast.fits == (choice.id == "together"));
    }
}

TEST_CASE("a budget decides, and says what would fit") {
    MemoryOptions options = smallMemory();
    options.run.settings.batch = 256;
    options.run.dataOptions.samples = 1024;
    options.run.hiddenWidths = std::vector<std::size_t>(12, 96);
    Memory memory(options);
    CHECK(memory.model.chosen().forecast.fits);
    CHECK(memory.model.advice() == "");
    const std::uint64_t needed = memory.model.chosen().forecast.bytes();
    REQUIRE(needed > 2 << 20);
    options.budgetMebibytes = 1;
    memory.set(options);
    CHECK(memory.model.chosen().forecast.bytes() == needed);
    CHECK_FALSE(memory.model.chosen().forecast.fits);
    options.budgetMebibytes = (needed >> 20) + 1;
    memory.set(options);
    CHECK(memory.model.chosen().forecast.fits);
    options.budgetMebibytes = 2;
    memory.set(options);
    CHECK_FALSE(memory.model.chosen().forecast.fits);
    const std::string advice = memory.model.advice();
    INFO(advice);
    const std::size_t parts = advice.find("--accumulate ");
    REQUIRE(parts != std::string::npos);
    // What is advised does fit.
    options.run.settings.memory.accumulate = std::stoul(advice.substr(parts + 13));
    memory.set(options);
    CHECK(memory.model.chosen().forecast.fits);
}

// The picture is of lifetimes in the plan: the same follow from the order in which a step's operations ran.
TEST_CASE("what is needed at once is what a traced step reads and writes") {
    for (const char* lane : {"gpu:texel", "gpu:fused", "cpu:scalar"}) {
        CAPTURE(lane);
        Memory memory(smallMemory(lane));
        const TrainJob& job = *memory.model.job();
        const MemoryForecast& forecast = memory.model.chosen().forecast;
        const LaneSpec spec = memory.model.chosen().lane;
        const auto trainer = makeTrainer(job, spec, {1, 0}, memory.machines.deviceOf(spec));
        const StepTrace trace = trainer->traceStep({.tensors = false});
        const auto& operations = forecast.plan.operations;
        REQUIRE(trace.operations.size() == operations.size());
        std::map<TensorId, std::size_t> written, read;
        for (std::size_t at = 0; at < operations.size(); ++at) {
            CHECK(trace.operations[at].operation == operations[at].operation);
            for (const TensorId& id : trace.operations[at].writes) written.try_emplace(id, at);
            for (const TensorId& id : trace.operations[at].reads) read[id] = at;
        }
        for (std::size_t at = 0; at < operations.size(); ++at) {
            CAPTURE(at);
            std::uint64_t bytes = 0;
            for (const auto& [id, from] : written) {
                const StoredTensor* stored = forecast.tensors.has(id) ? &forecast.tensors.at(id) : nullptr;
                if (stored == nullptr || stored->trains) continue;
                const std::size_t last = read.contains(id) ? std::max(read[id], from) : from;
                if (from <= at && at <= last) bytes += forecast.usedBytes(*stored);
            }
            CHECK(bytes == forecast.needed[at]);
        }
    }
}

TEST_CASE("activations pile up in the forward pass and go in the backward pass") {
    Memory memory;
    const MemoryForecast& forecast = memory.model.chosen().forecast;
    const auto& operations = forecast.plan.operations;
    const auto loss = std::ranges::find(operations, Operation::lossAndGradient, &PlannedOperation::operation);
    const auto middle = static_cast<std::size_t>(loss - operations.begin());
    for (std::size_t at = 1; at < middle; ++at) CHECK(forecast.needed[at] > forecast.needed[at - 1]);
    CHECK(forecast.mostNeeded() > forecast.needed[0]);
    CHECK(forecast.mostNeeded() <=
          in(forecast.own, MemoryCategory::activations) + in(forecast.own, MemoryCategory::gradients));
}

TEST_CASE("other settings stand beside the listed ways, and what was measured comes back with them") {
    Memory memory;
    memory.measure();
    MemoryOptions mine = memory.model.options();
    mine.run.settings.memory.recompute = 4;
    memory.set(mine);
    CHECK(memory.model.chosen().id == "yours");
    CHECK(memory.model.measured(memory.model.chosen()) == nullptr);
    CHECK(memory.model.measured(memory.choice("fused")) != nullptr);
    mine.run.settings.batch = 16;
    memory.set(mine);
    CHECK(memory.model.measured(memory.choice("fused")) == nullptr); // of another batch
    mine.run.settings.batch = 48;
    memory.set(mine);
    CHECK(memory.model.measured(memory.choice("fused")) != nullptr);
    memory.choose("together");
    CHECK(memory.model.options().run.lanes.front().text() == "gpu:fused");
    memory.choose("as_it_is");
    CHECK(memory.model.options().run.lanes.front().text() == "gpu:texel");
    // A remedy that another network has no use for stays for the next one.
    mine.run.settings.memory.recompute = 6;
    mine.run.hiddenWidths = std::vector<std::size_t>{8};
    memory.set(mine);
    CHECK(memory.model.chosen().memory.recompute == 1);
    CHECK(memory.model.options() == mine);
    mine.run.hiddenWidths = std::vector<std::size_t>(7, 48);
    memory.set(mine);
    CHECK(memory.model.chosen().memory.recompute == 6);
}

TEST_CASE("other kernels than those that are remedies stand beside remedies of their own") {
    for (const std::string& lane : memoryLanes()) {
        CAPTURE(lane);
        Memory memory(smallMemory(lane.c_str()));
        const LaneSpec plain = memory.choice("as_it_is").lane;
        for (const MemoryChoice& choice : memory.model.choices())
            CHECK((choice.lane == plain || (plain.rung == Rung::texel && choice.lane.gpu)));
        CHECK(memory.model.chosen().lane.text() == lane);
    }
}

TEST_CASE("what a lane has no use for is taken back, and a change ends the measurement of other settings") {
    MemoryOptions options = smallMemory();
    options.run.settings.memory.offload = Offload::optimizer;
    Memory memory(options);
    CHECK(memory.model.chosen().id == "offload");
    options.run.lanes = {laneSpecFromText("cpu:best")};
    memory.set(options);
    CHECK(memory.model.chosen().id == "as_it_is");
    memory.model.measure(memory.machines, true);
    options.run.settings.batch = 32;
    memory.model.change(options);
    memory.model.update(memory.machines, true);
    CHECK_FALSE(memory.model.measuring());
    CHECK(memory.model.measured(memory.choice("parts")) == nullptr);
}

TEST_CASE("a network that the device cannot train says why, and the others are measured all the same") {
    MemoryOptions options = smallMemory();
    options.run.dataOptions.samples = 90000;
    options.run.hiddenWidths = {1024}; // more bytes than software Vulkan binds at once
    options.run.settings.batch = 65536;
    Memory memory(options);
    const MemoryChoice& plain = memory.choice("as_it_is");
    if (plain.forecast.fits) return; // this device can
    CHECK(plain.forecast.refusal != "");
    memory.measure();
    REQUIRE(memory.model.measured(memory.choice("as_it_is")) != nullptr);
    CHECK(memory.model.measured(memory.choice("as_it_is"))->failure != "");
}

TEST_CASE("a state comes back, and one that makes no sense is refused with what would be right") {
    MemoryOptions options = smallMemory("gpu:fused");
    options.run.settings.memory.recompute = 2;
    options.budgetMebibytes = 3;
    const Json json = toJson(options);
    CHECK(toJson(memoryOptionsFromJson(Json::parse(json.dump()))) == json);
    CHECK(memoryOptionsFromJson(Json::object()) == classicMemory());
    CHECK(holds(refusalOf({{"budget_mebibytes", 0}}), "budget_mebibytes"));
    CHECK(holds(refusalOf({{"lanes", {"gpu:best"}}}), "gpu:"));
    CHECK(holds(refusalOf({{"lanes", {"gpu:texel", "cpu:best"}}}), "one lane"));
    CHECK(holds(refusalOf({{"budget", 4}}), "budget_mebibytes"));
    CHECK(refusalOf({{"lanes", {"cpu:best"}}, {"budget_mebibytes", nullptr}}) == "");
}
