// "Devices" without its looks: spans cover their steps, bytes drawn are bytes sent, the model is its formula,
// and training goes on where a rank was ended.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/exhibits/devices/devices_model.h"
#include "tests/run_program.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using Json = nlohmann::ordered_json;

DevicesOptions smallDevices(std::size_t ranks = 4) {
    DevicesOptions options = usualDevices();
    options.run.dataOptions.samples = 256;
    options.run.hiddenWidths = {32, 16};
    options.run.settings.batch = 32;
    options.ranks = ranks;
    options.steps = 60;
    options.checkpointEvery = 25;
    return options;
}

/// The exhibit's model, driven as by a script.
struct Devices {
    Machines machines{0, testDeviceOptions().select};
    DevicesModel model;

    explicit Devices(const DevicesOptions& options = smallDevices()) { set(options); }
    void set(const DevicesOptions& options) {
        model.change(options);
        update();
    }
    void update() {
        model.update(machines, true);
        CHECK_FALSE(model.training());
    }
    void train() {
        model.train(machines);
        update();
    }
    void endRank() {
        model.endRank(machines);
        update();
    }
};

/// Of a rank's row, by begin.
std::vector<RankSpan> rowOf(const RankTrace& trace, std::size_t rank, bool exchanges) {
    std::vector<RankSpan> row;
    for (const RankSpan& span : trace.spans)
        if (span.rank == rank && (span.what == RankWork::exchange) == exchanges) row.push_back(span);
    return row;
}

std::string refusalOf(const Json& state) {
    try {
        devicesOptionsFromJson(state);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "";
}

} // namespace

TEST_CASE("the spans of a step cover it without gaps, and every layer is exchanged") {
    for (const bool overlap : {true, false}) {
        CAPTURE(overlap);
        DevicesOptions options = smallDevices();
        options.overlap = overlap;
        Devices devices(options);
        devices.train();
        CHECK(devices.model.run().step == 60);
        if (!overlap)
            for (const RankTimes& times : timesOf(*devices.model.shown())) CHECK(times.hidden < 1e-9);
        REQUIRE(devices.model.shown() != nullptr);
        const RankTrace& trace = *devices.model.shown();
        CHECK(trace.ranks == 4);
        CHECK(trace.layers == 3);
        std::set<std::uint64_t> steps;
        for (const RankSpan& span : trace.spans) steps.insert(span.step);
        CHECK(steps == std::set<std::uint64_t>{56, 57, 58, 59});
        for (std::size_t rank = 0; rank < trace.ranks; ++rank) {
            CAPTURE(rank);
            const std::vector<RankSpan> computing = rowOf(trace, rank, false);
            for (std::size_t at = 1; at < computing.size(); ++at)
                if (computing[at].step == computing[at - 1].step)
                    CHECK(computing[at].begin == computing[at - 1].end);
                else
                    CHECK(computing[at].begin >= computing[at - 1].end);
            std::map<RankWork, std::set<std::size_t>> layers;
            for (const RankSpan& span : computing) layers[span.what].insert(span.layer);
            for (const RankWork what : {RankWork::backward, RankWork::wait, RankWork::update})
                CHECK(layers[what] == std::set<std::size_t>{0, 1, 2});
            CHECK(layers[RankWork::forward] ==
                  std::set<std::size_t>{0, 1, 2, noLayer}); // the batch, the loss
            const std::vector<RankSpan> exchanging = rowOf(trace, rank, true);
            CHECK(exchanging.size() == 4 * (3 + 1)); // of each step: the loss, and every layer
            for (std::size_t at = 1; at < exchanging.size(); ++at)
                CHECK(exchanging[at].begin >= exchanging[at - 1].end);
            const RankTimes times = timesOf(trace)[rank];
            CHECK(times.computed + times.waited <= times.all * (1 + 1e-9));
            CHECK(times.hidden <= times.exchanged * (1 + 1e-9));
        }
        CHECK(latestSteps(trace, 1).spans.size() * 4 == trace.spans.size());
    }
}

