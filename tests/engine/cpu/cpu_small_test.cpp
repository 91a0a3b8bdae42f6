// Networks that fit into the L1 cache: checks their kernels against the plain loops for every instruction set
// of this CPU, and their backend in whole runs.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "engine/cpu/simd_kernels.h"
#include "engine/step/small_ops.h"
#include "engine/step/step_trace.h"
#include "tests/cpu_tables.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

struct SmallTable {
    std::string name;
    const SmallKernels* kernels;
};

std::vector<SmallTable> smallTables() {
    std::vector<SmallTable> result;
    for (const VectorLevel level : {VectorLevel::baseline, VectorLevel::avx2, VectorLevel::avx512})
        if (level <= vectorLevel()) result.push_back({name(level), &vectorTables(level).small});
    return result;
}

/// [rows][stride of width] as [width][stride], filled up with the last row as the kernels expect it; neurons
/// up to the next multiple of the grain are 0.
template <class T>
std::vector<T> turned(const std::vector<T>& rows, std::size_t count, std::size_t width, std::size_t rowStride,
                      std::size_t stride, bool copies = true) {
    std::vector<T> result(roundUpToGrain(width) * stride);
    for (std::size_t i = 0; i < width; ++i)
        for (std::size_t row = 0; row < stride && (copies || row < count); ++row)
            result[i * stride + row] = rows[std::min(row, count - 1) * rowStride + i];
    return result;
}

double largest(const std::vector<float>& found, std::size_t stride, const std::vector<float>& expected,
               std::size_t count, std::size_t width, std::size_t rowStride) {
    double difference = 0;
    for (std::size_t row = 0; row < count; ++row)
        for (std::size_t i = 0; i < width; ++i)
            difference = std::fmax(difference, std::abs(static_cast<double>(found[i * stride + row]) -
                                                        static_cast<double>(expected[row * rowStride + i])));
    return difference;
}

constexpr std::size_t awkward[] = {1, 2, 3, 7, 8, 16, 17, 33};

} // namespace

TEST_CASE("small products match the plain loops for awkward shapes") {
    for (const SmallTable& table : smallTables())
        for (const std::size_t rows : {1, 7, 10, 16, 33})
            for (const std::size_t inputs : awkward)
                for (const std::size_t outputs : awkward) {
                    CAPTURE(table.name);
                    CAPTURE(rows);
                    CAPTURE(inputs);
                    CAPTURE(outputs);
                    const std::size_t in = roundUpToFour(inputs);
                    const std::size_t out = roundUpToFour(outputs);
                    const std::size_t stride = roundUpToGrain(rows);
                    const DenseShape plainShape{rows, inputs, outputs, in, out};
                    const SmallShape shape{rows, inputs, outputs, in, stride};
                    const auto x = numbers(rows, inputs, in, 1);
                    const auto w = numbers(outputs, inputs, in, 2);
                    const auto b = numbers(1, outputs, outputs, 3);
                    const auto d = numbers(rows, outputs, out, 4);
                    const auto xTurned = turned(x, rows, inputs, in, stride);
                    const auto dTurned = turned(d, rows, outputs, out, stride, false);

                    std::vector<float> y(rows * out), z(rows * out);
                    plain::dense(plainShape, x.data(), w.data(), b.data(), Activation::gelu, y.data(),
                                 z.data());
                    std::vector<float> ySmall(roundUpToGrain(outputs) * stride), zSmall(ySmall.size());
                    table.kernels->dense(shape, xTurned.data(), w.data(), b.data(), Activation::gelu,
                                         ySmall.data(), zSmall.data());
                    CHECK(largest(ySmall, stride, y, rows, outputs, out) < tolerance(inputs));
                    CHECK(largest(zSmall, stride, z, rows, outputs, out) < tolerance(inputs));

                    std::vector<float> dx(rows * in);
                    plain::denseBackwardInputs(plainShape, d.data(), w.data(), Activation::tanh, x.data(),
                                               dx.data());
                    std::vector<float> dxSmall(roundUpToGrain(inputs) * stride);
                    table.kernels->denseBackwardInputs(shape, dTurned.data(), w.data(), Activation::tanh,
                                                       xTurned.data(), dxSmall.data());
                    CHECK(largest(dxSmall, stride, dx, rows, inputs, in) < tolerance(outputs));

                    std::vector<float> dw(outputs * in), db(outputs);
                    plain::denseBackwardWeights(plainShape, d.data(), x.data(), 0, outputs, dw.data(),
                                                db.data());
                    auto dwSmall = w; // not read: keep is 0
                    dwSmall.push_back(canary);
                    auto dbSmall = b;
                    dbSmall.push_back(canary);
                    table.kernels->addWeightGradient(shape, dTurned.data(), xTurned.data(), 0, 1,
                                                     dwSmall.data(), dbSmall.data());
                    CHECK(dwSmall.back() == canary);
                    CHECK(dbSmall.back() == canary);
                    dwSmall.pop_back();
                    dbSmall.pop_back();
                    CHECK(distance(dwSmall, doubles(dw)) < tolerance(rows));
                    CHECK(distance(dbSmall, doubles(db)) < tolerance(rows));

                    auto wFolded = w;
                    auto bFolded = b;
                    table.kernels->addWeightGradient(shape, dTurned.data(), xTurned.data(), 0.5f, -0.25f,
                                                     wFolded.data(), bFolded.data());
                    for (std::size_t k = 0; k < w.size(); ++k) dw[k] = 0.5f * w[k] - 0.25f * dw[k];
                    CHECK(distance(wFolded, doubles(dw)) < tolerance(rows));
                }
}

