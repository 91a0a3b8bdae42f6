// Samples per second of the processor's rungs, for comparison with pytorch_cpu.py: the same networks, batches
// and optimizers, on bytes as wide as Fashion-MNIST's pictures. Prints one JSON object: the median and the
// fastest step, and what each operation took.
//
//   cpu_bench [workload [rung [optimizer [threads [seconds]]]]]     W best sgd 0 2
//
// workloads: W = 784-256-128-10, batch 128; W-big = 784-2048-2048-10, batch 512; W-tiny = 2-8-8-1 tanh, batch
// 10
#include <fmt/core.h>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/net/random.h"
#include "engine/train/cpu_trainer.h"

using namespace lockstep;

namespace {

Dataset randomData(std::size_t inputs, std::size_t classes, std::size_t count, bool pixels) {
    Dataset data;
    data.name = "random";
    data.inputs = inputs;
    data.classes = classes;
    data.classNames.assign(classes, "?");
    data.train.count = count;
    for (std::size_t k = 0; k < count * inputs; k += 4) {
        const shared::Random4 words = randomWords(1, RandomStream::data, k);
        for (const std::uint32_t word : {words.x, words.y, words.z, words.w}) {
            if (pixels)
                data.train.pixels.push_back(static_cast<std::uint8_t>(word));
            else
                data.train.values.push_back(static_cast<float>(uniform01(word) * 2 - 1));
        }
    }
    data.train.pixels.resize(pixels ? count * inputs : 0);
    data.train.values.resize(pixels ? 0 : count * inputs);
    for (std::size_t k = 0; k < count; ++k)
        data.train.labels.push_back(randomWords(2, RandomStream::data, k).x %
                                    static_cast<std::uint32_t>(classes));
    return data;
}

struct Workload {
    Dataset data;
    TrainJob job;
};

void prepare(Workload& work, const std::string& name) {
    const bool tiny = name == "W-tiny";
    work.data = tiny ? randomData(2, 2, 400, false) : randomData(784, 10, 60000, true);
    work.job.data = &work.data;
    if (name == "W") {
        work.job.shape.widths = {784, 256, 128, 10};
        work.job.settings.batch = 128;
    } else if (name == "W-big") {
        work.job.shape.widths = {784, 2048, 2048, 10};
        work.job.settings.batch = 512;
    } else if (tiny) {
        work.job.shape.widths = {2, 8, 8, 1};
        work.job.shape.activation = Activation::tanh;
        work.job.shape.loss = Loss::meanSquared;
        work.job.settings.batch = 10;
    } else {
        throw std::invalid_argument("unknown workload '" + name + "' (known: W, W-big, W-tiny)");
    }
    work.job.settings.optimizer.learningRate = 0.01;
}

struct Rates {
    double median = 0;  ///< samples per second over all steps
    double fastest = 0; ///< one step in twenty is at least as fast: a machine shared with others, undisturbed
};

/// Steps until `seconds` are over, after some that do not count.
Rates measure(Trainer& trainer, std::size_t batch, double seconds) {
    std::vector<LossPoint> points;
    trainer.run(50);
    trainer.takeLosses(points);
    points.clear();
    const double begin = trainer.trainingSeconds();
    while (trainer.trainingSeconds() < begin + seconds) {
        trainer.run(100);
        trainer.takeLosses(points);
    }
    std::vector<double> times;
    for (std::size_t i = 1; i < points.size(); ++i)
        times.push_back(points[i].seconds - points[i - 1].seconds);
    std::ranges::sort(times);
    const auto samples = static_cast<double>(batch);
    return {samples / times[times.size() / 2], samples / times[times.size() / 20]};
}

void bench(const std::vector<std::string>& arguments) {
    const auto argument = [&](std::size_t index, const char* otherwise) {
        return index < arguments.size() ? arguments[index] : std::string(otherwise);
    };
    const std::string name = argument(0, "W");
    const std::string rung = argument(1, "best");
    Workload work;
    prepare(work, name);
    work.job.settings.optimizer.kind = optimizerFromName(argument(2, "sgd"));
    const auto trainer = makeCpuTrainer(work.job, rung, std::stoul(argument(3, "0")));
    const Rates rates = measure(*trainer, work.job.settings.batch, std::stod(argument(4, "2")));
    fmt::print(R"({{"workload":"{}","rung":"{}","optimizer":"{}","threads":{},"samples_per_second":{:.0f},)"
               R"("fastest":{:.0f},"gflops":{:.1f},"operations":[)",
               name, rung, lockstep::name(work.job.settings.optimizer.kind), trainer->machine().threads,
               rates.median, rates.fastest, rates.median * work.job.shape.flopsPerExample() / 1e9);
    const char* separator = "";
    for (const OperationTiming& timing : trainer->operations()) {
        fmt::print(R"({}{{"name":"{}","microseconds_per_call":{:.1f},"gflops":{:.1f}}})", separator,
                   timing.name, timing.milliseconds * 1e3 / static_cast<double>(timing.calls),
                   timing.flops / timing.milliseconds / 1e6);
        separator = ",";
    }
    fmt::print("]}}\n");
}

} // namespace

int main(int count, char** arguments) {
    try {
        bench({arguments + 1, arguments + count});
        return 0;
    } catch (const std::exception& error) {
        fmt::print(stderr, "cpu_bench: {}\n", error.what());
        return 1;
    }
}
