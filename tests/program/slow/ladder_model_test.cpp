// The ladder without its looks: rungs are measured, training climbs from one to another, batches walk.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "demos/exhibits/ladder/ladder_model.h"
#include "demos/exhibits/ladder/rung_charts.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;

RunOptions small() {
    RunOptions settings = firstLadderRun();
    settings.data = "spiral";
    settings.hiddenWidths = std::vector<std::size_t>{16, 8};
    settings.settings.batch = 32;
    return settings;
}

/// A ladder on the test's device, driven as by a script: everything asked for is there after a frame.
struct Ladder {
    Machines machines{0, testDeviceOptions().select};
    gpu::Device& device = machines.openForDrawing({});
    LadderModel model; // last: it uses the device

    Ladder() { model.change(small()); }
    void frame() { model.update(machines, device, 1.0 / 60, true); }
    std::size_t rung(std::string_view lane) const {
        const auto found = std::ranges::find(model.rungs(), lane, &RungRow::lane);
        return static_cast<std::size_t>(found - model.rungs().begin());
    }
    void climb(std::string_view lane, int steps) {
        model.pick(rung(lane));
        for (int step = 0; step < steps; ++step) {
            model.step();
            frame();
        }
    }
};

} // namespace

TEST_CASE("all rungs are measured, and each has a time or a reason") {
    Ladder ladder;
    ladder.model.measureAll();
    ladder.frame();
    REQUIRE(ladder.model.roof() != nullptr);
    CHECK(ladder.model.roof()->measured());
    for (std::size_t i = 0; i < ladder.model.rungs().size(); ++i) {
        CAPTURE(ladder.model.rungs()[i].lane);
        const RungResult* result = ladder.model.result(i);
        REQUIRE(result != nullptr);
        CHECK((result->timed() || result->refused()));
        if (!result->timed()) continue;
        CHECK(result->measure.gflops > 0);
        CHECK(result->leastProductBytes > 0);
        // Counted bytes are no fewer than the least, and unknown ones say why.
        if (result->productBytes > 0)
            CHECK(result->productBytes >= result->leastProductBytes * 0.9);
        else
            CHECK_FALSE(result->uncounted.empty());
    }
    // The naive kernels ask for more than those that share what they load.
    CHECK(ladder.model.result(ladder.rung("gpu:naive"))->productBytes >
          2 * ladder.model.result(ladder.rung("gpu:tiled"))->productBytes);
    CHECK_FALSE(ladder.model.busy());
}