TEST_CASE("small batches hold the examples that the order names, and copies of the last one") {
    const Dataset bytes = pixelData(5, 3, 301);
    const Dataset floats = classData(3, 3, 77);
    const Dataset values = valueData();
    for (const SmallTable& table : smallTables())
        for (const Dataset* data : {&bytes, &floats, &values})
            for (const bool shuffle : {false, true})
                for (const std::size_t batch : {1, 10, 32}) {
                    const BatchOrder order(data->train.count, batch, 9, shuffle);
                    const BatchRange range =
                        order.range(order.stepsPerEpoch() * 2 - 1); // the last of an epoch
                    const std::size_t in = roundUpToFour(data->inputs);
                    std::vector<float> x(range.rows * in);
                    std::vector<TargetWord> t(range.rows * data->targetWidth);
                    plain::gatherBatch(*data, data->train, order, range, 0, range.rows, in, x.data(),
                                       t.data());
                    const std::size_t stride = roundUpToGrain(batch);
                    std::vector<float> xSmall(roundUpToGrain(data->inputs) * stride);
                    std::vector<TargetWord> tSmall(data->targetWidth * stride);
                    std::vector<std::uint32_t> chosen(stride);
                    std::iota(chosen.begin(), chosen.end(), static_cast<std::uint32_t>(range.first));
                    if (shuffle)
                        table.kernels->orderExamples(range.first, range.rows, data->train.count,
                                                     orderKeys(9, range.epoch), chosen.data());
                    table.kernels->gatherBatch(*data, data->train, chosen.data(), range.rows, stride,
                                               xSmall.data(), tSmall.data());
                    for (std::size_t row = 0; row < range.rows + 3 && row < roundUpToGrain(range.rows);
                         ++row) {
                        if (row >= (range.rows + 3) / 4 * 4) continue; // behind the last vector of any width
                        const std::size_t from = std::min(row, range.rows - 1);
                        for (std::size_t i = 0; i < data->inputs; ++i)
                            CHECK(xSmall[i * stride + row] == x[from * in + i]);
                        for (std::size_t j = 0; j < data->targetWidth; ++j)
                            CHECK(tSmall[j * stride + row] == t[from * data->targetWidth + j]);
                    }
                }
}

TEST_CASE("small losses match the plain loops") {
    for (const SmallTable& table : smallTables())
        for (const auto& compared : {std::pair{Loss::crossEntropy, shared::targetClassIndex},
                                     {Loss::meanSquared, shared::targetSign},
                                     {Loss::meanSquared, shared::targetOneHot},
                                     {Loss::huber, shared::targetValues},
                                     {Loss::binaryCrossEntropy, shared::targetBit},
                                     {Loss::binaryCrossEntropy, shared::targetOneHot}})
            for (const std::size_t rows : {1, 9, 20}) {
                const Loss loss = compared.first;
                const std::uint32_t kind = compared.second;
                CAPTURE(table.name);
                CAPTURE(name(loss));
                const bool one = kind == shared::targetSign || kind == shared::targetBit;
                const std::size_t outputs = one ? 1 : 5;
                LossShape shape;
                shape.rows = rows;
                shape.outputs = outputs;
                shape.stride = roundUpToFour(outputs);
                shape.targetWidth = kind == shared::targetValues ? outputs : 1;
                shape.loss = loss;
                shape.targetKind = kind;
                shape.outputActivation = one ? Activation::tanh : Activation::identity;
                shape.scale = 0.125;
                const auto y = numbers(rows, outputs, shape.stride, 5, 4);
                std::vector<TargetWord> t(rows * shape.targetWidth);
                for (std::size_t k = 0; k < t.size(); ++k)
                    t[k] = kind == shared::targetValues
                               ? std::bit_cast<TargetWord>(0.5f * static_cast<float>(k % 7))
                               : static_cast<TargetWord>(k % (one ? 2 : outputs));
                std::vector<float> d(y.size());
                const double expected = plain::lossAndGradient(shape, y.data(), y.data(), t.data(), d.data());
                LossShape small = shape;
                small.stride = roundUpToGrain(rows);
                const auto ySmall = turned(y, rows, outputs, shape.stride, small.stride);
                const auto tSmall = turned(t, rows, shape.targetWidth, shape.targetWidth, small.stride);
                std::vector<float> dSmall(ySmall.size());
                const double found = table.kernels->lossAndGradient(small, ySmall.data(), ySmall.data(),
                                                                    tSmall.data(), dSmall.data());
                CHECK(found == doctest::Approx(expected).epsilon(2e-6));
                CHECK(largest(dSmall, small.stride, d, rows, outputs, shape.stride) < 1e-6);
                for (std::size_t j = 0; j < outputs; ++j) // copies of the last example count for nothing
                    for (std::size_t row = rows; row < (rows + 3) / 4 * 4; ++row)
                        CHECK(dSmall[j * small.stride + row] == 0);
            }
}

