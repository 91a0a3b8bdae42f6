// The experiments on parallelism: each is complete in words and links, measures both machines with checked
// results, and can be written and read again. Times are not asserted, only what theory asks of them.
#include <doctest/doctest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <set>
#include <thread>

#include <nlohmann/json.hpp>

#include "demos/exhibits/parallelism/parallelism_model.h"
#include "demos/kit/exhibit.h"
#include "demos/kit/source_text.h"
#include "demos/lab/experiment.h"
#include "tests/faults/provoke.h"
#include "tests/measured_experiment.h"
#include "tests/run_program.h"
#include "tests/sanitized.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using lockstep::test::contents;
using lockstep::test::Faults;
using lockstep::test::Folder;
using lockstep::test::measured;
using lockstep::test::Outcome;
using lockstep::test::run;
using lockstep::test::sanitized;
using Json = nlohmann::ordered_json;

bool explained(const std::string& text) {
    return text.size() > 80 && text.find("nan") == std::string::npos &&
           text.find("inf ") == std::string::npos && text.find(" - ") == std::string::npos;
}

} // namespace

TEST_CASE("every experiment has its words, its sources and a place where the effect is at work") {
    std::set<int> places;
    std::set<std::string_view> names;
    const auto exhibits = makeExhibits();
    REQUIRE(experiments().size() >= 2);
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        CHECK(places.insert(each->place).second);
        CHECK(names.insert(each->name).second);
        CHECK(&experimentFromName(each->name) == each);
        for (const std::string_view text :
             {each->title, each->idea, each->question, each->x.title, each->y.title})
            CHECK_FALSE(text.empty());
        CHECK(each->question.ends_with('?'));
        CHECK_FALSE(each->choices[1].empty());
        for (const std::string_view file : each->sources)
            if (!file.empty()) CHECK_FALSE(sourceText(file).empty());
        CHECK_FALSE(each->sources[0].empty());
        const auto target = std::ranges::find(exhibits, each->link.exhibit,
                                              [](const auto& exhibit) { return exhibit->id(); });
        REQUIRE(target != exhibits.end());
        CHECK_NOTHROW((*target)->readState(Json::parse(each->link.state)));
        // Nothing measured: no verdict, and no crash.
        CHECK(verdictText(*each, {}, 0).empty());
        CHECK_FALSE(each->answer({}).has_value());
        CHECK(explanationText(*each, {}).empty());
        CHECK(verdictOf(*each, {}).figure.empty());
    }
    CHECK_THROWS_WITH_AS(experimentFromName("lunch"), doctest::Contains("launch"), std::invalid_argument);
}

TEST_CASE("a ratio of about 1 is said in words") {
    const LabRatioWords words{"as fast as", "No faster", "than"};
    LabVerdict verdict = ratioVerdict(1.8, "GPU 1.8×", words, "the CPU");
    CHECK(verdict.figure == "GPU 1.8×");
    CHECK(verdict.beside == "as fast as the CPU");
    for (const double ratio : {0.96, 1.04}) {
        verdict = ratioVerdict(ratio, "GPU 1×", words, "the CPU");
        CHECK(verdict.figure == "No faster");
        CHECK(verdict.beside == "than the CPU");
    }
    verdict = ratioVerdict(0.9, "GPU 0.9×", words, "the CPU");
    CHECK(verdict.figure == "GPU 0.9×");
    CHECK(ratioVerdict(1, "GPU 1×", {"as long", "Just as long"}, "in 100 dispatches").beside ==
          "in 100 dispatches");
}

