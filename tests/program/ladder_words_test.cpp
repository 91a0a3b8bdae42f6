// What the ladder says: rungs, differences of sources, accesses in words, where two curves cross.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "demos/exhibits/ladder/access_view.h"
#include "demos/exhibits/ladder/crossover.h"
#include "demos/exhibits/ladder/rung_charts.h"
#include "demos/exhibits/ladder/rung_result.h"
#include "demos/exhibits/ladder/rung_words.h"
#include "demos/exhibits/ladder/source_diff.h"
#include "demos/kit/source_text.h"
#include "demos/kit/worker.h"

#include <nlohmann/json.hpp>

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

TEST_CASE("every rung of the table has a name, an idea, and something to think about") {
    std::set<std::string_view> lanes;
    std::set<std::string_view> questions;
    std::set<Rung> before;
    for (const RungRow& row : rungTable) {
        CAPTURE(row.lane);
        CHECK(lanes.insert(row.lane).second);
        CHECK((row.lane.starts_with("cpu:") || row.lane.starts_with("gpu:")));
        CHECK(row.idea.ends_with("."));
        CHECK((row.trains || row.populations));
        CHECK(&rowOf(row.rung, row.gpu()) == &row);
        if (!row.trains) continue;
        const RungWords words = wordsOf(row);
        CHECK(words.plain.ends_with("."));
        CHECK(words.plain.size() <= 85); // a line of the ladder in a window of 1024 pixels
        CHECK(std::ranges::count(words.plain, '.') == 1);
        CHECK(words.question.ends_with("?"));
        CHECK(words.answer.ends_with("."));
        CHECK(questions.insert(words.question).second);
        if (!row.file.empty()) CHECK_FALSE(sourceText(row.file).empty());
        if (!row.against.empty()) CHECK_FALSE(sourceText(row.against).empty());
        if (row.below) { // what a rung is compared with comes before it
            CHECK(before.contains(*row.below));
            CHECK_FALSE(rowOf(*row.below).file.empty());
        }
        before.insert(row.rung);
    }
    CHECK(LadderModel().rungs().size() == knownLanes().size());
    CHECK(allRungWords().size() == questions.size()); // each once, and none of a rung that there is not
}

TEST_CASE("README lists the rungs as the table does") {
    std::ifstream file(std::filesystem::path(LOCKSTEP_SOURCE_DIR) / "README.md");
    const std::string readme{std::istreambuf_iterator<char>(file), {}};
    std::size_t at = 0;
    for (const RungRow& row : rungTable) {
        if (!row.trains) continue;
        const std::string line = "| `" + std::string(row.lane) + "` | " + std::string(row.idea) + " |\n";
        CAPTURE(line);
        at = readme.find(line, at);
        REQUIRE(at != std::string::npos);
    }
}

namespace {

std::string written(const std::vector<DiffLine>& diff) {
    std::string text;
    for (const DiffLine& line : diff) {
        text += line.change == LineChange::same ? ' ' : line.change == LineChange::added ? '+' : '-';
        text += line.text;
        text += std::to_string(line.number) + ";";
    }
    return text;
}

} // namespace

TEST_CASE("differences name the lines of their texts") {
    CHECK(written(lineDiff("a\nb\nc\n", "a\nc\nd\n")) == " a1;-b2; c2;+d3;");
    CHECK(written(lineDiff("", "x\n")) == "+x1;");
    CHECK(written(lineDiff("x\n", "")) == "-x1;");
    CHECK(lineDiff("", "").empty());
    CHECK(written(lineDiff("a\nb\nz\n", "c\nd\nz\n")) == "-a1;-b2;+c1;+d2; z3;"); // removed before added
    // Whatever the texts: old lines and new lines come back in order.
    const std::string_view before = sourceText("dense_naive.comp");
    const std::string_view after = sourceText("dense_tiled.comp");
    std::string old;
    std::string now;
    for (const DiffLine& line : lineDiff(before, after)) {
        if (line.change != LineChange::added) old += std::string(line.text) + "\n";
        if (line.change != LineChange::removed) now += std::string(line.text) + "\n";
    }
    CHECK(old == before);
    CHECK(now == after);
}