TEST_CASE("without overlap, a rank waits for as long as it exchanges") {
    DevicesOptions options = smallDevices(2);
    options.overlap = false;
    Devices devices(options);
    devices.train();
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const RankTrace& trace = *devices.model.shown();
        for (const RankSpan& exchange : rowOf(trace, rank, true)) {
            double inWaits = 0; // of its own time
            for (const RankSpan& span : rowOf(trace, rank, false))
                if (span.what == RankWork::wait)
                    inWaits += std::max(0.0, std::min(span.end, exchange.end) -
                                                 std::max(span.begin, exchange.begin));
            CHECK(inWaits == doctest::Approx(exchange.seconds()).epsilon(1e-6));
        }
    }
}

TEST_CASE("the bytes and messages that are drawn are those that were sent") {
    for (const AllReduce algorithm : {AllReduce::ring, AllReduce::tree, AllReduce::naive})
        for (const ExchangeFormat format : {ExchangeFormat::fp32, ExchangeFormat::fp16})
            for (const std::size_t ranks : {2, 3, 4}) {
                CAPTURE(name(algorithm));
                CAPTURE(name(format));
                CAPTURE(ranks);
                DevicesOptions options = smallDevices(ranks);
                options.allReduce = algorithm;
                options.format = format;
                Devices devices(options);
                devices.train();
                for (std::size_t layer = 0; layer < 3; ++layer) {
                    options.layer = layer;
                    devices.set(options);
                    CHECK(devices.model.layer() == layer);
                    std::vector<std::uint64_t> bytes(ranks), messages(ranks);
                    for (const ScheduledMessage& each : devices.model.schedule()) {
                        bytes[each.from] += each.numbers() * devices.model.bytesPerNumber();
                        ++messages[each.from];
                    }
                    for (const RankSpan& span : devices.model.shown()->spans) {
                        if (span.what != RankWork::exchange || span.layer != layer) continue;
                        CHECK(span.bytes == bytes[span.rank]);
                        CHECK(span.messages == messages[span.rank]);
                    }
                }
            }
}

TEST_CASE("a rank that is ended costs the steps since the checkpoint, and the others end up the same") {
    Devices devices;
    devices.train();
    CHECK(devices.model.run().checkpoint->step == 50);
    CHECK(devices.model.canEndRank());
    devices.endRank(); // at step 60: half-way to the next checkpoint
    const DevicesRun& run = devices.model.run();
    REQUIRE(run.losses.size() == 1);
    CHECK(run.losses[0].rank == 3);
    CHECK(run.losses[0].left == 3);
    CHECK(run.losses[0].atStep == 67);
    CHECK(run.losses[0].fromStep == 50);
    CHECK(run.losses[0].lostSteps() == 17);
    CHECK(run.ranks == 3);
    CHECK(run.step == 120);
    CHECK(devices.model.shown()->ranks == 3);
    // However many ranks there are, the mathematics is the same.
    Devices whole;
    whole.train();
    whole.train();
    CHECK(whole.model.run().step == 120);
    CHECK(run.loss == doctest::Approx(whole.model.run().loss).epsilon(1e-3));
    devices.endRank();
    devices.endRank();
    CHECK(devices.model.alive() == 1);
    CHECK_FALSE(devices.model.canEndRank());
    CHECK(devices.model.shown()->ranks == 1); // one alone still trains
    devices.model.forget();
    CHECK(devices.model.alive() == 4);
    CHECK(devices.model.run().step == 0);
}

TEST_CASE("other ranks go on with the same network; another network begins anew") {
    Devices devices;
    devices.train();
    DevicesOptions options = smallDevices(2);
    devices.set(options);
    CHECK(devices.model.run().step == 60);
    CHECK(devices.model.shown() == nullptr);
    devices.train();
    CHECK(devices.model.run().step == 120);
    CHECK(devices.model.shown()->ranks == 2);
    options.run.settings.batch = 64;
    devices.set(options);
    CHECK(devices.model.run().step == 0);
}

