#include "demos/exhibits/ladder/access_record.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "demos/kit/shader_compiler.h"
#include "engine/gpu/recorder.h"
#include "engine/step/dense_kernel.h"

namespace lockstep::demos {

namespace {

double both(std::span<const std::uint32_t> words, std::uint32_t low) {
    return static_cast<double>(words[low]) + 4294967296.0 * words[low + 1];
}

AccessEvent eventFrom(std::uint32_t what, std::uint32_t at) {
    if (what == RecordWords::barrier) return {0, 0, false, true, false};
    return {what % RecordWords::write, at, what >= RecordWords::write, false, false};
}

/// Room for any operand or result of the product.
std::size_t largestFloats(const DenseShape& shape) {
    return std::max({shape.rows * shape.outputStride, shape.rows * shape.inputStride,
                     shape.outputs * shape.inputStride, shape.outputStride});
}

void dispatch(gpu::Recorder& recorder, const DenseKernel& kernel, const DenseShape& shape,
              const std::deque<gpu::Buffer>& buffers) {
    if (kernel.product == Product::forward)
        dispatchProduct(recorder, kernel, shape,
                        {buffers[0].view(), buffers[1].view(), buffers[2].view(), buffers[3].view(),
                         buffers[4].view(), buffers[5].view()});
    else
        dispatchProduct(
            recorder, kernel, shape,
            {buffers[0].view(), buffers[1].view(), buffers[2].view(), buffers[3].view(), buffers[4].view()});
}

} // namespace

const RecordedArray& AccessRecord::array(std::uint32_t id) const {
    const auto found = std::ranges::find(arrays, id, &RecordedArray::id);
    if (found == arrays.end()) throw std::logic_error(shader + " has no array " + std::to_string(id));
    return *found;
}

AccessRecord alignedAtBarriers(AccessRecord record) {
    std::vector<std::size_t> at(record.invocations.size()); // of each invocation, the next event
    std::vector<std::vector<AccessEvent>> aligned(record.invocations.size());
    const auto ended = [&](std::size_t i) { return at[i] >= record.invocations[i].size(); };
    const auto waits = [&](std::size_t i) { return ended(i) || record.invocations[i][at[i]].barrier; };
    for (bool all = false; !all;) {
        const bool together = [&] {
            for (std::size_t i = 0; i < at.size(); ++i)
                if (!waits(i)) return false;
            return true;
        }();
        all = true;
        for (std::size_t i = 0; i < at.size(); ++i) {
            if (together ? ended(i) : waits(i))
                aligned[i].push_back({0, 0, false, false, true});
            else
                aligned[i].push_back(record.invocations[i][at[i]++]);
            all = all && ended(i);
        }
    }
    record.invocations = std::move(aligned);
    return record;
}

const RecordingShader& AccessRecorder::prepare(const std::string& stem, Recording recording) {
    auto& [kernels, words, shaders] = mode(recording);
    if (const auto found = shaders.find(stem); found != shaders.end()) return found->second;
    RecordingShader shader = recordingShader(stem, recording);
    const CompiledShader compiled = compileShader(stem, {{stem + ".comp", shader.text}});
    if (!compiled.errors.empty())
        throw std::runtime_error("with recording, " + describe(compiled.errors.front()));
    words[stem] = compiled.words;
    kernels.replace(words);
    return shaders.emplace(stem, std::move(shader)).first->second;
}

AccessRecord AccessRecorder::record(Product product, const ProductKernel& how, const DenseShape& shape,
                                    Recording recording) {
    const bool events = recording == Recording::events;
    constexpr std::uint32_t mostEvents = 1u << 20;
    AccessRecord record{product, how, shape, shaderName(name(product), how), {}, 0, 0, {}, true};
    const RecordingShader& shader = prepare(record.shader, recording);
    record.arrays = shader.arrays;

    const std::uint32_t invocations = how.invocations();
    const std::uint32_t capacity = events ? mostEvents / invocations : 0;
    const std::size_t words = RecordWords::events + (events ? invocations * (1 + 2 * capacity) : 0);
    std::deque<gpu::Buffer> buffers;
    const std::vector<float> zeros(largestFloats(shape));
    for (std::uint32_t binding = 0; binding < shader.binding; ++binding) {
        buffers.emplace_back(device_, zeros.size() * sizeof(float), gpu::Memory::device, "recorded operand");
        buffers.back().uploadValues<float>(zeros);
    }
    buffers.emplace_back(device_, words * sizeof(std::uint32_t), gpu::Memory::device, "record");
    std::vector<std::uint32_t> log(words);
    log[RecordWords::capacity] = capacity;
    buffers.back().uploadValues<std::uint32_t>(log);

    gpu::Recorder recorder(device_);
    recorder.begin();
    dispatch(recorder, mode(recording).kernels.dense(product, how, Activation::identity), shape, buffers);
    recorder.submit();
    recorder.finish();

    log = buffers.back().downloadValues<std::uint32_t>(words);
    record.bytesRead = both(log, RecordWords::bytesRead);
    record.bytesWritten = both(log, RecordWords::bytesWritten);
    if (!events) return record;
    for (std::uint32_t each = 0; each < invocations; ++each) {
        const std::size_t own = RecordWords::events + std::size_t{each} * (1 + 2 * std::size_t{capacity});
        const std::uint32_t count = std::min(log[own], capacity);
        record.whole = record.whole && log[own] <= capacity;
        std::vector<AccessEvent>& list = record.invocations.emplace_back();
        for (std::size_t at = own + 1; at < own + 1 + 2 * std::size_t{count}; at += 2)
            list.push_back(eventFrom(log[at], log[at + 1]));
    }
    return record;
}

} // namespace lockstep::demos