TEST_CASE("every experiment's card has a picture that moves, within its room") {
    std::set<LabGroup> groups;
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        groups.insert(each->group);
        const LabScene scene = each->scene();
        bool moves = !scene.dots.empty();
        const auto within = [](float x, float y) {
            return x >= 0 && y >= 0 && x <= LabScene::width && y <= LabScene::height;
        };
        for (const LabBlock& block : scene.blocks) {
            CHECK(within(block.x, block.y));
            CHECK(within(block.x + block.width, block.y + block.height));
            moves = moves || (block.from > 0 && block.from < scene.beats);
            if (block.from < labNever) CHECK(block.until < scene.beats); // its end is seen
        }
        for (const LabDot& dot : scene.dots) {
            CHECK(within(dot.x, dot.y));
            CHECK(within(dot.toX, dot.toY));
            CHECK(dot.from < dot.until);
            CHECK(dot.until - dot.from < scene.beats);
        }
        for (const LabLine& line : scene.lines) CHECK((within(line.x, line.y) && within(line.toX, line.toY)));
        bool told = false; // a sketch without a word does not say what moves
        for (const LabLabel& label : scene.labels) {
            CHECK(within(label.x, label.y));
            CHECK(label.y >= 1); // its letters lie above
            told = told || !label.text.empty();
        }
        CHECK(told);
        CHECK(moves);
    }
    CHECK(groups.size() == 3);
}

TEST_CASE("from Measure on the first answer stays, until the result is dropped") {
    Machines machines(2, "");
    ParallelismModel model;
    const Experiment& experiment = experimentFromName("launch");
    model.open(experiment);
    model.predict(experiment, 1);
    model.predict(experiment, 2); // nothing is measured yet
    model.measure(machines, true);
    CHECK(model.frozen(experiment));
    model.predict(experiment, 0);
    CHECK(model.predicted() == 2);
    model.update(machines, true, true);
    REQUIRE(model.result().measured());
    CHECK(model.result().prediction == experiment.choices[2]);
    model.predict(experiment, 0);
    model.forgetPredictions(); // as another file does
    CHECK(model.predicted() == 2);
    const LabResult again = labFromJson(labJson(experiment, model.result()));
    CHECK(again.prediction == experiment.choices[2]);
    model.measure(machines, true);
    model.update(machines, true, true);
    CHECK(model.result().prediction == experiment.choices[2]);
    model.forgetResult();
    model.predict(experiment, 0);
    CHECK(model.predicted() == 0);
}

