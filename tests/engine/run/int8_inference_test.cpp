// Inference in integers of 8 bits: the numbers are those of its definition, and a trained network answers as
// in fp32.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/cpu/cpu_info.h"
#include "engine/data/data_source.h"
#include "engine/net/activation.h"
#include "engine/net/param_layout.h"
#include "engine/net/random.h"
#include "engine/run/int8_inference.h"
#include "tests/sanitized.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

std::vector<float> trained(const TrainJob& job, std::uint64_t steps) {
    const auto trainer = makeCpuTrainer(job, Rung::best, 2);
    train(*trainer, steps);
    return trainer->state().parameters;
}

double accuracyOf(Inference& network, const TrainJob& job) {
    const std::size_t count = job.data->test.count;
    return evaluate(job, Split::test, network.outputsOf(*job.data, Split::test, 0, count)).accuracy;
}

} // namespace

TEST_CASE("numbers that integers can hold are computed exactly") {
    NetShape shape{.widths = {3, 2}};
    std::vector<float> parameters(ParamLayout(shape).size());
    const ParamLayout layout(shape);
    const LayerLayout& place = layout.layer(0);
    const float weights[2][3] = {{127, -63, 1}, {-0.25f * 127, 0, 0.25f * 8}}; // scales 1 and 1/4
    for (std::size_t o = 0; o < 2; ++o)
        for (std::size_t i = 0; i < 3; ++i)
            parameters[place.weightOffset + o * place.rowStride + i] = weights[o][i];
    parameters[place.biasOffset] = 5;
    parameters[place.biasOffset + 1] = -1;
    const std::vector<float> range = {-55, 0, 200}; // 255 steps of 1, and 0 is code 55
    const auto network = makeInt8Inference(shape, parameters, range);
    CHECK(network->outputs(std::vector<float>{3, -2, 100}) ==
          std::vector<float>{127 * 3 + 63 * 2 + 100 + 5, -0.25f * 127 * 3 + 2 * 100 - 1});
    // Rounded to the nearest step, and cut off at the ends of the range.
    CHECK(network->outputs(std::vector<float>{2.6f, 0, 1000}) ==
          std::vector<float>{127 * 3 + 200 + 5, -0.25f * 127 * 3 + 2 * 200 - 1});
    CHECK(network->outputs({}).empty());
    CHECK(network->outputs(std::vector<float>(6)) == std::vector<float>{5, -1, 5, -1});
}

TEST_CASE("what integers cannot do is refused") {
    const NetShape shape{.widths = {3, 4, 2}};
    std::vector<float> parameters = initialWeights(shape, 1);
    const std::vector<float> rows(6, 0.5f);
    CHECK_NOTHROW(makeInt8Inference(shape, parameters, rows));
    CHECK_THROWS_WITH_AS(makeInt8Inference(shape, parameters, {}), doctest::Contains("need examples"),
                         std::invalid_argument);
    CHECK_THROWS_AS(makeInt8Inference(shape, parameters, std::vector<float>(4)), std::invalid_argument);
    CHECK_THROWS_AS(makeInt8Inference(shape, std::vector<float>(3), rows), std::invalid_argument);
    CHECK_THROWS_WITH_AS(makeInt8Inference(shape, parameters, std::vector<float>(3, INFINITY)),
                         doctest::Contains("not finite"), std::invalid_argument);
    parameters[1] = NAN;
    CHECK_THROWS_WITH_AS(makeInt8Inference(shape, parameters, rows), doctest::Contains("not finite"),
                         std::invalid_argument);
}

TEST_CASE("outputs are those of fp32 within the steps of the integers, for every activation") {
    const Dataset data = classData(13, 3, 300);
    for (const Activation activation : allActivations) {
        CAPTURE(name(activation));
        TrainJob job = jobFor(data, {24, 16});
        job.shape.activation = activation;
        const std::vector<float> parameters = trained(job, 200);
        const auto exact = makeInference(job.shape, parameters);
        const auto network = makeInt8Inference(job.shape, parameters, inputsOf(data, Split::train, 0, 200));
        const std::vector<float> expected = exact->outputsOf(data, Split::test, 0, data.test.count);
        const std::vector<float> found = network->outputsOf(data, Split::test, 0, data.test.count);
        const auto [least, largest] = std::ranges::minmax(expected);
        double sum = 0;
        for (std::size_t at = 0; at < found.size(); ++at)
            sum += std::pow(static_cast<double>(found[at]) - static_cast<double>(expected[at]), 2);
        CHECK(std::sqrt(sum / static_cast<double>(found.size())) <
              0.02 * static_cast<double>(largest - least));
        CHECK(accuracyOf(*network, job) >= accuracyOf(*exact, job) - 0.02);
    }
}

