// `lockstep tune`: the choice of kernels behind gpu:best, taken with time instead of at a start in a hurry.
#include <chrono>
#include <functional>
#include <future>
#include <memory>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "demos/commands/command.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/machines.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/progress.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/run/make_trainer.h"
#include "engine/tune/kernel_choice.h"

namespace lockstep::demos {

namespace {

constexpr const char* tuneAbout =
    R"(Compares every kernel that could compute this network's products on your graphics card, and remembers the fastest.
gpu:best does the same at its first start, but for a few seconds only; what is still open then, it compares at the next
starts. The results of training do not depend on the choice: all kernels add in the same order. Ctrl-C skips what is left:
the times that were measured are kept, and the next start goes on.)";

constexpr const char* tuneExamples = R"(examples:
  lockstep tune                                     for the network that `lockstep race` trains
  lockstep tune --data spiral --layers 32,32 --batch 10
  lockstep tune --device 1
)";

// The rows of one layer's products.
void addRows(std::vector<std::vector<std::string>>& rows, const TrainJob& job, std::size_t layer,
             const StepKernels& step) {
    const LayerKernels& how = step.layers[layer];
    const std::string size =
        fmt::format("{} x {} x {}", job.settings.batch, job.shape.widths[layer], job.shape.widths[layer + 1]);
    const auto add = [&](std::string_view operation, const ProductKernel& kernel) {
        rows.push_back({std::string(operation), size, kernel.describe()});
    };
    add("dense", how.forward);
    if (layer > 0) add("dense_backward_inputs", how.backwardInputs);
    add(step.foldsUpdate ? "dense_backward_weights, with the update" : "dense_backward_weights",
        how.backwardWeights);
}

/// What `choose` returns, which compares on a thread of its own: its progress is shown, and an interrupt
/// skips the rest.
StepKernels shown(Tuning& tuning, const InterruptGuard& interrupt,
                  const std::function<StepKernels()>& choose) {
    ProgressLines lines(false);
    std::future<StepKernels> choice = std::async(std::launch::async, choose);
    while (choice.wait_for(std::chrono::milliseconds(100)) != std::future_status::ready) {
        if (interrupt.exitCode() != 0) tuning.skip();
        if (const TuningProgress now = tuning.progress(); now.going())
            lines.show({tuningProgress("gpu:best", now)});
    }
    return choice.get();
}

int tune(const RunOptions& options) {
    const Dataset data = loadData(options);
    const TrainJob job = makeJob(options, data);
    Machines machines(0, options.device);
    gpu::Device& device = *machines.deviceOf(laneSpecFromText("gpu:best"));
    printOut("{} ({}), {}\nbatch {}, {} {}, {}\n", device.report().name, gpu::describe(device.report().type),
             device.report().driver, job.settings.batch, job.shape.describeWidths(),
             name(job.shape.activation), name(job.settings.optimizer.kind));
    flushText(stdout);

    constexpr double unlimited = 1e9;
    const InterruptGuard interrupt;
    Tuning tuning(unlimited);
    std::unique_ptr<Trainer> trainer; // whole steps, too
    const StepKernels step = shown(tuning, interrupt, [&] {
        Kernels kernels(device);
        StepKernels chosen = chooseKernels(device, kernels, Rung::best, job.shape,
                                           job.settings.optimizer.kind, job.settings.batch, tuning);
        trainer = makeTrainer(job, laneSpecFromText("gpu:best"), {}, &device, nullptr, &tuning);
        return chosen;
    });
    const TuningProgress end = tuning.progress();
    std::vector<std::vector<std::string>> rows{{"operation", "rows x inputs x outputs", "fastest kernel"}};
    for (std::size_t layer = 0; layer < job.shape.layers(); ++layer) addRows(rows, job, layer, step);
    printOut("\n{}\n", table(rows, 3));
    if (end.kernels == 0 && !end.skipped)
        printOut("nothing was left to compare: this choice was made before\n");
    else
        printOut("{} compared in {:.1f} s\n", counted(end.kernels, "kernel"), end.seconds);
    printOut("gpu:best: {}\n", trainer->machine().kernels);
    return interrupt.exitCode();
}

} // namespace

Action addTune(CLI::App& command) {
    const auto options = std::make_shared<RunOptions>();
    addManual(command, tuneAbout, tuneExamples);
    addDataOptions(command, *options);
    addNetworkOptions(command, *options);
    addSettingsOptions(command, *options);
    command.option_defaults()->group(machineGroup);
    command.add_option("--device", options->device, "Vulkan device: number, part of its name, or UUID")
        ->type_name("DEVICE");
    return [options, &command] {
        refuseIdleOptions(command, *options);
        return tune(*options);
    };
}

} // namespace lockstep::demos
