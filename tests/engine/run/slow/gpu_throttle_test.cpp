// A GPU with a limit of workgroups at once: pieces with barriers between them, and the same bits.
#include <doctest/doctest.h>

#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

#include "engine/gpu/buffer.h"
#include "engine/gpu/recorder.h"
#include "engine/net/optimizer.h"
#include "engine/run/make_trainer.h"
#include "engine/step/shaders.h"
#include "shaders/shared/params.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

/// weights -= gradients / 2, with gradients 1, 2, 3, ..., by an update of workgroups of 64 vec4s.
struct Update {
    explicit Update(std::uint32_t groups) : count(64 * 4 * groups) {
        const std::uint32_t none = shared::noStep;
        status.uploadValues<std::uint32_t>({&none, 1});
        std::vector<float> numbers(count);
        std::iota(numbers.begin(), numbers.end(), 1.0f);
        gradients.uploadValues<float>(numbers);
    }

    /// The weights, from 7 on.
    std::vector<float> run() {
        weights.uploadValues<float>(std::vector<float>(count, 7));
        shared::UpdateParams params{};
        params.count = count;
        params.stride = count / 4;
        params.learningRate = 0.5f;
        params.weightKeep = 1;
        recorder.begin();
        recorder.dispatch(kernel, {count / 4, 1, 1}, params,
                          {status.view(), gradients.view(), weights.view(), weights.view(), weights.view()});
        recorder.submit();
        recorder.finish();
        return weights.downloadValues<float>(count);
    }

    std::uint32_t count;
    gpu::Device& device = testDevice();
    gpu::Buffer weights{device, count * 4, gpu::Memory::device, "weights"};
    gpu::Buffer gradients{device, count * 4, gpu::Memory::device, "gradients"};
    gpu::Buffer status{device, 4, gpu::Memory::device, "status"};
    gpu::Kernel<shared::UpdateParams> kernel{
        device,
        {"update", shaderWords("update"), {{0, 64}, {7, static_cast<std::uint32_t>(Optimizer::sgd)}}}};
    gpu::Recorder recorder{device};
};

} // namespace

TEST_CASE("a dispatch is cut into pieces with a barrier between, and computes the same") {
    Update update(10);
    const std::vector<float> reference = update.run();
    CHECK(reference.front() == 6.5f);
    struct Cut {
        std::uint64_t most, pieces;
    };
    for (const Cut& cut : {Cut{0, 1}, {1, 10}, {3, 4}, {4, 3}, {10, 1}, {11, 1}, {0, 1}}) {
        CAPTURE(cut.most);
        update.recorder.limitWorkgroups(cut.most);
        const std::uint64_t dispatches = update.recorder.dispatches();
        const std::uint64_t barriers = update.recorder.barriers();
        CHECK(update.run() == reference);
        CHECK(update.recorder.dispatches() - dispatches == cut.pieces);
        CHECK(update.recorder.barriers() - barriers == cut.pieces - 1);
    }
}

TEST_CASE("so many pieces go out in several submissions, each timed") {
    Update update(600);
    const std::vector<float> reference = update.run();
    update.recorder.takeFinished();
    const std::uint64_t dispatches = update.recorder.dispatches();
    update.recorder.limitWorkgroups(1);
    CHECK(update.run() == reference);
    CHECK(update.recorder.dispatches() - dispatches == 600);
    CHECK(update.recorder.takeFinished().size() == 3); // 256 pieces at most
}

TEST_CASE("a limit of workgroups changes no bit, is said, and adds dispatches and barriers") {
    const Dataset data = pixelData(784, 10, 300);
    const TrainJob job = jobFor(data, {65, 33});
    for (const std::string_view rung : {"naive", "blocked", "one", "best"}) {
        CAPTURE(rung);
        const auto free = makeGpuTrainer(job, rung, testDevice());
        const auto limited = makeGpuTrainer(job, rung, testDevice(), {}, 2);
        train(*free, 20);
        train(*limited, 20);
        CHECK(sameBits(limited->state(), free->state()));
        CHECK(free->machine().workgroups == 0);
        CHECK_FALSE(free->machine().throttled());
        CHECK(limited->machine().workgroups == 2);
        CHECK(limited->machine().kernels == free->machine().kernels); // chosen without the limit
        if (rung == "one") continue;
        CHECK(free->machine().dispatches > 0);
        CHECK(limited->machine().dispatches > free->machine().dispatches);
        CHECK(limited->machine().barriers > free->machine().barriers);
    }
}
