// Edited kernels of experiments: a comment changes nothing, a wrong result is refused by the experiment's own
// check, an error has its line, an endless loop is ended, and what comes from a file waits.
#include <doctest/doctest.h>

#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/exhibits/parallelism/parallelism_model.h"
#include "demos/exhibits/parallelism/parallelism_state.h"
#include "demos/kit/source_text.h"
#include "demos/lab/lab_trial.h"
#include "tests/run_program.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::test;
using Json = nlohmann::ordered_json;

/// The built-in text with one thing in it replaced.
ShaderTexts edited(const std::string& file, const std::string& what, const std::string& by) {
    std::string text(sourceText(file));
    const std::size_t at = text.find(what);
    REQUIRE(at != std::string::npos);
    text.replace(at, what.size(), by);
    return {{file, text}};
}

LabTrialRequest request(const char* experiment, ShaderTexts texts) {
    return {.experiment = &experimentFromName(experiment),
            .texts = std::move(texts),
            .device = testDeviceOptions(),
            .threads = 2,
            .rough = true};
}

LabTrialOutcome tried(const char* experiment, ShaderTexts texts) {
    TrialWatch watch;
    return tryLabKernels(request(experiment, std::move(texts)), watch);
}

std::string refusal(const char* experiment, ShaderTexts texts) {
    const LabTrialOutcome outcome = tried(experiment, std::move(texts));
    CHECK(outcome.report.verdict == Verdict::refused);
    return outcome.report.message;
}

void checkSays(const std::string& text, const std::string& part) {
    CAPTURE(text);
    CAPTURE(part);
    CHECK(text.find(part) != std::string::npos);
}

} // namespace

TEST_CASE("in every experiment, kernels can be edited, and one that means the same passes") {
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        std::size_t editable = 0;
        for (const std::string_view file : each->sources) {
            if (!isEditable(*each, file)) continue;
            CAPTURE(file);
            CHECK_FALSE(file.ends_with(".cpp"));
            ++editable;
            const std::string name(file);
            const LabTrialOutcome outcome = tried(std::string(each->name).c_str(),
                                                  {{name, std::string(sourceText(name)) + "// the same\n"}});
            INFO(outcome.report.message);
            const Verdict verdict = outcome.report.verdict;
            CHECK((verdict == Verdict::passed || verdict == Verdict::notUsed));
            if (verdict != Verdict::passed) continue;
            // Which numbers there are depends on how quiet the machine was, which series there are does not.
            const auto names = [](const LabResult& result) {
                std::vector<std::string> found;
                for (const LabSeries& series : result.series) found.push_back(series.name);
                return found;
            };
            CHECK(names(outcome.edited) == names(outcome.builtIn));
            CHECK_FALSE(outcome.report.timing.empty());
        }
        // Some copy without a kernel, or train with those of Inside a step.
        const bool shows = std::ranges::any_of(each->sources, [](std::string_view file) {
            return file.ends_with(".comp") || file.ends_with(".glsl");
        });
        CHECK((editable > 0) == shows);
    }
}

TEST_CASE("a wrong result is refused with the note of its series") {
    checkSays(refusal("neighbours", edited("lab_neighbours.comp", "total = 0", "total = 1")),
              "GPU with a stride: wrong sum, so it is not timed");
    checkSays(refusal("launch", edited("lab_launch.comp", "round = 0", "round = 1")), "not timed");
    checkSays(refusal("matrix", edited("dense_naive.comp", "sum += bias[o]", "sum += 1 + bias[o]")),
              "GPU naive kernel: wrong results, so it is not timed");
    checkSays(refusal("convolution", edited("lab_convolution.comp", "column = x + s - 1", "column = x + s")),
              "GPU direct: wrong results, so it is not timed");
    checkSays(refusal("convolution", edited("lab_convolution_unfold.comp", "vec4(0.0)", "vec4(1.0)")),
              "GPU im2col and fastest kernel: wrong results, so it is not timed");
    checkSays(refusal("sum", edited("lab_sum_pairs.comp", "2 * i + 1", "2 * i")), "not timed");
}