TEST_CASE("what lies far from a change is folded") {
    const std::vector<DiffLine> diff =
        lineDiff("1\n2\n3\n4\n5\n6\n7\n8\nx\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\ny\n9\n");
    const std::vector<DiffPart> parts = foldedParts(diff, 2);
    REQUIRE(parts.size() == 2);
    CHECK(parts[0] == DiffPart{0, 6, true});
    CHECK(parts[1] == DiffPart{6, 11, false});
    CHECK(foldedParts(lineDiff("1\n2\n", "1\n2\n"), 2) ==
          std::vector<DiffPart>{{0, 2, false}}); // two are few
}

TEST_CASE("changes of comments or white space alone are none of the code") {
    std::size_t hidden = 0;
    const auto changes = [&](std::string_view before, std::string_view after) {
        return written(codeChanges(lineDiff(before, after), hidden));
    };
    CHECK(changes("// old\na = 1;\n", "// new\na = 1;\n") == " // new1; a = 1;2;");
    CHECK(hidden == 2);
    CHECK(changes("if (x)\n  y(1, 2);\n", "if (x)\n    y( 1,2 ); // why\n") ==
          " if (x)1;     y( 1,2 ); // why2;");
    CHECK(changes("a\n", "\n// more\n\na\n") == " 1; // more2; 3; a4;"); // only came
    CHECK(hidden == 3);
    CHECK(changes("// gone\na\n", "a\n") == " a1;");
    // A comment that comes with code stays beside it.
    CHECK(changes("a\n", "a\n// why\nb\n") == " a1;+// why2;+b3;");
    CHECK(hidden == 0);
    // Much of it is folded, and the code around it is not.
    const std::vector<DiffPart> parts = foldedParts(lineDiff("a\n", "a\nb\n// 1\n// 2\n// 3\nc\n"), 3);
    CHECK(parts == std::vector<DiffPart>{{0, 2, false}, {2, 5, true}, {5, 6, false}});
}

TEST_CASE(
    "the source of a rung opens where old code faces new, a loop before all, or at its first new line") {
    const auto told = [](std::string_view before, std::string_view after) {
        const std::vector<DiffLine> diff = lineDiff(before, after);
        const std::size_t at = tellingLine(diff);
        return at < diff.size() ? diff[at].text : std::string_view("none");
    };
    CHECK(told("a\nb\n", "x\na\nc\n") == "b");                            // a line that only came says less
    CHECK(told("a\nfor (b)\ns\nc\nd\n", "x\nfor (y)\ns\ne\nf\n") == "a"); // with the loop
    CHECK(told("c\nd\ns\nfor (b)\n", "e\ns\nfor (y)\n") == "for (b)");
    CHECK(told("a\n", "// b\nb\na\n") == "b");
    CHECK(told("a\nb\n", "a\n") == "none");
}

TEST_CASE("includes that stay are not expanded") {
    const std::string all = withIncludesExpanded({}, "dense_texel.comp");
    CHECK(all.find("#include \"") == std::string::npos);
    CHECK(all.find("void storeBlock") != std::string::npos);
    const std::string kept = withIncludesExpanded({}, "dense_texel.comp", {"product_block.glsl"});
    CHECK(kept.find("#include \"product_block.glsl\"") != std::string::npos);
    CHECK(kept.find("void storeBlock") == std::string::npos);
}

TEST_CASE("a line of source falls into words, and nothing of it is lost") {
    using enum SourceWord;
    const std::vector<SourcePiece> pieces = sourcePieces("  float sum = 0.5; // half");
    CHECK(pieces == std::vector<SourcePiece>{{"  ", other},
                                             {"float", type},
                                             {" ", other},
                                             {"sum", other},
                                             {" = ", other},
                                             {"0.5", number},
                                             {"; ", other},
                                             {"// half", comment}});
    CHECK(sourcePieces("#version 450 // the language").front() == SourcePiece{"#version 450 ", directive});
    CHECK(sourcePieces("for").front().word == keyword);
    CHECK(sourcePieces("").empty());
    for (const std::string_view name : sourceNames())
        for (const std::string_view line : linesOf(sourceText(name))) {
            std::string all;
            for (const SourcePiece& piece : sourcePieces(line)) all += piece.text;
            CHECK(all == line);
        }
}