TEST_CASE("only cpu:best uses this backend, and only for small networks") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {16, 8});
    CHECK(fitsSmallOps(job.shape, job.settings.batch));
    CHECK(makeCpuTrainer(job, "best", 0)->machine().kernels.find("small networks") != std::string::npos);
    CHECK(makeCpuTrainer(job, "best", 4)->machine().threads == 1);
    CHECK(makeCpuTrainer(job, "simd", 0)->machine().kernels.find("small networks") == std::string::npos);
    NetShape wide;
    wide.widths = {784, 16, 10};
    CHECK_FALSE(fitsSmallOps(wide, 32));
}

TEST_CASE("small runs repeat themselves to the bit, and resume as if they had never stopped") {
    const Dataset data = classData();
    for (const Optimizer optimizer : {Optimizer::sgd, Optimizer::adamw}) {
        TrainJob job = jobFor(data, {16, 8});
        job.settings.optimizer.kind = optimizer;
        const auto first = makeCpuTrainer(job, "best", 0);
        const auto losses = train(*first, 40);
        const auto second = makeCpuTrainer(job, "best", 0);
        train(*second, 13);
        const auto third = makeCpuTrainer(job, "best", 0);
        third->restore(second->state());
        const auto rest = train(*third, 27);
        CHECK(sameBits(third->state(), first->state()));
        REQUIRE(losses.size() == 40);
        REQUIRE(rest.size() == 27);
        for (std::size_t i = 0; i < rest.size(); ++i) CHECK(rest[i].loss == losses[i + 13].loss);
        for (std::size_t i = 1; i < losses.size(); ++i) CHECK(losses[i].seconds >= losses[i - 1].seconds);
        CHECK(losses.front().seconds > 0);
    }
}

TEST_CASE("a small network's traced step trains to the same bits, and has every operation") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {16, 8});
    const auto plain = makeCpuTrainer(job, "best", 0);
    const auto traced = makeCpuTrainer(job, "best", 0);
    plain->run(2);
    traced->run(1);
    const StepTrace trace = traced->traceStep({});
    CHECK(sameBits(plain->state(), traced->state()));
    CHECK(trace.operations.size() == 1 + 3 + 1 + 2 + 3 + 1);
    CHECK(trace.find({TensorKind::activations, 0})->rows == 32);
}

TEST_CASE("a small network's loss that is not finite stops it, with the weights as they were") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {16, 8});
    const auto trainer = makeCpuTrainer(job, "best", 0);
    train(*trainer, 5);
    TrainerState broken = trainer->state();
    broken.parameters[0] = std::numeric_limits<float>::infinity();
    trainer->restore(broken);
    trainer->run(3);
    CHECK_THROWS_AS(trainer->completedSteps(), NonFiniteError);
    CHECK(sameBits(trainer->state(), broken));
}

TEST_CASE("settings can change while a small network trains") {
    const Dataset data = classData();
    TrainJob job = jobFor(data, {16, 8});
    job.settings.optimizer.kind = Optimizer::sgd;
    const auto reference = makeCpuTrainer(job, "scalar", 0);
    const auto trainer = makeCpuTrainer(job, "best", 0);
    OptimizerSettings next = job.settings.optimizer;
    next.learningRate = 0.02;
    next.l1 = 0.001; // cannot be folded
    for (Trainer* each : {reference.get(), trainer.get()}) {
        each->run(10);
        each->setOptimizer(next);
        each->run(30);
    }
    CHECK(lossDistance(train(*trainer, 10), train(*reference, 10)) < 1e-4);
}