TEST_CASE("in the window: cards first, a click opens a page, and there are ways back") {
    const Folder folder;
    const auto save = [&](const char* name) { return "state " + folder.file(name) + "\n"; };
    std::ofstream(folder.file("cards.json"))
        << R"({"lockstep": 1, "exhibit": "parallelism", "exhibits": {"parallelism": {}}})";
    std::ofstream(folder.file("script.txt"))
        << "controls\nclick experiment/one-to-all\nframes 2\n" + save("page") +
               "click All experiments##parallelism\nframes 2\n" + save("cards") +
               "key Alt+Right\nframes 2\n" + save("forward") + "key Alt+Left\nframes 2\n" + save("back");
    const Outcome outcome = run("show " + folder.file("cards.json") + " --headless --mask --size 1024x700 " +
                                "--script " + folder.file("script.txt"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    std::size_t inSight = 0; // others are below
    for (const Experiment* each : experiments())
        inSight +=
            outcome.out.find(" experiment/" + std::string(each->name) + "\n") != std::string::npos ? 1 : 0;
    CHECK(inSight >= 6);
    const auto open = [&](const char* name) {
        return Json::parse(contents(folder.file(name)))["exhibits"]["parallelism"]["experiment"]
            .get<std::string>();
    };
    CHECK(open("page") == "one-to-all");
    CHECK(open("cards").empty());
    CHECK(open("forward") == "one-to-all");
    CHECK(open("back").empty());
}

TEST_CASE("a subgroup is what a kernel runs in, whatever its driver reports") {
    const Experiment& branches = experimentFromName("branches");
    const LabResult plain = measured(branches);
    const double size = plain.number("gpu_subgroup_size");
    const Faults faults("double-subgroups");
    CHECK(gpu::listDevices({}).front().limits.subgroupSize == 2 * size);
    const LabResult doubled = measured(branches);
    CHECK(doubled.number("gpu_subgroup_size") == size);
    CHECK(doubled.number("gpu_neighbours_branches") == plain.number("gpu_neighbours_branches"));
    const std::string words = std::to_string(static_cast<int>(size)) + " branches in a subgroup";
    CAPTURE(explanationText(branches, doubled));
    CHECK(explanationText(branches, doubled).find(words) != std::string::npos);
}

TEST_CASE("every experiment measures both machines, and its results come back from JSON") {
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        const LabResult result = measured(*each);
        REQUIRE(result.measured());
        bool machines[2] = {false, false};
        std::set<std::string> names;
        for (const LabSeries& series : result.series) {
            CAPTURE(series.fullName());
            CAPTURE(series.note);
            CHECK(names.insert(series.fullName()).second);
            CHECK_FALSE(series.points.empty());
            machines[series.gpu ? 1 : 0] = true;
            double last = -1e300;
            for (const LabPoint& point : series.points) {
                CHECK(point.x > last);
                last = point.x;
                CHECK(point.low <= point.median);
                CHECK(point.median <= point.high);
            }
        }
        CHECK(machines[0]);
        CHECK(machines[1]);
        CHECK_FALSE(result.numbers.empty());
        for (const auto& number : result.numbers) { // clang captures no structured bindings
            CAPTURE(number.first);
            CHECK(std::isfinite(number.second));
        }
        const std::string text = explanationText(*each, result);
        CAPTURE(text);
        CHECK(explained(text));
        const std::optional<std::size_t> answer = each->answer(result);
        if (answer) CHECK_FALSE(each->choices.at(*answer).empty());
        const LabVerdict verdict = verdictOf(*each, result);
        CAPTURE(verdict.figure);
        CAPTURE(verdict.beside);
        CHECK(verdict.figure.empty() == !answer.has_value());
        CHECK(verdict.beside.empty() == !answer.has_value());
        for (const std::string& words : {verdict.figure, verdict.beside}) {
            CHECK(words.find("nan") == std::string::npos);
            CHECK(words.find("inf") == std::string::npos);
        }
        CHECK(verdict.figure.size() <= 16); // in large letters
        LabView view;
        view.all = false;
        std::size_t drawn = 0;
        for (const LabSeries& series : result.series) drawn += draws(view, *each, result, series) ? 1 : 0;
        CHECK(drawn == 2);
        for (const std::string_view line : each->lines) CHECK(names.contains(std::string(line)));

        const Json json = labJson(*each, result);
        const LabResult again = labFromJson(json);
        CHECK(labJson(*each, again).dump() == json.dump());
        const std::string csv = labCsv(*each, result);
        std::size_t points = 0;
        for (const LabSeries& series : result.series) points += series.points.size();
        CHECK(static_cast<std::size_t>(std::ranges::count(csv, '\n')) == points + 1);
    }
}

TEST_CASE("without a GPU the processor is measured, and the rest says why there is nothing") {
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        const LabResult result = measured(*each, "no such device");
        CHECK(result.noGpu.find("no such device") != std::string::npos);
        for (const LabSeries& series : result.series) {
            CAPTURE(series.fullName());
            CAPTURE(series.note);
            CHECK(series.points.empty() == series.gpu);
            if (series.gpu) CHECK_FALSE(series.note.empty());
        }
        const std::string text = explanationText(*each, result);
        CAPTURE(text);
        CHECK(explained(text));
    }
}

TEST_CASE("of a machine that is left out nothing is measured, and every series says so") {
    bool other = false;
    for (const Experiment* each : experiments()) {
        other = !other;
        for (const bool gpu : {false, true}) {
            if (sanitized && gpu != other) continue; // a machine each: experiments take seconds there
            CAPTURE(each->name);
            CAPTURE(gpu);
            const LabResult result = measured(*each, "", {{gpu, Rung::best, {}}});
            CHECK(machineText(result, !gpu) == "left out");
            CHECK(machineText(result, gpu) != "left out");
            std::size_t points = 0;
            for (const LabSeries& series : result.series) {
                CAPTURE(series.fullName());
                CHECK((series.note == "left out") == (series.gpu != gpu));
                if (series.gpu != gpu) CHECK(series.points.empty());
                points += series.points.size();
            }
            CHECK(points > 0);
            CHECK(result.spans(!gpu).empty());
            for (const auto& number : result.numbers)
                CHECK_FALSE(number.first.starts_with(gpu ? "cpu_" : "gpu_"));
            const Json json = labJson(*each, result);
            CHECK(json[gpu ? "cpu" : "gpu"].is_null());
            CHECK(labJson(*each, labFromJson(json)).dump() == json.dump());
            const std::string text = explanationText(*each, result);
            CAPTURE(text);
            CHECK(text.size() > 40);
            CHECK(text.find("nan") == std::string::npos);
        }
    }
}