TEST_CASE("beside a rung stands the one that improves on it, or the one that it improves on") {
    const LadderModel model;
    const std::vector<RungRow>& rungs = model.rungs();
    const auto beside = [&](std::string_view lane) {
        const auto at = std::ranges::find(rungs, lane, &RungRow::lane) - rungs.begin();
        const auto found = rungBeside(rungs, static_cast<std::size_t>(at));
        return found ? rungs[*found].lane : std::string_view("none");
    };
    CHECK(model.rung().lane == "gpu:naive");
    CHECK(beside("gpu:naive") == "gpu:tiled");
    CHECK(beside("gpu:tiled") == "gpu:pipelined");
    CHECK(beside("gpu:pipelined") == "gpu:tiled");
    CHECK(beside("gpu:blocked") == "gpu:texel");
    CHECK(beside("gpu:half") == "gpu:texel"); // the accesses of gpu:matrix are not recorded
    CHECK(beside("cpu:scalar") == "none");
    CHECK(beside("gpu:best") == "none");
}

TEST_CASE("progress counts what is under way, and foretells nothing before a piece is done") {
    TimeLeft left;
    CHECK(progressText(0, 1, 3, 0, left).empty());
    CHECK(progressText(0, 12, 3, 1, left) == ", 1 of 12");
    CHECK(progressText(5, 12, 20, 0, left) == ", 6 of 12"); // rungs differ too much
    CHECK(progressText(6, 12, 24, 0, left) == ", 7 of 12, about 0:24 left");
    CHECK(progressText(6, 12, 24, 0, left) == ", 7 of 12, about 0:24 left"); // asked twice in a frame
    // A slow piece takes from what is left as if it were any other, then adds to it, and never ends it.
    double before = 24;
    for (double since = 0.1; since < 200; since += 0.1) {
        CHECK(progressText(6, 12, 24, since, left).starts_with(", 7 of 12, about "));
        REQUIRE(left.seconds());
        CHECK(std::abs(*left.seconds() - before) < 2);
        before = *left.seconds();
    }
    CHECK(before > 100); // it may be no exception
    CHECK(progressText(12, 12, 300, 0, left) == ", 13 of 12");
    CHECK(progressText(0, 12, 3, 1, left) == ", 1 of 12"); // and begins anew
}

namespace {

/// Each invocation with one access to array 0 of floats.
AccessRecord recordOf(std::initializer_list<std::uint32_t> places, bool write = false) {
    AccessRecord record;
    record.arrays = {{"inputs", 0, 4, false}, {"slab", firstSharedId, 4, true}};
    for (const std::uint32_t at : places) record.invocations.push_back({{0, at, write, false, false}});
    return record;
}

} // namespace

TEST_CASE("a moment says how far apart neighbours are") {
    CHECK(momentText(recordOf({4, 4, 4}), 0).find("the same word") != std::string::npos);
    CHECK(momentText(recordOf({4, 5, 6}), 0).find("adjacent words") != std::string::npos);
    CHECK(momentText(recordOf({0, 16, 32}), 0).find("64 bytes apart, a cache line each") !=
          std::string::npos);
    CHECK(momentText(recordOf({0, 1, 2}, true), 0).find("Writing inputs") == 0);
    CHECK(momentText(recordOf({0, 1}), 1).find("done") != std::string::npos);
    AccessRecord waits = recordOf({0, 1});
    for (auto& events : waits.invocations) events = {{0, 0, false, true, false}};
    CHECK(momentText(waits, 0).find("Barrier") != std::string::npos);
    AccessRecord alone = recordOf({3});
    CHECK(momentText(alone, 0).find("single") != std::string::npos);
}

TEST_CASE("the words that a workgroup reads are counted access by access") {
    AccessRecord record = recordOf({4, 5});
    const std::uint32_t slab = firstSharedId;
    record.arrays = {{"inputs", 0, 4, 1, false}, {"aSlab", slab, 4, 1, true}, {"outputs", 3, 4, 1, false}};
    for (auto& events : record.invocations)
        events = {{0, 1, false}, {slab, 1, true}, {slab, 2, false}, {slab, 3, false}, {3, 0, true}};
    const auto reads = [&](std::size_t moments) {
        const RecordReads all = readsUntil(record, moments);
        CHECK(all.outputs == 2); // however far it is
        return std::pair{all.memory, all.shared};
    };
    CHECK((reads(0) == std::pair{0.0, 0.0}));
    CHECK((reads(1) == std::pair{2.0, 0.0}));
    CHECK((reads(2) == std::pair{2.0, 0.0})); // what is written is not read
    CHECK((reads(3) == std::pair{2.0, 2.0}));
    CHECK((reads(moments(record)) == std::pair{2.0, 4.0}));
    const RecordReads all = readsUntil(record, moments(record));
    CHECK(all.perOutput(all.shared) == 2);
    CHECK(RecordReads{}.perOutput(3) == 0);
}