TEST_CASE("the picked rung is measured first, and what was only looked at gives way to the next") {
    Ladder ladder;
    const auto frame = [&] {
        ladder.model.update(ladder.machines, ladder.device, 1.0 / 60, false, true);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    const auto waitFor = [&](std::size_t results) { // as in a window: frame by frame
        while (ladder.model.results().size() < results) frame();
    };
    const std::size_t tiled = ladder.rung("gpu:tiled");
    const std::size_t blocked = ladder.rung("gpu:blocked");
    ladder.model.pick(tiled);
    ladder.model.measureAll();
    CHECK(ladder.model.stateOf(tiled) == "waiting to be measured");
    waitFor(1);
    CHECK(ladder.model.result(tiled) != nullptr);
    CHECK(ladder.model.measuredShare() > 0);
    const auto counts = [&] { return ladder.model.doing().find(" of ") != std::string::npos; };
    while (!counts() && ladder.model.busy()) frame(); // between two measurements nothing is under way
    CHECK(counts());
    ladder.model.pick(blocked);
    waitFor(2);
    CHECK(ladder.model.result(blocked) != nullptr);

    ladder.model.stopMeasuring();
    CHECK(ladder.model.stateOf(ladder.rung("gpu:best")) == "not measured");
    ladder.model.pick(ladder.rung("gpu:one"));
    ladder.model.pick(ladder.rung("gpu:texel")); // before the other has begun
    waitFor(3);
    CHECK(ladder.model.result(ladder.rung("gpu:one")) == nullptr);
    CHECK(ladder.model.result(ladder.rung("gpu:texel")) != nullptr);
}

TEST_CASE("a factor is over the next rung below with a time, and the climb from the first to the fastest") {
    Ladder ladder;
    const LadderModel& model = ladder.model;
    CHECK_FALSE(model.climb().has_value());
    ladder.model.preview();
    ladder.frame();
    CHECK(model.previewed());
    CHECK(model.timedRungs() == 5);
    const std::size_t naive = ladder.rung("gpu:naive");
    const std::size_t tiled = ladder.rung("gpu:tiled");
    CHECK_FALSE(model.base(naive).has_value());
    CHECK(model.base(tiled) == naive);
    CHECK(model.base(ladder.rung("gpu:blocked")) == tiled);
    CHECK(model.base(ladder.rung("gpu:pipelined")) == tiled); // whether or not it has a time itself
    CHECK(model.speedUp(ladder.rung("gpu:pipelined")).empty());
    CHECK(model.speedUp(tiled).ends_with("× over gpu:naive"));
    CHECK(*model.rate(tiled) == model.result(tiled)->measure.gflops);
    CHECK_FALSE(model.rate(ladder.rung("gpu:pipelined")).has_value());
    const bool higher = *model.rate(tiled) > *model.rate(naive) ||
                        *model.rate(ladder.rung("gpu:blocked")) > *model.rate(naive);
    if (const auto climb = model.climb()) { // on a busy machine the first may be the fastest: then the CPU's
        CHECK(climb->from == (higher ? naive : ladder.rung("cpu:scalar")));
        CHECK(climb->factor == *model.rate(climb->to) / *model.rate(climb->from));
        CHECK(climb->factor > 1);
    } else
        CHECK_FALSE(higher);

    ladder.model.measureAll();
    ladder.frame();
    CHECK_FALSE(model.previewed());
    CHECK(model.base(naive) == ladder.rung("gpu:naive-strided"));
    for (const auto& [rung, below] : {std::pair{"gpu:best", "gpu:one"}, {"cpu:best", "cpu:scalar"}})
        CHECK(model.base(ladder.rung(rung)) == ladder.rung(below)); // the table names none
    CHECK_FALSE(model.base(ladder.rung("cpu:scalar")).has_value());
    CHECK(model.climb()->from == ladder.rung("gpu:one"));
}

TEST_CASE("a rung under way has the rate that was measured so far") {
    Ladder ladder;
    const std::size_t tiled = ladder.rung("gpu:tiled");
    ladder.model.pick(tiled);
    bool grew = false;
    while (ladder.model.result(tiled) == nullptr) {
        ladder.model.update(ladder.machines, ladder.device, 1.0 / 60, false, true);
        grew = grew || (ladder.model.result(tiled) == nullptr && ladder.model.rate(tiled).has_value());
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    CHECK(grew);
}

TEST_CASE("training goes on from rung to rung, and the loss curve stays the same") {
    Ladder ladder;
    ladder.climb("gpu:naive", 3);
    ladder.climb("gpu:tiled", 3);
    ladder.climb("cpu:best", 3);
    const std::vector<LadderLoss>& losses = ladder.model.losses();
    REQUIRE(losses.size() == 9);
    for (std::size_t step = 0; step < losses.size(); ++step) CHECK(losses[step].step == step);
    CHECK(losses[0].rung == ladder.rung("gpu:naive"));
    CHECK(losses[8].rung == ladder.rung("cpu:best"));
    CHECK_FALSE(ladder.model.differenceTo(ladder.model.earlier()).has_value());

    ladder.model.reset();
    ladder.climb("gpu:blocked", 9);
    CHECK(ladder.model.losses().size() == 9);
    CHECK(ladder.model.earlier().size() == 9);
    const auto difference = ladder.model.differenceTo(ladder.model.earlier());
    REQUIRE(difference.has_value());
    CHECK(*difference < Agreement::floatTolerance);
}

TEST_CASE("before training has begun there is a preview of its loss, and training repeats it") {
    Ladder ladder;
    ladder.frame();
    CHECK(ladder.model.knownLossPreview().empty()); // it was not asked for
    CHECK(ladder.model.lossPreview().empty());
    CHECK(ladder.model.busy());
    ladder.frame();
    const std::vector<LadderLoss> preview = ladder.model.lossPreview();
    REQUIRE(preview.size() >= 2);
    for (std::size_t step = 0; step < preview.size(); ++step) CHECK(preview[step].step == step);
    CHECK(preview.front().rung == ladder.rung("cpu:best"));
    ladder.frame();
    CHECK(ladder.model.lossPreview().size() == preview.size()); // once
    CHECK(ladder.model.losses().empty());                       // it is no training

    ladder.climb("gpu:tiled", 5);
    const auto difference = ladder.model.differenceTo(preview);
    REQUIRE(difference.has_value());
    CHECK(*difference < Agreement::floatTolerance);

    RunOptions other = small();
    other.settings.batch = 16;
    ladder.model.change(other);
    CHECK(ladder.model.knownLossPreview().empty()); // of another network's training
}

TEST_CASE("a rung that cannot run says so once, and the next one trains on from where training stood") {
    Ladder ladder;
    RunOptions large = small();
    large.hiddenWidths = std::vector<std::size_t>{256, 128}; // 34,000 parameters fit into no shared memory
    ladder.model.change(large);
    ladder.climb("gpu:blocked", 3);
    ladder.model.pick(ladder.rung("gpu:whole-step"));
    ladder.model.run();
    CHECK_THROWS(ladder.frame());
    CHECK_FALSE(ladder.model.running());
    CHECK_NOTHROW(ladder.frame());
    ladder.climb("gpu:blocked", 3);
    const std::vector<LadderLoss>& losses = ladder.model.losses();
    REQUIRE(losses.size() == 6);
    for (std::size_t step = 0; step < losses.size(); ++step) CHECK(losses[step].step == step);
}

TEST_CASE("another batch measures the same rungs anew, and the dots walk") {
    Ladder ladder;
    ladder.model.pick(ladder.rung("gpu:blocked"));
    ladder.frame();
    REQUIRE(ladder.model.result(ladder.rung("gpu:blocked")) != nullptr);
    RunOptions larger = small();
    larger.settings.batch = 64;
    ladder.model.change(larger);
    CHECK(ladder.model.result(ladder.rung("gpu:blocked")) == nullptr);
    ladder.frame();
    CHECK(ladder.model.result(ladder.rung("gpu:blocked")) != nullptr);
    const std::vector<RungDots> dots = rooflineDots(ladder.model);
    REQUIRE(dots.size() == 1);
    CHECK(dots[0].x.size() == 2);
    CHECK(dots[0].now.has_value());
    // Another network has nothing to do with what was measured.
    larger.hiddenWidths = std::vector<std::size_t>{8};
    ladder.model.change(larger);
    CHECK(rooflineDots(ladder.model).empty());
}

TEST_CASE("a kernel's picture comes when it is asked for, or the reason why there is none") {
    Ladder ladder;
    for (std::size_t i = 0; i < ladder.model.rungs().size(); ++i) {
        CAPTURE(ladder.model.rungs()[i].lane);
        for (const Product product : {Product::forward, Product::backwardInputs, Product::backwardWeights}) {
            CHECK(ladder.model.picture(i, product) == nullptr);
            ladder.frame();
            const RungPicture* picture = ladder.model.picture(i, product);
            REQUIRE(picture != nullptr);
            CHECK(picture->reason.empty() != picture->record.invocations.empty());
        }
    }
    CHECK(ladder.model.picture(ladder.rung("gpu:tiled"), Product::forward)->reason.empty());
}

TEST_CASE("a sweep measures both machines over every size, and the parts of a step are those of its time") {
    Ladder ladder;
    ladder.model.startSweep(SweepBy::batch);
    ladder.frame();
    const std::vector<SweepPoint>& points = ladder.model.sweep(SweepBy::batch);
    REQUIRE(points.size() >= 3); // as many as the data have examples for
    for (const SweepPoint& point : points) {
        CAPTURE(point.value);
        CHECK(point.failure.empty());
        CHECK(point.compared());
        CHECK(point.parts.recording > 0);
        CHECK(point.parts.submission > 0);
        CHECK(point.parts.execution > 0);
        CHECK(point.parts.upload == 0); // data stay on the device
        CHECK(point.uploadBytes > 0);
    }
    CHECK_FALSE(crossingText(points, SweepBy::batch).empty());
}

TEST_CASE("what is wrong with the settings is said once, and nothing is tried again by itself") {
    Ladder ladder;
    RunOptions wrong = small();
    wrong.data = "csv:/nowhere.csv";
    ladder.model.change(wrong);
    CHECK_THROWS(ladder.frame());
    CHECK_NOTHROW(ladder.frame());
    CHECK_FALSE(ladder.model.busy());
    ladder.model.change(small());
    CHECK_NOTHROW(ladder.frame());
    CHECK(ladder.model.result(ladder.model.picked()) != nullptr);
}

TEST_CASE("without the device all is given up but the numbers, and goes on when somebody asks") {
    Ladder ladder;
    ladder.climb("gpu:naive", 2);
    ladder.model.releaseDevice();
    CHECK_FALSE(ladder.model.busy());
    CHECK(ladder.model.result(ladder.model.picked()) != nullptr);
    CHECK(ladder.model.roof() == nullptr);
    ladder.model.measurePicked();
    ladder.frame();
    REQUIRE(ladder.model.roof() != nullptr);
    CHECK(ladder.model.roof()->measured());
}