TEST_CASE("the processor's own instructions for integers answer with the bits of the plain loops") {
    const NetShape small{.widths = {3, 4, 2}};
    if (!hasInt8Instructions()) {
        CHECK(fastestInt8Kernels() == Int8Kernels::plain);
        CHECK_THROWS_WITH_AS(makeInt8Inference(small, initialWeights(small, 1), std::vector<float>(3, 0.5f),
                                               Int8Kernels::native),
                             doctest::Contains("AVX-512 VNNI"), std::runtime_error);
        return;
    }
    CHECK(fastestInt8Kernels() == Int8Kernels::native);
    std::uint64_t seed = 1;
    for (const std::size_t inputs : {1, 3, 63, 64, 65, 130, 784})
        for (const std::size_t outputs : {1, 2, 4, 7, 66})
            for (const std::size_t rows : {1, 3, 4, 9, 70}) {
                CAPTURE(inputs);
                CAPTURE(outputs);
                CAPTURE(rows);
                const NetShape shape{.widths = {inputs, outputs, outputs + 1}};
                std::vector<float> parameters = initialWeights(shape, seed++);
                for (float& each : parameters) each *= 3; // some sums end at either side of the range
                std::vector<float> values(rows * inputs);
                for (std::size_t at = 0; at < values.size(); ++at) {
                    const double u = uniform01(randomWords(seed, RandomStream::data, at).x);
                    // Halves of a step, too, which are rounded to even; and beyond what calibration has seen.
                    values[at] = at % 3 == 0 ? std::floor(static_cast<float>(600 * u - 300)) / 2
                                             : static_cast<float>(300 * u - 150);
                }
                std::vector<float> range(2 * inputs, -55);
                std::fill_n(range.begin(), inputs, 200.0f); // steps of 1
                const auto plain = makeInt8Inference(shape, parameters, range, Int8Kernels::plain);
                const auto native = makeInt8Inference(shape, parameters, range, Int8Kernels::native);
                CHECK(plain->outputs(values) == native->outputs(values));
                CHECK(plain->machine().kernels != native->machine().kernels);
            }
}

TEST_CASE("calibration takes examples from the whole training split") {
    const Dataset few = classData(5, 3, 40);
    CHECK(calibrationOf(few) == few.train.values);
    const Dataset many = classData(5, 3, 1250);
    const std::vector<float> some = calibrationOf(many);
    REQUIRE(some.size() == 500 * 5);
    CHECK(std::equal(some.begin(), some.begin() + 5, many.train.values.begin()));
    CHECK(std::equal(some.end() - 5, some.end(), many.train.values.begin() + 1247 * 5)); // 499 * 2.5
    const TrainJob job = jobFor(many, {9});
    const std::vector<float> parameters = trained(job, 100);
    const auto network = makeInt8Inference(job.shape, parameters, some);
    const Evaluation found = evaluateInt8(job, parameters);
    CHECK(found.count == many.test.count);
    CHECK(found.accuracy == accuracyOf(*network, job));
}

TEST_CASE("Fashion-MNIST in int8 is as accurate as in fp32, within half a percent") {
    const Dataset data = loadDataset("fashion-mnist", {});
    TrainJob job;
    job.data = &data;
    job.shape.widths = {784, 256, 128, 10};
    const std::vector<float> parameters = trained(job, (sanitized ? 1 : 3) * job.order().stepsPerEpoch());
    const double exact = accuracyOf(*makeInference(job.shape, parameters), job);
    const double integers =
        accuracyOf(*makeInt8Inference(job.shape, parameters, inputsOf(data, Split::train, 0, 500)), job);
    MESSAGE("test accuracy in fp32 ", 100 * exact, " %, in int8 ", 100 * integers, " %");
    CHECK(exact > (sanitized ? 0.8 : 0.84));
    CHECK(std::abs(integers - exact) < 0.005);
}
