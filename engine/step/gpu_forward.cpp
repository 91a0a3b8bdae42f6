#include "engine/step/gpu_forward.h"

#include <algorithm>

#include "engine/net/activation.h"
#include "engine/plan/work.h"
#include "engine/step/dense_kernel.h"
#include "engine/step/gpu_arenas.h"
#include "engine/step/gpu_memory.h"
#include "engine/step/train_job.h"

namespace lockstep {

GpuForward::GpuForward(Kernels& kernels, const NetShape& shape, const std::vector<ProductKernel>& how,
                       const gpu::Buffer& parameters, std::size_t capacity)
    : device_(kernels.device()), shape_(shape), layout_(shape), parameters_(parameters), capacity_(capacity),
      even_(device_, capacity * roundUpToFour(shape.widest()) * sizeof(float), gpu::Memory::device,
            "activations of even levels"),
      odd_(device_, even_.size(), gpu::Memory::device, "activations of odd levels"),
      sums_(device_, anyLayerKeepsSums(shape) ? even_.size() : 16, gpu::Memory::device, "preactivations") {
    for (std::size_t layer = 0; layer < shape.layers(); ++layer)
        kernels_.push_back(kernels.dense(Product::forward, how[layer], shape.activationOf(layer)));
}

std::size_t GpuForward::usualCapacity(const gpu::Device& device, const NetShape& shape) {
    constexpr std::size_t mostRows = 1024;
    constexpr std::size_t mostBytes = std::size_t{8} << 20;
    const std::size_t rowBytes = roundUpToFour(shape.widest()) * sizeof(float);
    return std::min(std::clamp<std::size_t>(mostBytes / rowBytes, 1, mostRows), bindableRows(device, shape));
}

gpu::BufferView GpuForward::activations(std::size_t level, std::size_t rows) const {
    return (level % 2 == 0 ? even_ : odd_).view(0, bytes(level, rows));
}

void GpuForward::dense(gpu::Recorder& recorder, std::size_t layer, std::size_t rows,
                       const gpu::BufferView& to, const gpu::Cost& cost) const {
    const bool keepsSums = derivativeNeedsSum(shape_.activationOf(layer));
    dispatchProduct(recorder, kernels_[layer], denseShapeOf(shape_, layer, rows),
                    {activations(layer, rows), weightsIn(parameters_, layout_.layer(layer)),
                     biasIn(parameters_, layout_.layer(layer)), to,
                     keepsSums ? sums_.view(0, bytes(layer + 1, rows)) : to},
                    cost);
}

std::vector<float> GpuForward::outputs(std::span<const float> inputs) {
    const std::size_t rows = shape_.rowsIn(inputs);
    const std::size_t last = shape_.layers();
    if (!host_) host_ = std::make_unique<HostRows>(device_, bytes(0, capacity_), bytes(last, capacity_));
    std::vector<float> all;
    all.reserve(rows * shape_.outputs());
    for (std::size_t first = 0; first < rows; first += capacity_) {
        const std::size_t now = std::min(capacity_, rows - first);
        pass(inputs.subspan(first * shape_.inputs(), now * shape_.inputs()), now);
        const auto* found = reinterpret_cast<const float*>(host_->outputs.mapped().data());
        const std::vector<float> chunk =
            withoutPadding({found, now * stride(last)}, shape_.outputs(), stride(last));
        all.insert(all.end(), chunk.begin(), chunk.end());
    }
    return all;
}

void GpuForward::pass(std::span<const float> inputs, std::size_t rows) {
    constexpr double worthASubmission = 1e8; // floating-point operations: then no submission takes long
    gpu::Recorder& recorder = host_->recorder;
    host_->inputs.writeValues<float>(withPadding(inputs, shape_.inputs(), stride(0)));
    recorder.begin();
    recorder.copy(host_->inputs.view(0, bytes(0, rows)), activations(0, rows));
    for (std::size_t layer = 0; layer < shape_.layers(); ++layer) {
        const bool last = layer + 1 == shape_.layers();
        const Work work = denseWork(denseShapeOf(shape_, layer, rows));
        dense(recorder, layer, rows,
              last ? host_->outputs.view(0, bytes(layer + 1, rows)) : activations(layer + 1, rows),
              {work.flops, work.bytes});
        if (!last && work.flops > worthASubmission) recorder.submitAndGoOn();
    }
    recorder.submit();
    recorder.finish();
    recorder.takeFinished();
}

} // namespace lockstep
