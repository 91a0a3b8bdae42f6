// Populations on a Vulkan device: every layout trains each network as the plain loops do when they train it
// alone, however the work is divided.
#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "engine/gpu/error.h"
#include "engine/grid/population.h"
#include "engine/grid/population_gpu.h"
#include "engine/net/param_layout.h"
#include "tests/environment.h"
#include "tests/population_alone.h"
#include "tests/population_gpu_jobs.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// Largest relative difference of the batch losses of these members from those of the same network alone.
double distanceFromAlone(const PopulationJob& job, PopulationLayout layout, std::vector<std::size_t> members,
                         gpu::Device& device = testDevice()) {
    const auto population = makeGpuPopulation(device, job, layout);
    std::vector<std::vector<LossPoint>> expected;
    expected.reserve(members.size());
    for (const std::size_t member : members) expected.push_back(lossesAlone(job, member, job.steps));
    double largest = 0;
    for (std::uint64_t step = 0; step < job.steps; step += step < 8 ? 1 : 7) {
        population->trainTo(step + 1);
        const std::vector<MemberResult> results = population->results();
        for (std::size_t k = 0; k < members.size(); ++k) {
            const auto own = static_cast<double>(results[members[k]].batchLoss);
            const auto other = static_cast<double>(expected[k][step].loss);
            CHECK(results[members[k]].steps == step + 1);
            largest = std::max(largest, std::abs(own - other) / std::max(std::abs(other), 1e-6));
        }
    }
    return largest;
}

std::vector<float> allParameters(Population& population) {
    std::vector<float> all;
    for (std::size_t member = 0; member < population.job().members.size(); ++member) {
        const std::vector<float> own = population.parameters(member);
        all.insert(all.end(), own.begin(), own.end());
    }
    return all;
}

} // namespace

TEST_CASE("each layout trains networks as the plain loops train each alone: optimizers and activations") {
    for (const PopulationLayout layout : layouts)
        for (const Optimizer optimizer : allOptimizers) {
            CAPTURE(name(layout));
            CAPTURE(name(optimizer));
            PopulationJob job = jobOf(twoClasses(), 6);
            job.settings.optimizer.kind = optimizer;
            job.settings.optimizer.nesterov = optimizer == Optimizer::momentum;
            job.settings.optimizer.schedule = Schedule::cosine;
            job.settings.optimizer.l1 = 0.001;
            for (std::size_t k = 0; k < job.members.size(); ++k) {
                const std::size_t kind = static_cast<std::size_t>(optimizer);
                job.members[k].activation =
                    allActivations[(k + 3 * kind) % std::size(allActivations)]; // several at once
                job.members[k].momentum = 0.5 + 0.05 * static_cast<double>(k);
                job.members[k].weightDecay = 0.01 * static_cast<double>(k);
                job.members[k].seed = 1 + k;
                if (kind > 1) *job.members[k].learningRate *= 0.1;
            }
            CHECK(distanceFromAlone(job, layout, {0, 1, 2, 3, 4, 5}) < 1e-4);
        }
}

TEST_CASE("likewise losses, depths and outputs") {
    const Dataset classes = classData(3, 3, 45);
    const Dataset values = valueData();
    const std::vector<std::vector<std::size_t>> depths = {{}, {4}, {3, 2, 3, 2}};
    for (const PopulationLayout layout : layouts)
        for (const Loss loss :
             {Loss::crossEntropy, Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy}) {
            CAPTURE(name(layout));
            CAPTURE(name(loss));
            const bool regression = loss == Loss::huber;
            PopulationJob job =
                jobOf(regression ? values : classes, 3, depths[static_cast<std::size_t>(loss) % 3]);
            job.shape.loss = loss;
            job.shape.widths.back() = outputsFor(*job.data.front(), loss);
            if (loss == Loss::meanSquared) job.shape.outputActivation = Activation::tanh;
            job.steps = 60;
            CHECK(distanceFromAlone(job, layout, {0, 2}) < 1e-4);
        }
}

TEST_CASE("awkward numbers of networks, batches of one and of everything, own seeds and data") {
    const Dataset noisy = [] {
        Dataset data = twoClasses();
        for (float& value : data.train.values) value += 0.25f;
        return data;
    }();
    for (const PopulationLayout layout : layouts)
        for (const std::size_t members : {1, 1023, 1025}) {
            CAPTURE(name(layout));
            CAPTURE(members);
            PopulationJob job = jobOf(twoClasses(), members, {2});
            job.data.push_back(&noisy);
            job.settings.batch = members == 1023 ? 1000 : members == 1 ? 1 : 10;
            job.steps = members == 1 ? 100 : 16;
            for (std::size_t k = 0; k < members; ++k) {
                job.members[k].data = k % 2;
                if (members == 1025) job.members[k].seed = k;
            }
            CHECK(distanceFromAlone(job, layout, {0, members / 2, members - 1}) < 1e-4);
        }
}

