// Trains on data of the host's own, on a thread of its own, until the test loss stops falling; then predicts
// with the best weights.
#include <cmath>
#include <cstdio>

#include <lockstep/run/inference.h>
#include <lockstep/run/lane.h>
#include <lockstep/run/make_trainer.h>

using namespace lockstep;

namespace {

/// `count` points of y = sin(3 x), from `first` on.
Examples curve(std::size_t count, float first) {
    Examples examples;
    examples.count = count;
    for (std::size_t i = 0; i < count; ++i) {
        const float x = first + 2.0F * static_cast<float>(i) / static_cast<float>(count) - 1.0F;
        examples.values.push_back(x);
        examples.targets.push_back(std::sin(3 * x));
    }
    return examples;
}

} // namespace

int main() {
    Dataset data;
    data.name = "a curve";
    data.inputs = data.targetWidth = 1;
    data.train = curve(512, 0);
    data.test = curve(128, 0.003F); // between those points

    TrainJob job;
    job.data = &data;
    job.shape.widths = {1, 32, 32, 1};
    job.shape.activation = Activation::tanh;
    job.shape.loss = Loss::meanSquared;
    job.settings.batch = 64;
    job.settings.optimizer.learningRate = 0.005;

    // The callback runs on the lane's thread; after the lane is over, this thread may read what it kept.
    constexpr int patience = 20; // epochs
    double least = INFINITY;
    TrainerState best;
    int worse = 0;
    Lane* self = nullptr;
    LaneOptions options; // without a finish line: the callback ends the run
    options.evaluateEvery = 0;
    options.saveEvery = 1; // epoch
    options.save = [&](Trainer& trainer) {
        const double loss = trainer.evaluate(Split::test).loss;
        if (loss < least) {
            least = loss;
            best = trainer.state();
            worse = 0;
        } else if (++worse == patience) {
            self->stop();
        }
    };
    Lane lane(
        "curve", job, [&job] { return makeCpuTrainer(job, Rung::best, 0); }, options);
    self = &lane;
    lane.start();
    while (!lane.waitFor(std::chrono::seconds(1)))
        std::printf("step %llu, loss %.6f\n", static_cast<unsigned long long>(lane.snapshot().step),
                    lane.snapshot().loss);
    if (lane.snapshot().status == LaneStatus::failed) {
        std::printf("%s\n", lane.snapshot().message.c_str());
        return 1;
    }

    const auto network = makeInference(job.shape, best.parameters);
    const float x[] = {-0.5F, 0.0F, 0.5F}; // three rows
    const std::vector<float> y = network->outputs(x);
    for (std::size_t i = 0; i < 3; ++i)
        std::printf("sin(3 * %.1f) = %.3f, predicted %.3f\n", x[i], std::sin(3 * x[i]), y[i]);
    std::printf("stopped at step %llu, best at %llu with a test loss of %.6f\n",
                static_cast<unsigned long long>(lane.snapshot().step),
                static_cast<unsigned long long>(best.step), least);
}