TEST_CASE("a slow rank computes longer than the others") {
    DevicesOptions options = smallDevices(2);
    options.run.dataOptions.samples = 1024;
    options.run.hiddenWidths = {256, 256}; // times that outweigh those of other programs on these cores
    options.run.settings.batch = 512;
    options.slower = 4;
    Devices devices(options);
    devices.train();
    const RankTrace& trace = *devices.model.shown();
    CHECK(timesOf(trace)[1].computed > timesOf(trace)[0].computed);
}

TEST_CASE("the model is its formula, and says from which rank on it does not pay") {
    ScalingModel model{.computeSeconds = 0.01,
                       .layerBytes = {4'000'000, 1'000},
                       .batch = 1024,
                       .allReduce = AllReduce::ring,
                       .link = {1e-5, 1e10}};
    CHECK(model.stepSeconds(1, false) == 0.01);
    CHECK(model.efficiency(1, true) == 1);
    // 2 (n - 1) messages of each layer, and 2 (n - 1) / n of its bytes.
    const double exchange = 2 * 2 * 3 * 1e-5 + 2.0 * 3 / 4 * 4'001'000 / 1e10;
    CHECK(model.exchangeSeconds(4) == doctest::Approx(exchange));
    CHECK(model.stepSeconds(4, false) == doctest::Approx(0.01 / 4 + exchange));
    CHECK(model.stepSeconds(4, true) == doctest::Approx(0.01 + exchange));
    CHECK(model.efficiency(4, false) == doctest::Approx(0.01 / (4 * (0.01 / 4 + exchange))));
    for (const bool weak : {false, true}) {
        const std::optional<std::size_t> ranks = model.stopsPayingAt(weak);
        REQUIRE(ranks);
        CHECK(model.efficiency(*ranks, weak) < 0.5);
        CHECK(model.efficiency(*ranks - 1, weak) >= 0.5);
    }
    model.layerBytes.clear(); // nothing to exchange: only examples run out
    CHECK_FALSE(model.stopsPayingAt(true));
    CHECK(model.stopsPayingAt(false) == 2049);
    model.places = 2; // four ranks take turns on two cores
    CHECK(model.stepSeconds(4, false) == doctest::Approx(0.01 / 2));
    CHECK(model.stepSeconds(4, true) == doctest::Approx(0.02));
}

TEST_CASE("measuring gives every point, the link, and how far the model is off") {
    Devices devices;
    devices.model.measure(devices.machines);
    devices.update();
    for (const std::size_t ranks : {1, 2, 4})
        for (const bool weak : {false, true}) {
            REQUIRE(devices.model.point(ranks, weak) != nullptr);
            CHECK(devices.model.point(ranks, weak)->secondsPerStep > 0);
        }
    CHECK(devices.model.link().latencySeconds > 0);
    CHECK(devices.model.link().bytesPerSecond > 0);
    REQUIRE(devices.model.model());
    CHECK(devices.model.model()->computeSeconds == devices.model.point(1, false)->secondsPerStep);
    CHECK(devices.model.model()->link.bytesPerSecond == 31.5e9);
    REQUIRE(devices.model.modelError());
    CHECK(*devices.model.modelError() > 0);
    MESSAGE("the model is up to " << *devices.model.modelError() * 100 << " % off");
    DevicesOptions options = smallDevices();
    options.gigabytesPerSecond = 1; // a slider of the model
    devices.set(options);
    CHECK(devices.model.point(4, false) != nullptr);
    options.overlap = false;
    devices.set(options);
    CHECK(devices.model.point(4, false) == nullptr);
}

TEST_CASE("a trace comes back from its file, and is shown until training goes on") {
    Devices devices(smallDevices(3));
    devices.train();
    const test::Folder folder;
    const std::string file = folder.file("steps.trace");
    writeRankTrace(file, *devices.model.shown());
    DevicesOptions options = smallDevices(2);
    options.trace = file;
    Devices other(options);
    CHECK(other.model.opened());
    const RankTrace& read = *other.model.shown();
    const RankTrace& written = *devices.model.shown();
    CHECK(read.ranks == 3);
    CHECK(read.layers == 3);
    REQUIRE(read.spans.size() == written.spans.size());
    for (std::size_t at = 0; at < read.spans.size(); ++at) {
        CHECK(read.spans[at].rank == written.spans[at].rank);
        CHECK(read.spans[at].what == written.spans[at].what);
        CHECK(read.spans[at].bytes == written.spans[at].bytes);
        CHECK(read.spans[at].seconds() == doctest::Approx(written.spans[at].seconds()).epsilon(1e-6));
    }
    CHECK(devicesOptionsFromJson(toJson(options)).trace == file);
    other.train();
    CHECK_FALSE(other.model.opened());
    CHECK(other.model.shown()->ranks == 2);
    for (const char* wrong :
         {R"({"lockstep_trace": 2, "ranks": 1, "layers": 1, "spans": []})", R"({"lockstep": 1})",
          R"({"lockstep_trace": 1, "ranks": 0, "layers": 1, "spans": []})",
          R"({"lockstep_trace": 1, "ranks": 2, "layers": 1, "spans": [{"rank": 2, "step": 1, "what": "wait",
              "layer": 0, "begin": 0, "end": 1}]})",
          R"({"lockstep_trace": 1, "ranks": 2, "layers": 1, "spans": [{"rank": 1, "step": 1, "what": "rest",
              "layer": 0, "begin": 0, "end": 1}]})"}) {
        CAPTURE(wrong);
        std::ofstream(folder.file("wrong.trace")) << wrong;
        CHECK_THROWS_AS(readRankTrace(folder.file("wrong.trace")), std::runtime_error);
    }
}