TEST_CASE("every experiment can be stopped, and the device given up in the middle of one") {
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        const std::atomic<bool> stop = true;
        Machines machines(2, "");
        LabBench bench(
            machines, true, [](const std::string&) {}, stop);
        CHECK_NOTHROW(runExperiment(*each, bench));
    }
    Machines machines(2, "");
    ParallelismModel model;
    for (const int milliseconds : {0, 20, 200}) {
        model.measure(machines, false);
        std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        CHECK(model.releaseDevice());
        CHECK_FALSE(model.measuring());
        CHECK_FALSE(model.result().measured());
    }
}

TEST_CASE("a sweep that is stopped ends, and one with wrong results says so instead of a time") {
    std::atomic<bool> stop = false;
    Machines machines(2, "");
    LabBench bench(
        machines, false, [](const std::string&) {}, stop);
    LabResult result;
    bench.sweep(result, {false, "wrong", {1, 2, 4}, [](double value) -> double {
                             if (value > 1) throw std::runtime_error("wrong sum, so it is not timed");
                             return value;
                         }});
    CHECK(result.series.back().note == "wrong sum, so it is not timed");
    CHECK(result.series.back().points.size() == 1);
    bench.sweep(result, {false, "stopped", {1, 2, 4}, [&](double value) {
                             stop = value == 2;
                             return value;
                         }});
    CHECK(result.series.back().points.size() == 2);
    stop = false;
    const auto wait = [](double value) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return value;
    };
    bench.sweep(result, {.name = "growing",
                         .values = {1, 10, 100},
                         .sample = wait,
                         .cost = [](double value) { return value < 100 ? 1.0 : 1e9; },
                         .longest = 40});
    CHECK(result.series.back().points.size() == 2); // the third would take days
    CHECK(result.series.back().note == "the next sample would take more than 40 ms");
}

TEST_CASE("broken results are refused with the field that is wrong") {
    const Experiment& experiment = *experiments().front();
    LabResult result;
    result.series = {{false, "one", {{1, 2, 1, 3}}}};
    result.numbers = {{"number", 1.5}};
    const Json good = labJson(experiment, result);
    CHECK_NOTHROW(labFromJson(good));
    for (const char* field : {"cpu", "gpu", "no_gpu", "rough", "series", "spans", "numbers"}) {
        CAPTURE(field);
        Json missing = good;
        missing.erase(field);
        CHECK_THROWS_WITH_AS(labFromJson(missing), doctest::Contains(field), std::invalid_argument);
        Json wrong = good;
        wrong[field] = 7;
        CHECK_THROWS_AS(labFromJson(wrong), std::invalid_argument);
    }
    Json machine = good;
    machine["series"][0]["machine"] = "tpu";
    CHECK_THROWS_WITH_AS(labFromJson(machine), doctest::Contains("tpu"), std::invalid_argument);
    Json huge = good;
    huge["numbers"]["number"] = 1e300;
    CHECK_THROWS_WITH_AS(labFromJson(huge), doctest::Contains("number"), std::invalid_argument);
    Json negative = good;
    negative["series"][0]["points"][0]["x"] = -1;
    CHECK_THROWS_WITH_AS(labFromJson(negative), doctest::Contains("x"), std::invalid_argument);
    Json high = good;
    high["spans"] = {{{"machine", "gpu"}, {"row", 4000000000u}, {"begin", 0}, {"end", 1}, {"item", 0}}};
    CHECK_THROWS_WITH_AS(labFromJson(high), doctest::Contains("row"), std::invalid_argument);
    Json many = good;
    many["series"][0]["points"] = Json::array();
    for (int i = 0; i < 5000; ++i) many["series"][0]["points"].push_back({{"x", 1}});
    CHECK_THROWS_WITH_AS(labFromJson(many), doctest::Contains("4096"), std::invalid_argument);
}