TEST_CASE("an error has its file and line, also in an included file") {
    const LabTrialOutcome outcome =
        tried("neighbours", edited("lab_neighbours.comp", "sum[i] = total;", "sum[i] = nothing;"));
    CHECK(outcome.report.verdict == Verdict::notCompiled);
    REQUIRE_FALSE(outcome.report.errors.empty());
    checkSays(describe(outcome.report.errors.front()), "lab_neighbours.comp:23: 'nothing'");
    const LabTrialOutcome header = tried("neighbours", edited("lab.h", "uint rounds;", "uint;"));
    REQUIRE(header.report.verdict == Verdict::notCompiled);
    CHECK(header.report.errors.front().file == "lab.h");
}

TEST_CASE("a loop without an end is ended, and named") {
    checkSays(refusal("neighbours", edited("lab_neighbours.comp", "round < params.rounds; ++round",
                                           "round < params.rounds; round += 0")),
              "lab_neighbours.comp:19: the loop was stopped after 65,000 rounds");
}

TEST_CASE("other buffers and other parameters are refused with a reason") {
    checkSays(refusal("launch", edited("lab_launch.comp", "binding = 0) buffer", "binding = 3) buffer")),
              "lab_launch");
}

TEST_CASE("other arithmetic with the same result is measured and compared, the CPU only once") {
    LabTrialRequest asked =
        request("neighbours", edited("lab_neighbours.comp", "total += word[", "total = total + word["));
    TrialWatch watch;
    const auto first = std::make_shared<LabTrialOutcome>(tryLabKernels(asked, watch));
    INFO(first->report.message);
    REQUIRE(first->report.passed());
    const auto cpu = [](const LabResult& result) { return result.at(false, "with a stride", 2); };
    CHECK(cpu(first->edited) == cpu(first->builtIn));
    const auto gpu = [](const LabResult& result) { return result.at(true, "with a stride", 2); };
    CHECK(gpu(first->edited) > 0);
    CHECK(gpu(first->edited) != gpu(first->builtIn));
    // Once more: the built-in kernels have their times already.
    asked.before = first;
    const LabTrialOutcome again = tryLabKernels(asked, watch);
    CHECK(gpu(again.builtIn) == gpu(first->builtIn));
    CHECK(gpu(again.edited) != gpu(first->edited));
}

TEST_CASE("a comparison says which series changed, and in which direction") {
    const Experiment& times = experimentFromName("launch");     // µs
    const Experiment& rates = experimentFromName("neighbours"); // GB/s
    const auto result = [](double one, double two) {
        LabResult made;
        made.series = {{true, "one", {{1, one, one, one}, {2, one, one, one}}},
                       {true, "two", {{1, two, two, two}}},
                       {false, "one", {{1, 9 * one, 1, 1}}}};
        return made;
    };
    CHECK(labComparison(times, result(1, 6), result(2, 2)) ==
          "GPU two 0.333 times as fast as built in, GPU one 2 times as fast as built in");
    CHECK(labComparison(rates, result(1, 2), result(2, 2)) == "GPU one 0.5 times as fast as built in");
    CHECK(labComparison(rates, result(2, 2), result(2, 2)) == "about as fast as built in");
    LabResult noisy = result(3, 3);
    for (LabSeries& series : noisy.series)
        for (LabPoint& point : series.points) point.low = 1, point.high = 9;
    CHECK(labComparison(rates, noisy, result(2, 2)) == "about as fast as built in"); // the bands overlap
    CHECK(labComparison(rates, {}, result(2, 2)).empty());

    CHECK(*labSpeedUp(times, result(1, 6), result(2, 2)) == doctest::Approx(1.0 / 3)); // that of "two"
    CHECK(*labSpeedUp(rates, result(1, 2), result(2, 2)) == doctest::Approx(0.5));
    CHECK(*labSpeedUp(rates, noisy, result(2, 2)) == 1);
    CHECK_FALSE(labSpeedUp(rates, {}, result(2, 2)).has_value());
    LabResult growing = result(2, 2); // what counts is the largest setting
    growing.series.front().points = {{1, 1, 1, 1}, {2, 8, 8, 8}};
    CHECK(*labSpeedUp(rates, growing, result(2, 2)) == doctest::Approx(4));
}