TEST_CASE("a state comes back exactly; what is wrong is named") {
    DevicesOptions options = smallDevices(3);
    options.overlap = false;
    options.allReduce = AllReduce::tree;
    options.format = ExchangeFormat::fp16;
    options.slower = 0.5;
    options.layer = 2, options.round = 1;
    options.weak = true;
    options.gigabytesPerSecond = 450, options.microseconds = 2;
    CHECK(devicesOptionsFromJson(toJson(options)) == options);
    CHECK(refusalOf({{"ranks", 0}}).find("'ranks'") != std::string::npos);
    CHECK(refusalOf({{"ranks", 9}}).find("'ranks'") != std::string::npos);
    CHECK(refusalOf({{"slower", -1.0}}).find("'slower'") != std::string::npos);
    CHECK(refusalOf({{"all_reduce", "star"}}).find("star") != std::string::npos);
    CHECK(refusalOf({{"exchange", "top-k"}}).find("'exchange'") != std::string::npos);
    CHECK(refusalOf({{"lanes", {"gpu:half"}}}).find("'lanes'") != std::string::npos);
    CHECK(refusalOf({{"checkpoint_every", 0}}).find("'checkpoint_every'") != std::string::npos);
}

TEST_CASE("ranks of a Vulkan device note when gradients arrive") {
    DevicesOptions options = smallDevices(2);
    options.run.lanes = {laneSpecFromText("gpu:tiled")};
    options.steps = 12;
    Devices devices(options);
    devices.train();
    const RankTrace& trace = *devices.model.shown();
    for (std::size_t rank = 0; rank < 2; ++rank) {
        std::map<RankWork, std::set<std::size_t>> layers;
        const std::vector<RankSpan> row = rowOf(trace, rank, false);
        for (const RankSpan& span : row) layers[span.what].insert(span.layer);
        CHECK(layers[RankWork::forward] == std::set<std::size_t>{2});
        CHECK(layers[RankWork::backward] == std::set<std::size_t>{0, 1});
        CHECK(layers[RankWork::wait] == std::set<std::size_t>{0, 1, 2});
        CHECK(layers[RankWork::update].empty());
        for (std::size_t at = 1; at < row.size(); ++at) CHECK(row[at].begin >= row[at - 1].end);
    }
}
