// Shaders that note when their workgroups run: every kernel of a step can, and computes the same.
#include <doctest/doctest.h>

#include <set>
#include <stdexcept>
#include <tuple>

#include "engine/gpu/reflection.h"
#include "engine/gpu/workgroup_clock.h"
#include "engine/step/shaders.h"
#include "engine/step/step_trace.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("a module with a clock has one buffer more, and the workgroups of before") {
    for (const char* shader : {"dense_naive", "dense_tiled", "update", "gather_batch", "loss_and_gradient"}) {
        CAPTURE(shader);
        const auto words = shaderWords(shader);
        REQUIRE_FALSE(words.empty());
        const gpu::ShaderInfo before = gpu::reflect(words, {}, shader);
        const auto bindings = static_cast<std::uint32_t>(before.bindings.size());
        const auto clocked = gpu::withWorkgroupClock(words, shader, bindings);
        const gpu::ShaderInfo after = gpu::reflect(clocked, {}, shader);
        REQUIRE(after.bindings.size() == bindings + 1);
        CHECK(after.bindings.back().binding == bindings);
        CHECK(after.pushConstantBytes == before.pushConstantBytes);
        CHECK(after.sharedBytes == before.sharedBytes);
        for (int axis = 0; axis < 3; ++axis) CHECK(after.groupSize[axis] == before.groupSize[axis]);
    }
    const std::vector<std::uint32_t> nonsense = {0x07230203, 0x00010000, 0, 8, 0};
    CHECK_THROWS_AS(gpu::withWorkgroupClock(nonsense, "nonsense", 0), std::runtime_error);
}

TEST_CASE("records are read as they are written, as far as there is room") {
    std::vector<std::uint32_t> words(gpu::clockHeaderWords + 2 * gpu::clockRecordWords);
    CHECK(gpu::workgroupTimes(words).empty());
    words[0] = 3; // one more than fits
    const std::size_t second = gpu::clockHeaderWords + gpu::clockRecordWords;
    words[second] = 5;
    words[second + 1] = 1;
    words[second + 2] = 7;
    words[second + 3] = 2;
    words[second + 5] = 4;
    const auto times = gpu::workgroupTimes(words);
    REQUIRE(times.size() == 2);
    CHECK(times[1].begin == (std::uint64_t{1} << 32) + 5);
    CHECK(times[1].end == (std::uint64_t{2} << 32) + 7);
    CHECK(times[1].group[1] == 4);
}

TEST_CASE("every workgroup of every operation notes its time once, and the step is as without") {
    const Dataset data = pixelData(784, 10, 300);
    TrainJob job = jobFor(data, {65, 33});
    job.settings.optimizer.kind = Optimizer::adam;
    for (const std::string_view rung :
         {"naive", "tiled", "blocked", "texel", "fused", "whole-step", "best"}) {
        CAPTURE(rung);
        TrainJob own = job;
        if (rung == "whole-step") own.shape.widths = {784, 4, 10};
        std::unique_ptr<Trainer> plain;
        try {
            plain = makeGpuTrainer(own, rung, testDevice());
        } catch (const std::exception&) {
            continue; // a whole step that does not fit here
        }
        const auto clocked = makeGpuTrainer(own, rung, testDevice());
        for (int step = 0; step < 2; ++step) {
            const StepTrace without = plain->traceStep({});
            const StepTrace with = clocked->traceStep({.workgroups = true});
            CHECK(with.loss == without.loss);
            CHECK(with.clocked);
            CHECK_FALSE(without.clocked);
            REQUIRE(with.operations.size() == without.operations.size());
            if (!testDevice().limits().deviceClock) {
                CHECK_FALSE(with.noWorkgroups.empty());
                continue;
            }
            CHECK(with.noWorkgroups.empty());
            for (std::size_t i = 0; i < with.operations.size(); ++i) {
                const TracedOperation& operation = with.operations[i];
                CAPTURE(operation.name());
                CHECK(without.operations[i].workgroups.empty());
                CHECK_FALSE(operation.workgroups.empty());
                std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>> groups;
                for (const gpu::WorkgroupTime& each : operation.workgroups) {
                    groups.emplace(each.group[0], each.group[1], each.group[2]);
                    CHECK(each.begin <= each.end);
                }
                CHECK(groups.size() == operation.workgroups.size());
            }
        }
        CHECK(sameBits(clocked->state(), plain->state()));
    }
}

TEST_CASE("where no workgroups can be noted, the trace says why") {
    const Dataset data = classData();
    const TrainJob job = jobFor(data, {9});
    CHECK_FALSE(
        makeGpuTrainer(job, "one", testDevice())->traceStep({.workgroups = true}).noWorkgroups.empty());
    CHECK_FALSE(makeCpuTrainer(job, "simd", 1)->traceStep({.workgroups = true}).noWorkgroups.empty());
}