TEST_CASE("accesses play from the first to the last, rest there, and begin again") {
    AccessView view;
    view.last = 2;
    view.moment = 1;
    view.playFromStart();
    CHECK(view.moment == 0);
    view.update(0.21); // five a second
    CHECK(view.moment == 1);
    view.update(0.2);
    CHECK(view.moment == 2);
    view.update(2);
    CHECK(view.moment == 2);
    view.update(1);
    CHECK(view.moment == 0);
    view.last = 30000; // a kernel with many is through in half a minute
    view.update(15);
    CHECK(view.moment > 10000);
    CHECK(view.moment < 20000);
}

TEST_CASE("barriers stand at the same moment for all invocations") {
    const AccessEvent wait{0, 0, false, true, false};
    AccessRecord record = recordOf({0, 1});
    record.invocations = {{{0, 1, false}, {0, 2, false}, wait, {0, 3, false}}, {wait, {0, 4, false}}};
    const AccessRecord aligned = alignedAtBarriers(record);
    REQUIRE(aligned.invocations[0].size() == 4);
    REQUIRE(aligned.invocations[1].size() == 4);
    CHECK(aligned.invocations[1][0].idle);
    CHECK(aligned.invocations[1][1].idle);
    CHECK(aligned.invocations[0][2].barrier);
    CHECK(aligned.invocations[1][2].barrier);
    CHECK(aligned.invocations[1][3].at == 4);
}

TEST_CASE("a rung whose check failed has no number, and one that cannot run has its reason") {
    RungResult result;
    result.spec = laneSpecFromText("gpu:naive");
    CHECK(shortResult(nullptr) == "not measured");
    result.measure.agreement = {.steps = 20, .agreedSteps = 20, .largestDifference = 2e-7};
    result.measure.secondsPerStep = 0.002;
    result.measure.samplesPerSecond = 64000;
    result.measure.gflops = 6.4;
    result.productFlops = 1e6;
    result.productBytes = 5e5;
    CHECK(shortResult(&result) == "6.40 GFLOP/s");
    const Roof roof{25.6, 10};
    CHECK(roofShare(&result, &roof) == "25.0 %");
    CHECK(roofShare(&result, nullptr).empty());
    CHECK(result.intensity() == 2);
    CHECK(numbersOf(result, &roof).size() == 8);

    result.measure.agreement = {.steps = 20, .agreedSteps = 3, .largestDifference = 0.5};
    CHECK(shortResult(&result) == "wrong result");
    CHECK(roofShare(&result, &roof).empty());
    CHECK(numbersOf(result, &roof).empty());
    CHECK(checkText(result).find("not timed") != std::string::npos);

    result.refusal = "it reads at most 64 bytes";
    CHECK(shortResult(&result) == "not supported");
    CHECK(checkText(result) == result.refusal);
    CHECK(refusalReason(result) == result.refusal);
    result.refusal = "'A card: 2' cannot run gpu:naive: it has no memory";
    CHECK(refusalReason(result) == "it has no memory");
    CHECK(shortRefusal(result) == "it has no memory");
    result.refusal = "its shared memory holds 8184 numbers, and a step needs 9000";
    CHECK(shortRefusal(result) == "its shared memory holds 8184 numbers");
    CHECK(checkText(result) == result.refusal); // whole where there is room
    CHECK(refusedText(result) == "not supported: its shared memory holds 8184 numbers");
    result.refusal =
        "'A card' cannot run gpu:whole-step: its shared memory holds 8184 numbers, and the parameters "
        "(235146) with one row of a batch (1574) are 236720";
    CHECK(refusedText(result) ==
          "this network does not fit: shared memory holds 8,184 numbers, it needs 236,720");
}

TEST_CASE("the roofline rises to its corner and is level from there") {
    const Roof roof{100, 20};
    CHECK(roof.ridge() == 5);
    const Curve line = rooflineOf(roof, 0.5, 8);
    REQUIRE(line.x.size() == 3);
    CHECK(line.x[0] == 0.5);
    CHECK(line.y[0] == 10);
    CHECK(line.x[1] == 5);
    CHECK(line.y[1] == 100);
    CHECK(line.y[2] == 100);
    CHECK(line.x[2] == 20);
}

namespace {

SweepPoint pointAt(std::size_t value, double cpu, double gpu) {
    SweepPoint point;
    point.value = value;
    point.cpuSamples = cpu;
    point.gpuSamples = gpu;
    point.parts.execution = 1e-3;
    point.parts.recording = 1e-3;
    return point;
}

} // namespace

