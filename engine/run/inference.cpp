#include "engine/run/inference.h"

#include <algorithm>
#include <stdexcept>

#include "engine/cpu/cpu_info.h"
#include "engine/net/names.h"
#include "engine/run/cpu_forward.h"
#include "engine/run/make_trainer.h"
#include "engine/step/gpu_forward.h"
#include "engine/step/gpu_memory.h"
#include "engine/tune/kernel_choice.h"

namespace lockstep {

namespace {

class InferenceBase : public Inference {
  public:
    explicit InferenceBase(const NetShape& shape) : shape_((shape.validate(), shape)), layout_(shape) {}

    const NetShape& shape() const final { return shape_; }
    const MachineInfo& machine() const final { return machine_; }
    void setParameters(std::span<const float> parameters) final {
        if (parameters.size() != layout_.size())
            throw std::invalid_argument(
                concat("an arena of ", parameters.size(), " floats for a network of ", layout_.size()));
        take(parameters);
    }

  protected:
    virtual void take(std::span<const float> parameters) = 0;

    const NetShape shape_;
    const ParamLayout layout_;
    MachineInfo machine_;
};

class CpuInference final : public InferenceBase {
  public:
    CpuInference(const NetShape& shape, const CpuKernels& kernels, std::size_t threads)
        : InferenceBase(shape), parameters_(layout_.size()), team_(threads),
          forward_(shape_, kernels, team_, parameters_.data()) {
        machine_ = {.device = cpuName(), .threads = threads, .kernels = describeKernels(kernels)};
    }
    std::vector<float> outputs(std::span<const float> inputs) override { return forward_.outputs(inputs); }

  private:
    void take(std::span<const float> parameters) override {
        std::ranges::copy(parameters, parameters_.data());
    }

    AlignedArray<float> parameters_;
    ThreadTeam team_;
    CpuForward forward_;
};

class GpuInference final : public InferenceBase {
  public:
    GpuInference(const NetShape& shape, Rung rung, gpu::Device& device)
        : InferenceBase(shape),
          capacity_((requireShape(device, shape), GpuForward::usualCapacity(device, shape))),
          how_(forwardKernels(device, rung, shape, capacity_)), kernels_(device),
          parameters_(device, layout_.size() * sizeof(float), gpu::Memory::device, "parameters"),
          forward_(kernels_, shape_, how_, parameters_, capacity_) {
        machine_ = machineOf(device);
        machine_.kernels = how_.front().describe();
    }
    std::vector<float> outputs(std::span<const float> inputs) override { return forward_.outputs(inputs); }

  private:
    void take(std::span<const float> parameters) override { parameters_.uploadValues<float>(parameters); }

    const std::size_t capacity_;
    const std::vector<ProductKernel> how_;
    Kernels kernels_;
    gpu::Buffer parameters_;
    GpuForward forward_;
};

} // namespace

std::vector<float> Inference::outputsOf(const Dataset& data, Split split, std::size_t first,
                                        std::size_t rows) {
    return inChunks(data, split, first, rows,
                    [this](std::span<const float> inputs) { return outputs(inputs); });
}

std::unique_ptr<Inference> makeInference(const NetShape& shape, std::span<const float> parameters,
                                         const LaneSpec& spec, const MachineShare& share,
                                         gpu::Device* device) {
    std::unique_ptr<Inference> made;
    if (spec.gpu) {
        if (device == nullptr) throw std::invalid_argument("lane " + spec.text() + " needs a Vulkan device");
        made = std::make_unique<GpuInference>(shape, spec.rung, *device);
    } else {
        const CoreCount cores = usablePhysicalCores();
        const std::size_t all = share.threads == 0 ? cores.physical : share.threads;
        const std::size_t threads = spec.row().allCores ? all : 1;
        made = std::make_unique<CpuInference>(
            shape, exactKernels(trainingKernels(spec.row(), threads, cores)), threads);
    }
    made->setParameters(parameters);
    return made;
}

} // namespace lockstep
