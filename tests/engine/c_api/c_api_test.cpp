// The functions for C: their results are those of the C++ interface, and what is wrong comes as a text.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "engine/c_api/lockstep.h"
#include "engine/run/make_trainer.h"
#include "lockstep/version.h"
#include "tests/data_files.h"
#include "tests/test_device.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

const char* const curveSettings = R"({"net": {"widths": [1, 16, 1], "activation": "tanh"},
    "settings": {"lr": 0.01, "batch": 32, "seed": 7}, "threads": 1})";

struct Curve {
    std::vector<float> x, y;
    Curve() {
        for (int i = 0; i < 128; ++i) {
            x.push_back(static_cast<float>(i) / 64 - 1);
            y.push_back(std::sin(3 * x.back()));
        }
    }
};

struct Owned {
    lockstep_trainer* trainer = nullptr;
    ~Owned() { lockstep_destroy(trainer); }
};

std::string gpuLane() {
    const gpu::DeviceOptions options = testDeviceOptions();
    return "gpu:tiled" + (options.select.empty() ? "" : "@" + options.select);
}

std::vector<float> outputsOf(lockstep_trainer* trainer, const std::vector<float>& x) {
    std::vector<float> y(x.size());
    CHECK(lockstep_predict(trainer, x.size(), x.data(), y.data()) == 0);
    return y;
}

} // namespace

TEST_CASE("a network trained from C has the bits of one trained from C++") {
    const Curve curve;
    Dataset data;
    data.name = "curve";
    data.inputs = data.targetWidth = 1;
    data.train.count = curve.x.size();
    data.train.values = curve.x;
    data.train.targets = curve.y;
    TrainJob job;
    job.data = &data;
    job.shape.widths = {1, 16, 1};
    job.shape.activation = Activation::tanh;
    job.shape.loss = Loss::meanSquared;
    job.settings.optimizer.learningRate = 0.01;
    job.settings.batch = 32;
    job.settings.seed = 7;
    for (const std::string& lane : {std::string("cpu:best"), gpuLane()}) {
        CAPTURE(lane);
        const auto expected = makeTrainer(job, laneSpecFromText(lane), {.threads = 1}, &testDevice());
        expected->run(40);
        Owned own{lockstep_create(lane.c_str(), curveSettings, 128, curve.x.data(), curve.y.data(), nullptr)};
        INFO(std::string(lockstep_last_error()));
        REQUIRE(own.trainer != nullptr);
        CHECK(lockstep_device(own.trainer) == expected->machine().device);
        double loss = 0;
        CHECK(lockstep_train(own.trainer, 40, &loss) == 0);
        std::vector<LossPoint> losses;
        expected->finish();
        expected->takeLosses(losses);
        CHECK(loss == static_cast<double>(losses.back().loss));
        CHECK(outputsOf(own.trainer, curve.x) == expected->predict(curve.x));
    }
}

TEST_CASE("a saved run goes on to the bit, and gives its weights to other settings") {
    const Curve curve;
    const TemporaryFolder folder;
    const std::string file = (folder.path() / "curve.safetensors").string();
    Owned whole{lockstep_create("cpu:simd", curveSettings, 128, curve.x.data(), curve.y.data(), nullptr)};
    CHECK(lockstep_train(whole.trainer, 10, nullptr) == 0);
    CHECK(lockstep_save(whole.trainer, file.c_str()) == 0);
    const std::vector<float> saved = outputsOf(whole.trainer, curve.x);
    CHECK(lockstep_train(whole.trainer, 10, nullptr) == 0);

    Owned resumed{lockstep_create("cpu:simd", curveSettings, 128, curve.x.data(), curve.y.data(), nullptr)};
    CHECK(lockstep_load(resumed.trainer, file.c_str()) == 0);
    CHECK(outputsOf(resumed.trainer, curve.x) == saved);
    CHECK(lockstep_train(resumed.trainer, 10, nullptr) == 0);
    CHECK(outputsOf(resumed.trainer, curve.x) == outputsOf(whole.trainer, curve.x));

    const char* other = R"({"net": {"widths": [1, 16, 1], "activation": "tanh"},
                            "settings": {"optimizer": "sgd", "lr": 0.1}})";
    Owned begun{lockstep_create("cpu:simd", other, 128, curve.x.data(), curve.y.data(), nullptr)};
    CHECK(lockstep_load(begun.trainer, file.c_str()) == 0);
    CHECK(outputsOf(begun.trainer, curve.x) == saved);
    double loss = -1;
    CHECK(lockstep_train(begun.trainer, 1, &loss) == 0);
    CHECK(loss > 0);
}