TEST_CASE(
    "the model: edited kernels are shown once they have passed, and go with Revert, Stop or the device") {
    Machines machines(2, "");
    ParallelismModel model;
    const Experiment& experiment = experimentFromName("neighbours");
    model.open(experiment);
    model.measure(machines, true);
    model.update(machines, true, true);
    REQUIRE(model.result().measured());
    const auto rate = [&] { return model.result().at(true, "with a stride", 2); };
    const double builtIn = rate();
    const gpu::Device* device = machines.deviceOf({true, Rung::best, {}});

    const ShaderTexts right = edited("lab_neighbours.comp", "total += word[", "total = total + word[");
    model.edits().setTexts(right);
    model.update(machines, true, true);
    CHECK(model.edited() == nullptr); // it was not submitted
    CHECK(model.triedOf(experiment) == nullptr);
    model.edits().submit();
    model.update(machines, true, true);
    REQUIRE(model.edited() != nullptr);
    REQUIRE(model.triedOf(experiment) != nullptr);
    CHECK(model.triedOf(experiment)->passed());
    CHECK(rate() != builtIn);
    CHECK(model.resultOf(experiment).at(true, "with a stride", 2) == builtIn);
    const double first = rate();
    model.measure(machines, true); // again, with the same kernels
    model.update(machines, true, true);
    CHECK(model.edited() != nullptr);
    CHECK(rate() != first);

    // A wrong one leaves the curves as they are, and so does one that hangs, on a device of its own.
    for (const auto& [wrong, reason] : {std::pair{"round < params.rounds - 1; ++round", "wrong sum"},
                                        std::pair{"round < params.rounds; round += 0", "no end"}}) {
        model.edits().setText(
            "lab_neighbours.comp",
            edited("lab_neighbours.comp", "round < params.rounds; ++round", wrong).begin()->second);
        const double before = rate();
        CHECK(model.triedOf(experiment) == nullptr); // as it is typed
        model.edits().submit();
        model.update(machines, true, true);
        REQUIRE(model.triedOf(experiment) != nullptr);
        CHECK(model.triedOf(experiment)->verdict == Verdict::refused);
        checkSays(model.edits().last()->message, reason);
        CHECK(rate() == before);
    }
    CHECK(machines.deviceOf({true, Rung::best, {}}) == device);
    CHECK_NOTHROW(machines.deviceOf({true, Rung::best, {}})->runOnce([](VkCommandBuffer) {}));

    model.edits().revert("lab_neighbours.comp");
    model.update(machines, true, true);
    CHECK(model.edited() == nullptr);
    CHECK(rate() == builtIn);

    model.edits().setTexts(right);
    model.edits().submit();
    model.update(machines, false, false); // for seconds
    CHECK(model.measuring());
    model.stop();
    model.update(machines, false, true);
    CHECK_FALSE(model.measuring());
    CHECK(model.edited() == nullptr);
    CHECK(model.edits().canSubmit());

    model.edits().submit();
    model.update(machines, false, false);
    CHECK(model.releaseDevice());
    CHECK(model.edits().unseen());
    CHECK(model.editedTexts(experiment) == right);
    CHECK_FALSE(model.measuring());
}

TEST_CASE("a state has edited kernels by experiment; others' files and sources in C++ are refused") {
    const auto state = [](const char* experiment, const char* file) {
        Json json = {{"experiment", "neighbours"}};
        json["shaders"][experiment][file] = {"#version 450", "x"};
        return json;
    };
    const ParallelismState good = parallelismFromJson(state("neighbours", "lab_neighbours.comp"));
    CHECK(good.shaders.at(good.open).at("lab_neighbours.comp") == "#version 450\nx");
    CHECK_THROWS_WITH_AS(parallelismFromJson(state("neighbours", "lab_sum.comp")),
                         "the field 'shaders' of 'parallelism', neighbours: lab_sum.comp is not a kernel of "
                         "this experiment",
                         std::invalid_argument);
    CHECK_THROWS_AS(parallelismFromJson(state("neighbours", "neighbours.cpp")), std::invalid_argument);
    CHECK_THROWS_AS(parallelismFromJson(state("intensity", "roof.comp")), std::invalid_argument);
    CHECK_THROWS_AS(parallelismFromJson(state("lunch", "lab_launch.comp")), std::invalid_argument);
    CHECK_THROWS_AS(parallelismFromJson({{"shaders", 3}}), std::invalid_argument);
}

