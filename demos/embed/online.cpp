// Learns online. Each batch is new: the network predicts it, then trains on it. The rule that the batches
// follow changes half-way. `online gpu:best` trains on a GPU.
#include <cstdio>
#include <optional>
#include <random>

#include <lockstep/run/make_trainer.h>

using namespace lockstep;

int main(int count, char** arguments) {
    constexpr std::size_t batch = 32;
    Dataset data; // the batch at hand is all its examples
    data.name = "a stream";
    data.inputs = 2;
    data.classes = 2;
    data.classNames = {"below", "above"};
    data.train.count = batch;
    data.train.values.resize(batch * data.inputs);
    data.train.labels.resize(batch);

    TrainJob job;
    job.data = &data;
    job.shape.widths = {2, 16, 2};
    job.settings.batch = batch;
    job.settings.shuffle = false;
    job.settings.optimizer.learningRate = 0.01;
    const LaneSpec lane = laneSpecFromText(count > 1 ? arguments[1] : "cpu:best");
    std::optional<gpu::Device> device;
    if (lane.gpu) device.emplace();
    const auto trainer = makeTrainer(job, lane, {}, device ? &*device : nullptr);

    std::mt19937 random(1);
    std::uniform_real_distribution<float> anywhere(-1, 1);
    constexpr int steps = 2000;
    std::size_t right = 0;
    for (int step = 0; step < steps; ++step) {
        for (float& value : data.train.values) value = anywhere(random);
        for (std::size_t i = 0; i < batch; ++i) {
            const bool above = data.train.values[2 * i + 1] > data.train.values[2 * i];
            data.train.labels[i] = above != (step >= steps / 2) ? 1 : 0; // reversed half-way
        }
        const std::vector<float> outputs = trainer->predict(data.train.values); // [batch][2]
        for (std::size_t i = 0; i < batch; ++i)
            right += (outputs[2 * i + 1] > outputs[2 * i] ? 1U : 0U) == data.train.labels[i] ? 1 : 0;
        trainer->reloadExamples(0, batch);
        trainer->run(1);
        if ((step + 1) % 250 == 0) {
            std::printf("step %d: %.1f %% of the last 8,000 predicted before they were learned\n", step + 1,
                        100.0 * static_cast<double>(right) / (250 * batch));
            right = 0;
        }
    }
}
