#include "engine/step/train_job.h"

#include <stdexcept>
#include <string>

#include "engine/gpu/device.h"

namespace lockstep {

namespace {

[[noreturn]] void throwBroken(const Dataset& data, const char* split, const std::string& reason) {
    throw std::invalid_argument("data '" + data.name + "', " + split + " split: " + reason);
}

/// One of the two arrays of a split has to hold `count * width` values.
void requireSize(const Dataset& data, const char* split, const char* what, std::size_t have,
                 std::size_t count, std::size_t width) {
    if (have == count * width) return;
    throwBroken(data, split,
                std::to_string(have) + " " + what + " for " + std::to_string(count) + " examples of " +
                    std::to_string(width));
}

void validateSplit(const Dataset& data, const Examples& examples, const char* split) {
    constexpr std::size_t mostExamples = std::size_t{1} << 30; // the order's limit (shaders/shared/order.h)
    if (examples.count > mostExamples) throwBroken(data, split, "more than 2^30 examples");
    if (examples.pixels.empty())
        requireSize(data, split, "values", examples.values.size(), examples.count, data.inputs);
    else
        requireSize(data, split, "pixels", examples.pixels.size(), examples.count, data.inputs);
    if (data.classes == 0) {
        requireSize(data, split, "targets", examples.targets.size(), examples.count, data.targetWidth);
        return;
    }
    requireSize(data, split, "labels", examples.labels.size(), examples.count, 1);
    for (std::size_t example = 0; example < examples.count; ++example)
        if (examples.labels[example] >= data.classes)
            throwBroken(data, split,
                        "example " + std::to_string(example) + " has label " +
                            std::to_string(examples.labels[example]) + ", and there are " +
                            std::to_string(data.classes) + " classes");
}

} // namespace

void TrainJob::validate() const {
    if (data == nullptr) throw std::invalid_argument("a training job needs data");
    shape.validate();
    settings.optimizer.validate();
    if (settings.batch == 0) throw std::invalid_argument("the batch needs at least 1 example");
    if (data->train.count == 0) throwBroken(*data, "training", "there is no example to train on");
    validateSplit(*data, data->train, "training");
    validateSplit(*data, data->test, "test");
    if (data->classes == 1) throwBroken(*data, "training", "there is one class, and nothing to tell apart");
    if (data->test.count > 0 && data->test.pixels.empty() != data->train.pixels.empty())
        throwBroken(*data, "test", "one split holds pixels, the other values");
    targetKind(*data, shape); // throws when outputs, loss and data do not fit
}

MachineInfo machineOf(const gpu::Device& device) {
    MachineInfo machine;
    machine.device = device.report().name;
    machine.driver = device.report().driver;
    machine.gpu = true;
    machine.software = device.software();
    return machine;
}

} // namespace lockstep