namespace {

const std::string settings = R"({"lockstep": 1, "exhibit": "parallelism",
    "exhibits": {"parallelism": {"experiment": "neighbours", "tab": "source"}}})";
const std::string openEditor = "click Edit##parallelism\nclick ##parallelism/code\nkey Ctrl+End\n";

Outcome show(const Folder& folder, const std::string& state, const std::string& script,
             const std::string& more = "") {
    std::ofstream(folder.file("state.json")) << state;
    std::ofstream(folder.file("script.txt")) << script;
    return run("show " + folder.file("state.json") + " --headless --mask " + more + " --script " +
               folder.file("script.txt"));
}

Json kernelsIn(const std::string& file) {
    return Json::parse(contents(file))["exhibits"]["parallelism"]["shaders"];
}

} // namespace

TEST_CASE("in the window: typed, refused with its line, corrected, measured, taken back") {
    const Folder folder;
    const Outcome outcome = show(
        folder, settings,
        openEditor +
            "type nonsense here\nkey Ctrl+Enter\nframes 3\nclick error 1##parallelism\nframes 2\n"
            "key Shift+End\nkey Delete\ntype // fine\nkey Ctrl+Enter\nframes 3\nkey Escape\nstate " +
            folder.file("typed.json") + "\nclick ##parallelism/tab/Measurements\nframes 2\npicture " +
            folder.file("edited.png") +
            "\nclick ##parallelism/tab/Source\nclick Revert##parallelism\nframes 2\nstate " +
            folder.file("reverted.json") + "\nkey Ctrl+Z\nframes 2\nstate " + folder.file("undone.json") +
            "\nclick ##parallelism/tab/Measurements\nframes 2\npicture " + folder.file("undone.png") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("message: lab_neighbours.comp:25: "));
    CHECK(outcome.says("message: The rejected edit is gone: the source shown is what is measured."));
    CHECK_FALSE(outcome.says("message: Edited shaders wait"));
    CHECK(kernelsIn(folder.file("typed.json"))["neighbours"]["lab_neighbours.comp"].back() == "// fine");
    CHECK(kernelsIn(folder.file("reverted.json")).empty());
    CHECK(kernelsIn(folder.file("undone.json")) == kernelsIn(folder.file("typed.json")));
    CHECK(contents(folder.file("edited.png")) != contents(folder.file("undone.png"))); // nothing is measured

    SUBCASE("a file's kernels wait until a person checks them") {
        const Outcome waits = show(folder, contents(folder.file("typed.json")),
                                   "frames 5\nstate " + folder.file("again.json") + "\npicture " +
                                       folder.file("waits.png") + "\n");
        CHECK(waits.code == 0);
        CHECK(waits.says("message: Edited shaders wait in Source"));
        CHECK(contents(folder.file("again.json")) == contents(folder.file("typed.json")));
        const Outcome runs = show(folder, contents(folder.file("typed.json")),
                                  "click Check and run\nframes 2\npicture " + folder.file("runs.png") + "\n");
        CHECK(runs.code == 0);
        CHECK_FALSE(runs.says("message: wrong"));
        CHECK(contents(folder.file("waits.png")) != contents(folder.file("runs.png")));
    }
    SUBCASE("under validation, a trial is silent") {
        const Outcome silent = show(folder, contents(folder.file("typed.json")),
                                    "click Check and run\nframes 2\n", "--validation");
        CHECK(silent.code == 0);
        CHECK(silent.err.find("validation:") == std::string::npos);
    }
}