TEST_CASE("a launch costs, in software as on a card: time grows with the number of dispatches") {
    std::atomic<bool> stop = false;
    Machines machines(2, "");
    LabBench bench(
        machines, false, [](const std::string&) {}, stop);
    const LabResult result = runExperiment(experimentFromName("launch"), bench);
    for (const char* name : {"dispatches with barriers", "submissions", "submissions, each waited for"}) {
        CAPTURE(name);
        const double one = result.at(true, name, 1);
        const double ten = result.at(true, name, 10);
        const double hundred = result.at(true, name, 100);
        REQUIRE(std::isfinite(hundred));
        // Linear in launches: ninety more cost several times what nine more do, which may drown in the work
        // itself.
        CHECK(hundred - one > 3 * (ten - one));
        CHECK(hundred > one);
    }
    CHECK(result.number("microseconds_per_wait") > result.number("microseconds_per_dispatch"));
}

TEST_CASE("what theory asks of measured numbers, whatever the machine's speed") {
    // Plain additions by invocations that load together are lost; each of the cures is checked where it is
    // timed.
    const LabResult lost = measured(experimentFromName("lost-updates"));
    CHECK(lost.number("gpu_lost_share") > 0);
    CHECK(lost.number("gpu_lost_share") < 1);
    CHECK(lost.number("cpu_lost_share") >= 0);

    // The same tree adds in the same order on both machines. Errors grow with the roundings that a number
    // goes through.
    const LabResult sum = measured(experimentFromName("sum"));
    CHECK(sum.number("cpu_pairwise_tree_sum") == sum.number("gpu_pairwise_tree_sum"));
    CHECK(sum.number("cpu_one_after_another_sum") == sum.number("gpu_one_after_another_sum"));
    const double count = sum.number("numbers_added");
    for (const char* machine : {"cpu", "gpu"}) {
        CAPTURE(machine);
        const auto error = [&](const char* way) {
            return sum.number(std::string(machine) + "_" + way + "_error_units");
        };
        CHECK(error("Kahan") <= 1);
        CHECK(error("pairwise_tree") <= std::log2(count));
        CHECK(error("one_after_another") <= count);
    }

    // Every output of both ways was equal to that of plain loops in double precision, or a note would say so.
    const LabResult convolved = measured(experimentFromName("convolution"));
    for (const LabSeries& series : convolved.series) {
        CAPTURE(series.fullName());
        CHECK(series.note.empty());
        CHECK(series.points.size() == 5); // 1 to 16 filters
    }
    for (const std::string machine : {"cpu", "gpu"}) {
        CAPTURE(machine);
        const auto number = [&](const char* name) { return convolved.number(machine + name); };
        CHECK(number("_filters") == 16);
        CHECK(number("_direct_milliseconds") > 0);
        CHECK(number("_unfold_milliseconds") > 0);
        CHECK(number("_product_milliseconds") > 0);
    }

    // Amdahl: a serial share s allows 1 / s.
    const LabResult shared = measured(experimentFromName("one-to-all"));
    for (const char* machine : {"cpu", "gpu"}) {
        CAPTURE(machine);
        const double serial = shared.number(std::string(machine) + "_serial_share");
        CHECK(serial > 0);
        CHECK(serial < 1);
    }
}