TEST_CASE("curves cross where their ratio does, between two sizes") {
    const std::vector<SweepPoint> points{pointAt(1, 100, 25), pointAt(16, 100, 400)};
    const std::vector<Crossing> crossings = crossingsOf(points);
    REQUIRE(crossings.size() == 1);
    CHECK(crossings[0].value == doctest::Approx(4));
    CHECK(crossings[0].gpuFasterBeyond);
    CHECK(crossingText(points, SweepBy::batch) == "From batch 4 on, gpu:best is faster.");
    CHECK(partsText(points).find("50 %") != std::string::npos);

    std::vector<SweepPoint> never{pointAt(1, 100, 25), pointAt(4, 100, 50)};
    CHECK(crossingText(never, SweepBy::width) ==
          "No crossing: cpu:best is faster for every width from 1 to 4.");
    never.back().gpu.software = true;
    never[0].gpuSamples = 200;
    CHECK(crossingText(never, SweepBy::width) == "From width 2 on, cpu:best is faster.");
    // A size without a time is passed over.
    CHECK(crossingsOf({pointAt(1, 100, 25), pointAt(4, 100, 0), pointAt(16, 100, 400)}).size() == 1);
    CHECK(crossingText({pointAt(1, 100, 25)}, SweepBy::batch).empty());
}

TEST_CASE("sweeps stay within the data, and change one thing") {
    CHECK(sweepValues(SweepBy::batch, 100) == std::vector<std::size_t>{1, 4, 16, 64});
    const RunOptions settings = firstLadderRun();
    CHECK(settingsFor(settings, SweepBy::batch, 7).settings.batch == 7);
    CHECK(settingsFor(settings, SweepBy::batch, 7).hiddenWidths == settings.hiddenWidths);
    CHECK(settingsFor(settings, SweepBy::width, 32).hiddenWidths == std::vector<std::size_t>{32, 32});
}

TEST_CASE("settings come back from JSON, and what is wrong is named") {
    RunOptions settings = firstLadderRun();
    settings.hiddenWidths = std::vector<std::size_t>{8};
    settings.settings.batch = 64;
    const auto read = [](const Json& json) {
        return runFromJson(json, firstLadderRun(), "ladder", {}, drawnLimits);
    };
    CHECK((read(toJson(settings)) == settings));
    // As older versions wrote it: the settings beside the other fields.
    const RunOptions older = read(Json::parse(
        R"({"data": "fashion-mnist", "hidden": [8], "optimizer": "sgd", "batch": 64, "seed": 1})"));
    CHECK((older == settings));
    CHECK((read(Json::object()) == firstLadderRun()));
    CHECK_THROWS_WITH(read(Json::parse(R"({"batch": 0})")), doctest::Contains("'batch'"));
    CHECK_THROWS_WITH(read(Json::parse(R"({"hidden": [0]})")), doctest::Contains("neurons"));
    CHECK_THROWS_WITH(read(Json::parse(R"({"hidden": [5000]})")), doctest::Contains("4096"));
    CHECK_THROWS_WITH(read(Json::parse(R"({"batch": "many"})")), doctest::Contains("'batch'"));
    CHECK_THROWS_WITH(read(Json::parse(R"({"rungs": 3})")), doctest::Contains("unknown field of 'ladder'"));
}

TEST_CASE("work is done in its order, errors are told, and what has not begun can be dropped") {
    std::vector<int> done;
    WorkQueue queue;
    for (int i = 0; i < 3; ++i) queue.post("", [&done, i](const std::atomic<bool>&) { done.push_back(i); });
    queue.post("", [](const std::atomic<bool>&) { throw std::runtime_error("no such luck"); });
    queue.wait();
    CHECK(done == std::vector<int>{0, 1, 2});
    CHECK(queue.takeFailure() == "no such luck");
    CHECK(queue.takeFailure().empty());

    std::atomic<bool> begun{false};
    queue.post("waiting", [&](const std::atomic<bool>& cancelled) {
        begun = true;
        while (!cancelled) std::this_thread::yield();
    });
    queue.post("", [&done](const std::atomic<bool>&) { done.push_back(3); });
    while (!begun) std::this_thread::yield();
    CHECK(queue.doing() == "waiting");
    queue.cancel();
    queue.wait();
    CHECK(done.size() == 3);
}
