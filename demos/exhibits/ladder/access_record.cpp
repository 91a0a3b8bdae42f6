#include "demos/exhibits/ladder/access_record.h"

#include <algorithm>
#include <deque>
#include <stdexcept>

#include "demos/kit/source_text.h"
#include "demos/words/language.h"
#include "engine/gpu/recorder.h"
#include "engine/step/dense_kernel.h"

namespace lockstep::demos {

namespace {

/// Room for any operand or result of the product.
std::size_t largestFloats(const DenseShape& shape) {
    return std::max({shape.rows * shape.outputStride, shape.rows * shape.inputStride,
                     shape.outputs * shape.inputStride, shape.outputStride});
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
        bool together = true;
        for (std::size_t i = 0; i < at.size(); ++i) together = together && waits(i);
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

const AccessRecorder::Prepared& AccessRecorder::prepare(const std::string& stem, bool half,
                                                        Recording recording) {
    const std::pair key{stem, recording};
    if (const auto found = prepared_.find(key); found != prepared_.end()) return found->second;
    const CompiledShader compiled = compileShader(stem, {}); // with the names of its arrays
    if (!compiled.errors.empty()) throw std::runtime_error(describe(compiled.errors.front()));
    RecordingShader shader = recordingShaderOf(compiled.words, stem, recording, half ? 8 : 16);
    auto kernels = std::make_unique<Kernels>(device_);
    kernels->replace({{stem, shader.words}});
    return prepared_.emplace(key, Prepared{std::move(shader), std::move(kernels)}).first->second;
}

AccessRecord AccessRecorder::record(Product product, const ProductKernel& how, const DenseShape& shape,
                                    Recording recording) {
    const bool events = recording == Recording::events;
    constexpr std::uint32_t mostEvents = 1u << 20;
    AccessRecord result{product, how, shape, shaderName(name(product), how), {}, 0, 0, {}, true};
    const auto& [shader, kernels] = prepare(result.shader, how.half, recording);
    result.arrays = shader.arrays;

    const std::uint32_t invocations = how.invocations();
    const std::uint32_t capacity = events ? mostEvents / invocations : 0;
    const std::size_t words = recordLayout::events + (events ? invocations * (1 + 2 * capacity) : 0);
    std::deque<gpu::Buffer> buffers;
    const std::vector<float> zeros(largestFloats(shape));
    for (std::uint32_t binding = 0; binding < shader.binding; ++binding) {
        buffers.emplace_back(device_, zeros.size() * sizeof(float), gpu::Memory::device, "recorded operand");
        buffers.back().uploadValues<float>(zeros);
    }
    buffers.emplace_back(device_, words * sizeof(std::uint32_t), gpu::Memory::device, "record");
    std::vector<std::uint32_t> log(words);
    log[recordLayout::capacity] = capacity;
    buffers.back().uploadValues<std::uint32_t>(log);

    gpu::Recorder recorder(device_);
    recorder.begin();
    const DenseKernel& kernel = kernels->dense(product, how, Activation::identity);
    const auto view = [&](std::size_t binding) { return buffers[binding].view(); };
    if (product == Product::forward)
        dispatchProduct(recorder, kernel, shape, {view(0), view(1), view(2), view(3), view(4), view(5)});
    else
        dispatchProduct(recorder, kernel, shape, {view(0), view(1), view(2), view(3), view(4)});
    recorder.submit();
    recorder.finish();

    log = buffers.back().downloadValues<std::uint32_t>(words);
    const auto both = [&](std::uint32_t low) {
        return static_cast<double>(log[low]) + 4294967296.0 * log[low + 1];
    };
    result.bytesRead = both(recordLayout::bytesRead);
    result.bytesWritten = both(recordLayout::bytesWritten);
    if (!events) return result;
    for (std::uint32_t each = 0; each < invocations; ++each) {
        const std::size_t own = recordLayout::events + std::size_t{each} * (1 + 2 * std::size_t{capacity});
        const std::uint32_t count = std::min(log[own], capacity);
        result.whole = result.whole && log[own] <= capacity;
        std::vector<AccessEvent>& list = result.invocations.emplace_back();
        for (std::size_t at = own + 1; at < own + 1 + 2 * std::size_t{count}; at += 2)
            list.push_back(log[at] == recordLayout::barrier
                               ? AccessEvent{0, 0, false, true, false}
                               : AccessEvent{log[at] % recordLayout::write, log[at + 1],
                                             log[at] >= recordLayout::write});
    }
    return result;
}

std::string wordsFor(const AccessRecord& record, const RecordedArray& array) {
    if (!array.shared) return std::string(translated(array.name));
    const std::uint32_t second = record.product == Product::backwardWeights ? 2 : 1; // B's binding
    const bool a = array.name.starts_with("aSlab"), b = array.name.starts_with("bSlab");
    const auto operand = std::ranges::find(record.arrays, a ? 0 : second, &RecordedArray::id);
    if ((a || b) && operand != record.arrays.end())
        return translatedFormat("shared copy of the {}", translated(operand->name));
    return translatedFormat("{} (shared)", array.name);
}

} // namespace lockstep::demos