TEST_CASE("the times of cards of the past are their makers' figures, and this machine's are measured") {
    const LabResult result = measured(experimentFromName("generations"));
    const double flop = 60000 * NetShape{{784, 256, 128, 10}}.flopsPerExample();
    CHECK(result.number("epoch_gigaflop") == doctest::Approx(1e-9 * flop));
    // GFLOP/s as data sheets and reviews quote them, not as cores times clock.
    const std::pair<const char*, double> quoted[] = {
        {"geforce_8800_gtx", 345.6},   {"radeon_hd_4870", 1200},    {"geforce_gtx_580", 1581},
        {"radeon_r9_290x", 5632},      {"geforce_gtx_1080", 8873},  {"geforce_rtx_2080_ti", 13450},
        {"radeon_rx_6900_xt", 23040},  {"geforce_rtx_3090", 35580}, {"geforce_rtx_4090", 82580},
        {"radeon_rx_7900_xtx", 61440}, {"geforce_rtx_4060", 15110}, {"geforce_rtx_5090", 104800},
        {"alexnet_cards", 2 * 1581}};
    for (const auto& card : quoted) {
        CAPTURE(card.first);
        const double seconds = result.number(std::string(card.first) + "_seconds_at_peak");
        CHECK(1e-9 * flop / seconds == doctest::Approx(card.second).epsilon(0.001));
    }
    for (const std::string machine : {"cpu", "gpu"}) {
        CAPTURE(machine);
        const double seconds = result.number(machine + "_seconds");
        CHECK(seconds ==
              doctest::Approx(1e-3 * result.series[machine == "gpu" ? 0 : 2].points.front().median));
        CHECK(result.number(machine + "_gflops") * seconds == doctest::Approx(1e-9 * flop));
        // The year is that of the first card that is as fast: one of 2006 is, or it is a later year.
        const bool later = seconds < result.number("geforce_8800_gtx_seconds_at_peak");
        CHECK((result.number(machine + "_like_card_of_year") > 2006) == later);
    }
}

TEST_CASE("the command: a list, a table, files, and what it refuses") {
    const Outcome list = run("lab");
    CHECK(list.code == 0);
    for (const Experiment* each : experiments()) CHECK(list.says(std::string(each->title)));

    const Folder folder;
    const Outcome one = run("lab launch --quick --quiet --json " + folder.file("a.json") + " --csv " +
                            folder.file("a.csv") + " --png " + folder.file("a.png"));
    INFO(one.out << one.err);
    REQUIRE(one.code == 0);
    CHECK(one.says("The price of a launch"));
    CHECK(one.says("dispatches with barriers"));
    const Json json = Json::parse(contents(folder.file("a.json")));
    CHECK(json["experiment"] == "launch");
    CHECK(json["rough"] == true);
    CHECK(contents(folder.file("a.csv"))
              .starts_with("machine,series,pieces,time for all (µs),lower quartile,upper quartile\n"));
    CHECK(contents(folder.file("a.png")).size() > 10000);

    const Outcome wrong = run("lab lunch");
    CHECK(wrong.code == 2);
    CHECK(wrong.says("launch"));
    const Outcome processor = run("lab launch --quick --quiet --lane cpu");
    CHECK(processor.code == 0);
    CHECK(processor.says("GPU: left out"));
    CHECK(processor.says("function calls"));
    const Outcome twice = run("lab launch --lane gpu --lane gpu@0");
    CHECK(twice.code == 2);
    CHECK(twice.says("one GPU"));
    CHECK(run("lab launch --lane gpu:bets").says("did you mean 'gpu:best'"));
    CHECK(run("lab launch --lane gpu:tiled").says("`lockstep race` has it"));
    CHECK(run("lab launch --lane cpu@1").says("a CPU lane has none"));
    const Outcome missing = run("lab launch --lane 'gpu@no such device'");
    CHECK(missing.code == 1);
    CHECK(missing.says("no such device"));
    CHECK(run("lab launch --all " + folder.file("x")).code == 2);
    CHECK(run("lab --all " + folder.file("x") + " --json " + folder.file("y.json")).code == 2);
    CHECK_FALSE(std::filesystem::exists(folder.file("x")));
}

TEST_CASE("all experiments make a folder with a page") {
    const Folder folder;
    std::string lane;
    SUBCASE("of both machines") {}
    SUBCASE("of the CPU") { lane = "--lane cpu "; }
    SUBCASE("of the GPU") { lane = "--lane gpu "; }
    if (sanitized && !lane.empty()) return; // two of three would be the same code again
    const Outcome all = run("lab --quick --quiet " + lane + "--all " + folder.file("all"));
    INFO(all.out << all.err);
    REQUIRE(all.code == 0);
    const std::string page = contents(folder.file("all/index.html"));
    for (const Experiment* each : experiments()) {
        const std::string name(each->name);
        CAPTURE(name);
        CHECK(page.find("src=\"" + name + ".png\"") != std::string::npos);
        for (const char* kind : {".json", ".csv", ".png"})
            CHECK(std::filesystem::file_size(folder.file("all/" + name + kind)) > 100);
    }
}
