// What the tests of trainers share: small data sets, jobs on them, and how to compare runs.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "engine/net/random.h"
#include "tests/trainers_by_name.h"

namespace lockstep::test {

/// Examples whose class depends on their values, so that there is something to learn.
inline Examples blobs(std::size_t count, std::size_t inputs, std::size_t classes, std::uint64_t seed) {
    Examples examples;
    examples.count = count;
    for (std::size_t example = 0; example < count; ++example) {
        const std::size_t label = example % classes;
        for (std::size_t i = 0; i < inputs; ++i) {
            const shared::Random4 words = randomWords(seed, RandomStream::data, example * inputs + i);
            const double center = (i + label) % classes == 0 ? 1.0 : -0.3;
            examples.values.push_back(static_cast<float>(center + 0.7 * normalFromWords(words.x, words.y)));
        }
        examples.labels.push_back(static_cast<std::uint32_t>(label));
    }
    return examples;
}

inline Dataset classData(std::size_t inputs = 7, std::size_t classes = 3, std::size_t count = 100) {
    Dataset data;
    data.name = "blobs";
    data.inputs = inputs;
    data.classes = classes;
    for (std::size_t c = 0; c < classes; ++c) data.classNames.push_back(std::string(1, char('a' + c)));
    data.train = blobs(count, inputs, classes, 1);
    data.test = blobs(count / 3, inputs, classes, 2);
    return data;
}

/// The same examples as bytes, as images come.
inline Dataset pixelData(std::size_t inputs, std::size_t classes, std::size_t count) {
    Dataset data = classData(inputs, classes, count);
    for (Examples* split : {&data.train, &data.test}) {
        for (const float value : split->values)
            split->pixels.push_back(
                static_cast<std::uint8_t>(std::clamp(value * 60.0f + 90.0f, 0.0f, 255.0f)));
        split->values.clear();
    }
    return data;
}

/// Two targets per example: smooth functions of its values.
inline Dataset valueData() {
    Dataset data = classData();
    data.name = "curves";
    data.classes = 0;
    data.classNames.clear();
    data.targetWidth = 2;
    for (Examples* split : {&data.train, &data.test}) {
        split->labels.clear();
        for (std::size_t example = 0; example < split->count; ++example) {
            const float* x = split->values.data() + example * data.inputs;
            split->targets.push_back(std::sin(x[0]) + 0.5f * x[1]);
            split->targets.push_back(x[2] - x[3] * 0.3f);
        }
    }
    return data;
}

inline TrainJob jobFor(const Dataset& data, std::vector<std::size_t> hidden) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = {data.inputs};
    job.shape.widths.insert(job.shape.widths.end(), hidden.begin(), hidden.end());
    job.shape.widths.push_back(outputsFor(data, job.shape.loss));
    job.settings.batch = 32; // 100 examples: the last batch of an epoch has 4
    job.settings.seed = 5;
    return job;
}

inline std::vector<LossPoint> train(Trainer& trainer, std::uint64_t steps) {
    std::vector<LossPoint> losses;
    trainer.run(steps);
    trainer.finish();
    trainer.takeLosses(losses);
    return losses;
}

/// Largest relative difference of the losses of two runs.
inline double lossDistance(const std::vector<LossPoint>& a, const std::vector<LossPoint>& b) {
    REQUIRE(a.size() == b.size());
    double largest = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        REQUIRE(a[i].step == b[i].step);
        const double scale = std::max(std::abs(static_cast<double>(b[i].loss)), 1e-6);
        largest = std::max(largest,
                           std::abs(static_cast<double>(a[i].loss) - static_cast<double>(b[i].loss)) / scale);
    }
    return largest;
}

inline bool sameBits(const TrainerState& a, const TrainerState& b) {
    const auto same = [](const std::vector<float>& x, const std::vector<float>& y) {
        return std::ranges::equal(x, y, [](float p, float q) {
            return std::bit_cast<std::uint32_t>(p) == std::bit_cast<std::uint32_t>(q);
        });
    };
    if (a.step != b.step || !same(a.parameters, b.parameters)) return false;
    return std::ranges::equal(a.optimizerState, b.optimizerState, same);
}

struct CpuRung {
    std::string_view name;
    std::size_t threads;
};
inline constexpr CpuRung cpuRungs[] = {{"scalar", 1}, {"simd", 1}, {"threads", 2}, {"threads", 3},
                                       {"best", 1},   {"best", 2}, {"best", 3}};

/// A network large enough that `best` really splits its steps: 2 * 100k weights * 64 rows.
inline TrainJob largeJob(const Dataset& data) {
    TrainJob job = jobFor(data, {133, 65});
    job.settings.batch = 64;
    return job;
}

} // namespace lockstep::test
