// Maps: the plain loops against textbook arithmetic in double, and all machines against them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "engine/cpu/simd_kernels.h"
#include "engine/grid/map.h"
#include "tests/environment.h"
#include "tests/test_device.h"

using namespace lockstep;

namespace {

MapJob job(std::size_t inputs, std::size_t hidden, Activation activation, std::size_t examples,
           std::uint32_t steps) {
    MapJob result;
    result.inputs = inputs;
    result.hidden = hidden;
    result.activation = activation;
    result.examples = examples;
    result.steps = steps;
    return result;
}

/// Awkward and ordinary shapes, every activation.
std::vector<MapJob> jobs() {
    return {job(8, 8, Activation::tanh, 16, 50),   job(1, 1, Activation::tanh, 1, 30),
            job(2, 4, Activation::relu, 7, 40),    job(3, 5, Activation::identity, 17, 25),
            job(16, 16, Activation::tanh, 33, 12), job(7, 16, Activation::relu, 40, 20)};
}

/// Initial weights of up to a million: tanh is 1 to the bit there.
MapJob farOut() {
    MapJob result = job(8, 8, Activation::tanh, 16, 50);
    result.axes = MapAxes::rateAndScale;
    return result;
}

/// A grid of points over the whole plane.
std::vector<MapPoint> grid(std::uint32_t width, std::uint32_t height) {
    std::vector<MapPoint> points;
    for (std::uint32_t row = 0; row < height; ++row)
        for (std::uint32_t column = 0; column < width; ++column)
            points.push_back(MapWindow{-3, 6, -3, 6}.point(column, row, width, height));
    return points;
}

bool sameBits(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

std::vector<MapOutcome> plainOutcomes(const MapJob& of, const std::vector<MapPoint>& points) {
    std::vector<MapOutcome> outcomes;
    outcomes.reserve(points.size());
    for (const MapPoint point : points) outcomes.push_back(plainMapOutcome(of, point));
    return outcomes;
}

/// A network in double, whose gradients are differences of its mean squared error.
struct TextbookNetwork {
    const MapJob& job;
    MapData data = mapData(job);
    std::vector<double> weights; // of both layers

    TextbookNetwork(const MapJob& of, double scale) : job(of) {
        for (const float weight : data.firstWeights) weights.push_back(scale * weight);
        for (const float weight : data.secondWeights) weights.push_back(scale * weight);
    }

    double f(double z) const {
        if (job.activation == Activation::tanh) return std::tanh(z);
        return job.activation == Activation::relu ? std::max(z, 0.0) : z;
    }

    double loss() const {
        double sum = 0;
        for (std::size_t e = 0; e < job.examples; ++e) {
            double y = 0;
            for (std::size_t h = 0; h < job.hidden; ++h) {
                double z = 0;
                for (std::size_t i = 0; i < job.inputs; ++i)
                    z += weights[h * job.inputs + i] * static_cast<double>(data.inputs[e * job.inputs + i]);
                y += weights[job.hidden * job.inputs + h] * f(z);
            }
            const double error = y / static_cast<double>(job.hidden) - static_cast<double>(data.targets[e]);
            sum += error * error;
        }
        return sum / static_cast<double>(job.examples);
    }

    void step(double firstRate, double secondRate) {
        constexpr double h = 1e-6;
        std::vector<double> gradient;
        for (double& weight : weights) {
            const double kept = weight;
            weight = kept + h;
            const double above = loss();
            weight = kept - h;
            gradient.push_back((above - loss()) / (2 * h));
            weight = kept;
        }
        for (std::size_t k = 0; k < weights.size(); ++k)
            weights[k] -= (k < job.hidden * job.inputs ? firstRate : secondRate) * gradient[k];
    }

    /// As the header of map.h says, of a training that does not diverge.
    double outcome(double firstRate, double secondRate) {
        const double first = loss();
        double sum = 0;
        double tail = 0;
        for (std::uint32_t s = 0; s < job.steps; ++s) {
            const double now = loss();
            sum += now / first;
            if (s + mapTail >= job.steps) tail += now / first;
            step(firstRate, secondRate);
        }
        const bool better = tail / std::min(job.steps, mapTail) < 1;
        return better ? std::min(sum / job.steps, 1.0) : -static_cast<double>(job.steps);
    }
};

struct Agreement {
    double sameSide = 0; ///< share
    double close = 0;    ///< share: the same but for a thousandth
};

Agreement agreement(const std::vector<MapOutcome>& a, const std::vector<MapOutcome>& b) {
    Agreement result;
    for (std::size_t k = 0; k < a.size(); ++k) {
        const double one = static_cast<double>(a[k]);
        const double other = static_cast<double>(b[k]);
        result.sameSide += (one >= 0) == (other >= 0);
        result.close += std::abs(one - other) <= 1e-3 * std::max(std::abs(one), std::abs(other));
    }
    result.sameSide /= static_cast<double>(a.size());
    result.close /= static_cast<double>(a.size());
    return result;
}

std::vector<MapOutcome> trained(MapTrainer& trainer, const std::vector<MapPoint>& points) {
    std::vector<MapOutcome> outcomes(points.size(), 7.0f);
    trainer.train(points, outcomes);
    return outcomes;
}

/// The networks of `points` by one table.
std::vector<MapOutcome> byTable(const MapKernels& kernels, const MapJob& of,
                                const std::vector<MapPoint>& points) {
    REQUIRE(of.inputs == mapColumns(of.inputs)); // no padding here
    const MapData data = mapData(of);
    const MapProblem problem{of.inputs,
                             of.hidden,
                             of.examples,
                             of.activation,
                             of.steps,
                             tailOf(of),
                             data.inputs.data(),
                             data.targets.data(),
                             data.firstWeights.data(),
                             data.secondWeights.data()};
    std::vector<MapOutcome> outcomes;
    for (std::size_t first = 0; first < points.size(); first += kernels.elements) {
        const std::size_t count = std::min(kernels.elements, points.size() - first);
        std::vector<shared::MapStart> starts;
        for (std::size_t k = 0; k < count; ++k) starts.push_back(startOf(of, points[first + k]));
        std::vector<shared::MapEnd> ends(count);
        kernels.train(problem, starts.data(), count, ends.data());
        for (const shared::MapEnd& end : ends) outcomes.push_back(outcomeOf(of, end));
    }
    return outcomes;
}

std::string refusal(const MapJob& of) {
    try {
        of.validate();
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("the plain loops train as differences of the loss in double do") {
    for (const MapJob& of : {job(3, 4, Activation::tanh, 6, 30), job(2, 3, Activation::identity, 5, 30),
                             job(1, 2, Activation::tanh, 1, 5)}) {
        const std::pair<float, float> rates[] = {{0.5f, 0.5f}, {3.0f, 0.1f}, {0.01f, 6.0f}, {2.0f, 2.0f}};
        for (const auto& [x, y] : rates) {
            const double expected =
                TextbookNetwork(of, 1).outcome(static_cast<double>(x), static_cast<double>(y));
            CHECK(static_cast<double>(plainMapOutcome(of, {x, y})) ==
                  doctest::Approx(expected).epsilon(1e-3));
        }
    }
    MapJob scaled = job(3, 4, Activation::tanh, 6, 30);
    scaled.axes = MapAxes::rateAndScale;
    const double expected = TextbookNetwork(scaled, 0.25).outcome(1.5, 1.5);
    CHECK(static_cast<double>(plainMapOutcome(scaled, {1.5f, 0.25f})) ==
          doctest::Approx(expected).epsilon(1e-3));
}

TEST_CASE("small rates converge slowly, huge ones diverge at once, and nothing is ever NaN") {
    for (const MapJob& of : jobs()) {
        const float slow = plainMapOutcome(of, {1e-3f, 1e-3f});
        CHECK(slow > 0.5f);
        CHECK(slow <= 1.0f);
        const float fast = plainMapOutcome(of, {1e20f, 1e20f});
        CHECK(fast < 0);
        CHECK(fast >= -2);
        for (const float x : {1e-30f, 1e-3f, 1.0f, 1e3f, 1e30f, 3e38f})
            for (const float y : {1e-30f, 1.0f, 1e30f, 3e38f})
                CHECK(!std::isnan(plainMapOutcome(of, {x, y})));
    }
    MapJob scaled = job(4, 4, Activation::relu, 8, 20);
    scaled.axes = MapAxes::rateAndScale;
    CHECK(plainMapOutcome(scaled, {0.1f, 1e30f}) == -0.001f); // the very first loss is beyond all floats
    CHECK(plainMapOutcome(job(4, 4, Activation::tanh, 8, 1), {0.1f, 0.1f}) == -1); // no step, no better
}

TEST_CASE("a divergence is told between steps: the step grows as the rate shrinks, without jumps") {
    const MapJob of = job(8, 8, Activation::identity, 16, 200);
    float before = 0;
    for (int k = 0; k < 60; ++k) {
        const float rate = std::pow(10.0f, 4.0f - 0.02f * static_cast<float>(k));
        const float outcome = plainMapOutcome(of, {rate, rate});
        REQUIRE(outcome < 0);
        if (k > 0) {
            CHECK(outcome < before);
            CHECK(outcome > before - 0.3f);
        }
        before = outcome;
    }
}

TEST_CASE("every instruction set computes what the plain loops do, whatever the number of networks") {
    for (const VectorLevel level : {VectorLevel::baseline, VectorLevel::avx2, VectorLevel::avx512}) {
        if (level > vectorLevel()) continue;
        const MapKernels& kernels = vectorTables(level).map;
        for (const MapJob& of :
             {job(8, 8, Activation::tanh, 16, 50), job(2, 5, Activation::relu, 17, 30),
              job(16, 16, Activation::tanh, 33, 10), job(4, 3, Activation::identity, 1, 40), farOut()}) {
            const std::vector<MapPoint> points = grid(9, 7);
            const std::vector<MapOutcome> expected = plainOutcomes(of, points);
            const std::vector<MapOutcome> outcomes = byTable(kernels, of, points);
            CAPTURE(name(level));
            // Without fused multiply-adds a sum is rounded twice now and then.
            const bool fuses = level != VectorLevel::baseline;
            for (std::size_t k = 0; k < points.size() && fuses; ++k)
                CHECK(sameBits(outcomes[k], expected[k]));
            CHECK(agreement(outcomes, expected).sameSide > 0.98);
            CHECK(agreement(outcomes, expected).close > 0.95);
        }
    }
}

TEST_CASE("the processor's outcomes do not depend on threads, order or how many are asked for") {
    for (const MapJob& of : jobs()) {
        const std::vector<MapPoint> points = grid(13, 9);
        const std::vector<MapOutcome> expected = plainOutcomes(of, points);
        for (const std::size_t threads : {1u, 2u, 3u}) {
            const auto cpu = makeCpuMapTrainer(of, threads);
            CHECK(cpu->machine().threads == threads);
            CHECK(agreement(trained(*cpu, points), expected).close == 1);
            const std::vector<MapOutcome> forwards = trained(*cpu, points);
            const std::vector<MapOutcome> backwards =
                trained(*cpu, std::vector<MapPoint>(points.rbegin(), points.rend()));
            CHECK(std::equal(forwards.begin(), forwards.end(), backwards.rbegin()));
            for (const std::size_t count : {1u, 7u}) {
                const std::vector<MapPoint> few(points.end() - static_cast<std::ptrdiff_t>(count),
                                                points.end());
                const std::vector<MapOutcome> outcomes = trained(*cpu, few);
                CHECK(std::equal(outcomes.rbegin(), outcomes.rend(), forwards.rbegin()));
            }
            CHECK(trained(*cpu, {}).empty());
            CHECK(cpu->pointsFor(0) >= threads);
            CHECK(cpu->pointsFor(1000) >= cpu->pointsFor(1));
        }
    }
}

TEST_CASE("GPUs train as the plain loops do") {
    std::vector<MapJob> all = jobs();
    all.push_back(farOut());
    for (const MapJob& of : all) {
        const auto gpu = makeGpuMapTrainer(testDevice(), of);
        CHECK(gpu->machine().gpu);
        const std::vector<MapPoint> points = grid(13, 9);
        const Agreement found = agreement(trained(*gpu, points), plainOutcomes(of, points));
        CAPTURE(of.inputs);
        // On the border rounding decides.
        CHECK(found.sameSide > 0.97);
        CHECK(found.close > 0.93);
    }
}

TEST_CASE("a GPU's outcomes do not depend on batches, slices and order") {
    const MapJob of = job(8, 8, Activation::tanh, 16, 200);
    const auto gpu = makeGpuMapTrainer(testDevice(), of);
    const std::vector<MapPoint> points = grid(41, 25); // 1,025
    const std::vector<MapOutcome> forwards = trained(*gpu, points);
    const std::vector<MapOutcome> backwards =
        trained(*gpu, std::vector<MapPoint>(points.rbegin(), points.rend()));
    CHECK(std::equal(forwards.begin(), forwards.end(), backwards.rbegin()));
    for (const std::size_t count : {1u, 7u}) {
        const std::vector<MapOutcome> few = trained(
            *gpu, std::vector<MapPoint>(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(count)));
        CHECK(std::equal(few.begin(), few.end(), forwards.begin()));
    }
    CHECK(trained(*gpu, {}).empty());
    const auto again = makeGpuMapTrainer(testDevice(), of);
    CHECK(trained(*again, points) == forwards);
    CHECK(gpu->pointsFor(1000) >= gpu->pointsFor(1));
}

TEST_CASE("more rounds than one dispatch may have are divided") {
    const MapJob of = job(2, 2, Activation::tanh, 512, 300); // 153,600 rounds
    const auto gpu = makeGpuMapTrainer(testDevice(), of);
    const std::vector<MapPoint> points = grid(5, 5);
    const Agreement found = agreement(trained(*gpu, points), plainOutcomes(of, points));
    CHECK(found.sameSide > 0.95);
    CHECK(found.close > 0.9);
}

TEST_CASE("maps are trained within a device's minimum limits, and validation is silent" *
          doctest::skip(test::onWindows)) {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    options.validation = true;
    std::string messages;
    options.messages = [&messages](const gpu::ValidationMessage& message) { messages += message.text; };
    gpu::Device device(options);
    const MapJob of = job(16, 16, Activation::tanh, 20, 30);
    const auto gpu = makeGpuMapTrainer(device, of);
    const std::vector<MapPoint> points = grid(17, 9);
    CHECK(agreement(trained(*gpu, points), plainOutcomes(of, points)).sameSide > 0.97);
    CHECK(messages == "");
}

TEST_CASE("floats end the zoom, and a window says so") {
    const MapWindow whole{-3, 6, -3, 6};
    CHECK(whole.resolves(4096, 4096));
    const MapPoint corner = whole.point(0, 0, 9, 9);
    CHECK(corner.x == doctest::Approx(std::pow(10.0, -2.5)));
    CHECK(corner.y == doctest::Approx(std::pow(10.0, 5.5))); // y grows upwards
    CHECK(MapWindow{1, 1 + 1e-4, 1, 1 + 1e-4}.resolves(512, 512));
    CHECK(!MapWindow{1, 1 + 1e-4, 1, 1 + 1e-6}.resolves(512, 512));
    CHECK(!MapWindow{1, 1 + 1e-6, 1, 1 + 1e-4}.resolves(512, 512));
    CHECK(MapWindow{1, 1 + 1e-6, 1, 1 + 1e-6}.resolves(2, 2));
}

TEST_CASE("a job that cannot be mapped is refused with the largest that can") {
    CHECK(refusal(MapJob{}).empty());
    CHECK(refusal(job(17, 8, Activation::tanh, 16, 200)).find("1 to 16 inputs, not 17") != std::string::npos);
    CHECK(refusal(job(8, 0, Activation::tanh, 16, 200)).find("1 to 16 hidden") != std::string::npos);
    CHECK(refusal(job(8, 8, Activation::tanh, 513, 200)).find("1 to 512 examples") != std::string::npos);
    CHECK(refusal(job(8, 8, Activation::tanh, 16, 2001)).find("1 to 2000 steps") != std::string::npos);
    CHECK(refusal(job(8, 8, Activation::gelu, 16, 200)).find("not 'gelu'") != std::string::npos);
    CHECK(mapAxesFromName("rates") == MapAxes::rates);
    CHECK_THROWS_WITH(mapAxesFromName("rate"), doctest::Contains("did you mean 'rates'"));
    CHECK_THROWS_AS(makeCpuMapTrainer(job(8, 8, Activation::tanh, 0, 1), 1), std::invalid_argument);
    CHECK_THROWS_AS(makeGpuMapTrainer(testDevice(), job(8, 8, Activation::tanh, 0, 1)),
                    std::invalid_argument);
}