TEST_CASE("without shuffling the order is the file's") {
    PopulationJob job = jobOf(twoClasses(), 2);
    job.settings.shuffle = false;
    for (const PopulationLayout layout : layouts) CHECK(distanceFromAlone(job, layout, {0, 1}) < 1e-4);
}

TEST_CASE("runs repeat to the bit, in slices of time and in one go, and after a reset") {
    for (const PopulationLayout layout : layouts) {
        CAPTURE(name(layout));
        PopulationJob job = jobOf(twoClasses(), 40);
        job.settings.optimizer.kind = Optimizer::adam;
        for (std::size_t k = 0; k < 40; ++k) job.members[k].seed = k;
        job.steps = 300;
        const auto whole = makeGpuPopulation(testDevice(), job, layout);
        whole->trainTo(300);
        const std::vector<float> expected = allParameters(*whole);
        const auto sliced = makeGpuPopulation(testDevice(), job, layout);
        while (sliced->advance(1)) {
        }
        CHECK(std::ranges::equal(allParameters(*sliced), expected, sameFloat));
        whole->reset();
        CHECK(std::ranges::equal(whole->parameters(3), job.initialParameters(3), sameFloat));
        whole->trainTo(123);
        CHECK(whole->results()[39].steps == 123);
        whole->trainTo(1000);
        CHECK(whole->results()[39].steps == 300);
        CHECK(std::ranges::equal(allParameters(*whole), expected, sameFloat));
    }
}

TEST_CASE("a network that diverges stays as it was before that step, and the others go on") {
    for (const PopulationLayout layout : layouts) {
        CAPTURE(name(layout));
        PopulationJob job = jobOf(twoClasses(), 9, {3, 3, 3});
        job.shape.loss = Loss::meanSquared;
        job.shape.widths.back() = 1;
        for (PopulationMember& member : job.members) member.activation = Activation::relu;
        job.members[4].learningRate = 1e5;
        job.members[5].initialScale = 1e6; // of four layers; the loss is a square
        job.members[8].initialScale = 1e4; // its first step makes weights whose products are no floats
        job.members[8].learningRate = 1e6;
        job.members[5].activation = job.members[8].activation = Activation::identity;
        const auto population = makeGpuPopulation(testDevice(), job, layout);
        CHECK(population->summary().begun == 0);
        checkSummary(job, *population);
        population->trainTo(100);
        const std::vector<MemberResult> results = population->results();
        std::uint64_t failed = 0;
        const auto alone = makeCpuTrainer(job.alone(4), "scalar", 1);
        TrainerState state = alone->state();
        state.parameters = job.initialParameters(4);
        alone->restore(state);
        try {
            train(*alone, 100);
        } catch (const NonFiniteError& error) {
            failed = error.step;
        }
        CHECK(results[4].diverged);
        CHECK(results[4].steps == failed);
        CHECK(results[5].diverged);
        CHECK(results[5].steps == 0);
        CHECK(std::ranges::equal(population->parameters(5), job.initialParameters(5), sameFloat));
        CHECK(results[3].steps == 100);
        CHECK(!results[6].diverged);
        checkSummary(job, *population);
        const DecisionMapOptions options = mapOptions(job.shape);
        const auto picture = population->decisionMaps(options);
        CHECK(picture[2 * options.width() * options.cells + 2 * options.cells] == options.colours.background);
    }
}

TEST_CASE("the best layout is one of them, and says so") {
    const auto population = makeGpuPopulation(testDevice(), jobOf(twoClasses(), 33));
    population->trainTo(100);
    CHECK(population->machine().gpu);
    CHECK(population->machine().kernels.find("a network per ") == 0);
    CHECK(population->results()[32].steps == 100);
}

TEST_CASE("the largest shapes, on a device that offers no more than it must") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    const Dataset data = classData(8, 8, 450);
    for (const std::vector<std::size_t>& hidden :
         {std::vector<std::size_t>{59}, std::vector<std::size_t>{14, 15, 15, 15}}) {
        PopulationJob job = jobOf(data, 3, hidden);
        job.settings.optimizer.kind = Optimizer::adam;
        job.members[1].activation = Activation::silu;
        for (PopulationMember& member : job.members) *member.learningRate *= 0.1;
        job.settings.batch = hidden.size() == 1 ? 450 : 10;
        job.steps = 5;
        CAPTURE(job.shape.parameters());
        CHECK(distanceFromAlone(job, PopulationLayout::workgroup, {0, 1}, device) < 1e-4);
    }
}

