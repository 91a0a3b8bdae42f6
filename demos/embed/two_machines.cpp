// Trains one network on two machines, from the same weights and on the same batches.
#include <cstdio>

#include <lockstep/data/data_source.h>
#include <lockstep/run/make_trainer.h>

using namespace lockstep;

int main() {
    const Dataset data = loadDataset("spiral");

    TrainJob job;
    job.data = &data;
    job.shape.widths = {data.inputs, 32, 32, data.classes};
    job.shape.activation = Activation::tanh;
    job.settings.optimizer.learningRate = 0.01;

    gpu::Device device; // the best Vulkan device of this machine
    for (const char* name : {"cpu:best", "gpu:best"}) {
        const auto trainer = makeTrainer(job, laneSpecFromText(name), {}, &device);
        trainer->run(2000); // steps
        const Evaluation test = trainer->evaluate(Split::test);
        std::printf("%s on %s: test accuracy %.1f %%, loss %.4f, %.2f s\n", name,
                    trainer->machine().device.c_str(), 100 * test.accuracy, test.loss,
                    trainer->trainingSeconds());
    }
}