TEST_CASE("batches of the host's own, a share of a frame, and labels") {
    const char* settings = R"({"net": {"widths": [2, 8, 2]}, "settings": {"lr": 0.05, "batch": 4}})";
    const float inputs[] = {0, 0, 0, 1, 1, 0, 1, 1};
    const std::uint32_t either[] = {0, 1, 1, 1};
    const std::uint32_t both[] = {0, 0, 0, 1};
    Owned own{lockstep_create("cpu:best", settings, 4, inputs, nullptr, either)};
    REQUIRE(own.trainer != nullptr);
    const auto classes = [&] {
        float outputs[8];
        CHECK(lockstep_predict(own.trainer, 4, inputs, outputs) == 0);
        std::vector<std::uint32_t> found;
        for (int i = 0; i < 4; ++i) found.push_back(outputs[2 * i + 1] > outputs[2 * i] ? 1 : 0);
        return found;
    };
    const std::uint32_t noClass[] = {2};
    CHECK(lockstep_create("cpu:best", settings, 1, inputs, nullptr, noClass) == nullptr);
    CHECK(lockstep_set_examples(own.trainer, 0, 1, nullptr, nullptr, noClass) == 1);
    CHECK(std::string(lockstep_last_error()) == "label 2 is no class: there are 2"); // the old one stays
    const auto trainUntil = [&](double least) {
        double loss = 1;
        std::uint64_t all = 0;
        for (int frame = 0; frame < 2000 && loss > least; ++frame) {
            std::uint64_t steps = 0;
            CHECK(lockstep_train_for(own.trainer, 1.0, &steps, &loss) == 0);
            CHECK(steps >= 1);
            all += steps;
        }
        CHECK(loss <= least);
        CHECK(all > 10);
    };
    trainUntil(0.02);
    CHECK(classes() == std::vector<std::uint32_t>{0, 1, 1, 1});
    CHECK(lockstep_set_examples(own.trainer, 0, 4, nullptr, nullptr, both) == 0);
    trainUntil(0.02);
    CHECK(classes() == std::vector<std::uint32_t>{0, 0, 0, 1});
}

TEST_CASE("what is wrong is said in a sentence, and nothing is thrown") {
    const Curve curve;
    const auto refused = [&](const char* lane, const char* settings, const float* x, const float* y) {
        CHECK(lockstep_create(lane, settings, 128, x, y, nullptr) == nullptr);
        return std::string(lockstep_last_error());
    };
    const float *x = curve.x.data(), *y = curve.y.data();
    CHECK(refused("cpu:bset", curveSettings, x, y).find("cpu:best") != std::string::npos);
    CHECK(refused("cpu:best", "{}", x, y) == "the field 'net' is missing");
    CHECK(refused("cpu:best", R"({"net": {"activation": "tanh"}})", x, y) == "the field 'widths' is missing");
    CHECK(refused("cpu:best", R"({"net": {"widths": [1, 1]}, "settings": {"rate": 1}})", x, y).find("rate") !=
          std::string::npos);
    CHECK(refused("cpu:best", "{\"net\":", x, y).find("the settings") != std::string::npos);
    CHECK(refused("cpu:best", curveSettings, nullptr, y) == "inputs is NULL");
    CHECK(refused("cpu:best", curveSettings, x, nullptr).find("either") != std::string::npos);
    CHECK(refused(nullptr, curveSettings, x, y) == "lane is NULL");
    CHECK(lockstep_train(nullptr, 1, nullptr) == 1);
    CHECK(std::string(lockstep_last_error()) == "trainer is NULL");
    lockstep_destroy(nullptr);
    CHECK(std::string(lockstep_device(nullptr)).empty());

    Owned own{lockstep_create("cpu:best", curveSettings, 128, x, y, nullptr)};
    REQUIRE(own.trainer != nullptr);
    CHECK(lockstep_load(own.trainer, "no such file") == 1);
    CHECK(std::string(lockstep_last_error()).find("no such file") != std::string::npos);
    CHECK(lockstep_save(own.trainer, "/no/such/folder/file") == 1);
    CHECK(lockstep_set_examples(own.trainer, 100, 29, x, nullptr, nullptr) == 1);
    const std::uint32_t labels[] = {0};
    CHECK(lockstep_set_examples(own.trainer, 0, 1, nullptr, nullptr, labels) == 1);
    const float nothing[] = {NAN};
    CHECK(lockstep_set_examples(own.trainer, 3, 1, nothing, nullptr, nullptr) == 0);
    CHECK(lockstep_train(own.trainer, 4, nullptr) == 1);
    INFO(std::string(lockstep_last_error()));
    CHECK(std::string(lockstep_last_error()).find("example 3") != std::string::npos);
    CHECK(lockstep_set_examples(own.trainer, 3, 1, x, nullptr, nullptr) == 0);
    const std::vector<float> before = outputsOf(own.trainer, curve.x);
    for (const float value : before) CHECK(std::isfinite(value));
    double loss = NAN; // and training goes on
    CHECK(lockstep_train(own.trainer, 8, &loss) == 0);
    CHECK(std::isfinite(loss));
    CHECK(outputsOf(own.trainer, curve.x) != before);
    float outputs[1];
    CHECK(lockstep_predict(own.trainer, std::numeric_limits<std::size_t>::max(), x, outputs) == 1);
    for (const double milliseconds : {double(NAN), double(INFINITY), -1.0})
        CHECK(lockstep_train_for(own.trainer, milliseconds, nullptr, nullptr) == 1);
    CHECK(std::string(lockstep_version()) == LOCKSTEP_VERSION);
}