TEST_CASE("what does not fit is refused with the largest that does") {
    const Dataset data = classData(8, 8, 45);
    PopulationJob job = jobOf(data, 2, {40});
    job.settings.optimizer.kind = Optimizer::adam;
    const auto messageOf = [&](PopulationLayout layout) {
        try {
            makeGpuPopulation(testDevice(), job, layout);
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(messageOf(PopulationLayout::invocation).find("at most") != std::string::npos);
    CHECK(messageOf(PopulationLayout::workgroup).empty());
    job.members.resize(65536, job.members.front()); // 688 parameters each: 180 MB
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    try {
        makeGpuPopulation(device, job, PopulationLayout::workgroup);
        FAIL("so many do not fit into one binding");
    } catch (const gpu::OutOfMemoryError& error) {
        CHECK(std::string(error.what()).find("48770 networks fit") != std::string::npos);
    }
}

TEST_CASE("a layout that takes no batch of that size names the largest that it takes") {
    const Dataset data = classData(2, 2, 120000);
    PopulationJob job = jobOf(data, 2);
    job.settings.batch = 70000;
    for (const PopulationLayout layout : layouts) {
        CAPTURE(name(layout));
        const std::string why = populationPlan(testDevice(), job, layout).refusal;
        if (why.empty()) continue;
        CAPTURE(why);
        const std::size_t at = why.find("a batch of ");
        REQUIRE(at != std::string::npos);
        job.settings.batch = std::stoul(why.substr(at + 11));
        CHECK(populationPlan(testDevice(), job, layout).refusal.empty());
        ++job.settings.batch;
        CHECK(!populationPlan(testDevice(), job, layout).refusal.empty());
        job.settings.batch = 70000;
    }
}

TEST_CASE("scores of many examples count as what has to fit") {
    const Dataset data = classData(2, 2, 300000); // a third of them to test
    PopulationJob job = jobOf(data, 1, {127});
    job.shape.loss = Loss::meanSquared;
    job.shape.widths.back() = 1;
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    requirePopulationMemory(device, job);
    job.members.resize(65536, job.members.front()); // 509 parameters each find room
    std::string message;
    try {
        requirePopulationMemory(device, job);
    } catch (const gpu::OutOfMemoryError& error) {
        message = error.what();
    }
    CAPTURE(message);
    const std::size_t at = message.find(" networks fit.");
    REQUIRE(at != std::string::npos);
    job.members.resize(std::stoul(message.substr(message.rfind(' ', at - 1) + 1)));
    CHECK(job.members.size() > 30000);
    requirePopulationMemory(device, job);
    job.members.resize(job.members.size() + 1, job.members.front());
    CHECK_THROWS_AS(requirePopulationMemory(device, job), gpu::OutOfMemoryError);
}

TEST_CASE("examples that do not fit are refused with as many as do") {
    const Dataset data = classData(8, 8, 30000);
    PopulationJob job = jobOf(data, 2);
    job.data.resize(200, &data);
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    gpu::Device device(options);
    CHECK_THROWS_WITH(requirePopulationMemory(device, job), doctest::Contains("examples fit"));
}

TEST_CASE("validation is silent" * doctest::skip(onWindows)) {
    std::mutex mutex;
    std::vector<gpu::ValidationMessage> messages;
    gpu::DeviceOptions options = testDeviceOptions();
    options.validation = true;
    options.messages = [&](const gpu::ValidationMessage& message) {
        const std::lock_guard lock(mutex);
        messages.push_back(message);
    };
    {
        gpu::Device device(options);
        for (const PopulationLayout layout : layouts) {
            PopulationJob job = jobOf(twoClasses(), 70);
            job.settings.optimizer.kind = Optimizer::adam;
            job.members[9].activation = Activation::relu;
            for (std::size_t k = 0; k < 70; ++k) job.members[k].seed = k % 2;
            const auto population = makeGpuPopulation(device, job, layout);
            population->advance(5);
            population->trainTo(60);
            population->summary();
            for (int turn = 0; turn < 3; ++turn) population->decisionMapsOnDevice(mapOptions(job.shape));
            population->reset();
            population->advance(2);
        }
    }
    for (const gpu::ValidationMessage& message : messages) MESSAGE(message.id, ": ", message.text);
    CHECK(messages.empty());
}
