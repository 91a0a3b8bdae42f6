// Trains within a loop of frames, such as a game's: 2 ms of each frame, with the weights of each for a
// picture. `frame_loop gpu:best` trains on a GPU.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <thread>

#include <lockstep/data/data_source.h>
#include <lockstep/run/make_trainer.h>

using namespace lockstep;

int main(int count, char** arguments) {
    const Dataset data = loadDataset("spiral");
    TrainJob job;
    job.data = &data;
    job.shape.widths = {data.inputs, 16, 16, data.classes};
    job.shape.activation = Activation::tanh;
    job.settings.optimizer.learningRate = 0.01;
    const LaneSpec lane = laneSpecFromText(count > 1 ? arguments[1] : "cpu:best");
    std::optional<gpu::Device> device;
    if (lane.gpu) device.emplace();
    const auto trainer = makeTrainer(job, lane, {}, device ? &*device : nullptr);

    using Milliseconds = std::chrono::duration<double, std::milli>;
    constexpr Milliseconds budget(2);
    constexpr std::chrono::microseconds frameTime(16667);
    const float corner[] = {-5.0F, 5.0F}; // a point of the plane
    TrainedWeights weights;
    std::vector<double> spent;
    std::size_t copies = 0;
    auto next = std::chrono::steady_clock::now();
    for (int frame = 0; frame < 300; ++frame) {
        const auto start = std::chrono::steady_clock::now();
        trainer->runFor(budget);
        spent.push_back(Milliseconds(std::chrono::steady_clock::now() - start).count());
        if (trainer->takeWeights(weights)) ++copies; // draw them
        if (frame % 60 == 0)
            std::printf("step %llu: output %.3f at (-5, 5)\n",
                        static_cast<unsigned long long>(trainer->completedSteps()),
                        trainer->predict(corner).front());
        std::this_thread::sleep_until(next += frameTime);
    }
    std::ranges::sort(spent);
    std::printf("%zu frames, %zu copies of the weights, %llu steps; training took %.2f ms of a frame, "
                "%.2f ms of the worst\n",
                spent.size(), copies, static_cast<unsigned long long>(trainer->completedSteps()),
                spent[spent.size() / 2], spent.back());
    std::printf("test accuracy %.1f %%\n", 100 * trainer->evaluate(Split::test).accuracy);
}
