#include "demos/exhibits/ladder/access_record.h"

#include <algorithm>
#include <cctype>
#include <deque>
#include <regex>
#include <stdexcept>

#include <fmt/format.h>

#include "demos/kit/source_text.h"
#include "engine/gpu/recorder.h"
#include "engine/step/dense_kernel.h"

namespace lockstep::demos {

namespace {

/// The record: words at the buffer's beginning, then for each invocation of the recorded workgroup its number
/// of events and `capacity` events of two words, what and at.
namespace recordLayout {

constexpr std::uint32_t bytesRead = 0;    // of all workgroups, from buffers: low word, high word
constexpr std::uint32_t bytesWritten = 2; // likewise
constexpr std::uint32_t capacity = 4;     // events of an invocation
constexpr std::uint32_t groupX = 5;       // the recorded workgroup
constexpr std::uint32_t groupY = 6;
constexpr std::uint32_t events = 8;        // of invocation 0
constexpr std::uint32_t barrier = 0xFFFFu; // what: all invocations waited for each other
constexpr std::uint32_t write = 0x100u;    // added to an id

} // namespace recordLayout

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

const AccessRecorder::Prepared& AccessRecorder::prepare(const std::string& stem, Recording recording) {
    const std::pair key{stem, recording};
    if (const auto found = prepared_.find(key); found != prepared_.end()) return found->second;
    RecordingShader shader = recordingShaderOf(withIncludesExpanded({}, stem + ".comp"), stem, recording);
    const CompiledShader compiled = compileShader(stem, {{stem + ".comp", shader.text}});
    if (!compiled.errors.empty())
        throw std::runtime_error("with recording, " + describe(compiled.errors.front()));
    auto kernels = std::make_unique<Kernels>(device_);
    kernels->replace({{stem, compiled.words}});
    return prepared_.emplace(key, Prepared{std::move(shader), std::move(kernels)}).first->second;
}

AccessRecord AccessRecorder::record(Product product, const ProductKernel& how, const DenseShape& shape,
                                    Recording recording) {
    const bool events = recording == Recording::events;
    constexpr std::uint32_t mostEvents = 1u << 20;
    AccessRecord result{product, how, shape, shaderName(name(product), how), {}, 0, 0, {}, true};
    const auto& [shader, kernels] = prepare(result.shader, recording);
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

namespace {

bool isWordLetter(char letter) {
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// Comments speak of arrays, too.
std::string withoutComments(const std::string& text) {
    std::string result;
    for (const std::string_view line : linesOf(text))
        result.append(line.substr(0, line.find("//"))).append("\n");
    return result;
}

/// Type, bytes of an element, and numbers in it; the same where the numbers are halves.
struct ElementType {
    std::string_view name;
    std::uint32_t bytes;
    std::uint32_t numbers;
    std::uint32_t halfBytes;
    std::uint32_t halfNumbers;
};

// What operands.glsl calls STORED is four numbers, and so are two words of halves.
constexpr ElementType elementTypes[] = {
    {"float", 4, 1, 4, 1},   {"uint", 4, 1, 4, 1},    {"int", 4, 1, 4, 1},
    {"vec2", 8, 2, 8, 4},    {"uvec2", 8, 2, 8, 4},   {"vec4", 16, 4, 16, 4},
    {"uvec4", 16, 4, 16, 4}, {"ivec4", 16, 4, 16, 4}, {"STORED", 16, 4, 8, 4},
};

std::vector<RecordedArray> arraysOf(const std::string& text, const std::string& stem) {
    static const std::regex buffer(
        R"(layout\(set = 0, binding = (\d+)\)[^;{]*\bbuffer\s+\w+\s*\{\s*(\w+)\s+(\w+)\[\];)");
    static const std::regex operand(R"(\nOPERAND\((\d+), \w+, (\w+)\))"); // operands.glsl
    static const std::regex slab(R"(\nshared\s+(\w+)\s+(\w+)\[)");
    const bool halves = text.find("\n#define HALVES") != std::string::npos;
    std::vector<RecordedArray> arrays;
    const auto add = [&](const std::string& name, std::uint32_t id, const std::string& type, bool shared) {
        const auto found = std::ranges::find(elementTypes, type, &ElementType::name);
        if (found == std::end(elementTypes))
            throw std::runtime_error(
                fmt::format("{}: how many bytes a '{}' has is not known here", stem, type));
        arrays.push_back({name, id, halves ? found->halfBytes : found->bytes,
                          halves ? found->halfNumbers : found->numbers, shared});
    };
    const auto number = [](const std::string& digits) {
        return static_cast<std::uint32_t>(std::stoul(digits));
    };
    // A pattern is tried only where it can begin: searching for that is most of a regex's work.
    const auto each = [&](const std::string& begins, const std::regex& pattern, auto visit) {
        std::smatch found;
        for (std::size_t at = text.find(begins); at != std::string::npos; at = text.find(begins, at + 1))
            if (std::regex_search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), found, pattern,
                                  std::regex_constants::match_continuous))
                visit(found);
    };
    each("layout(", buffer,
         [&](const std::smatch& found) { add(found[3], number(found[1]), found[2], false); });
    each("\nOPERAND(", operand,
         [&](const std::smatch& found) { add(found[2], number(found[1]), "STORED", false); });
    std::uint32_t id = firstSharedId;
    each("\nshared", slab, [&](const std::smatch& found) { add(found[2], id++, found[1], true); });
    return arrays;
}

/// Past the bracket that closes the one at `open`.
std::size_t closing(const std::string& text, std::size_t open) {
    const char opens = text[open];
    const char closes = opens == '[' ? ']' : ')';
    int depth = 0;
    for (std::size_t at = open; at < text.size(); ++at) {
        if (text[at] == opens) ++depth;
        if (text[at] == closes && --depth == 0) return at + 1;
    }
    return std::string::npos;
}

/// Whether what stands before `at` is assigned to: "= x", "+= x", ".x = y", but not "== x".
bool assignedAt(const std::string& text, std::size_t at) {
    const auto skipBlanks = [&] {
        while (at < text.size() && text[at] == ' ') ++at;
    };
    skipBlanks();
    while (at < text.size() && (text[at] == '.' || text[at] == '[')) {
        if (text[at] == '[') {
            at = closing(text, at);
            if (at == std::string::npos) return false;
        } else
            for (++at; at < text.size() && isWordLetter(text[at]);) ++at;
        skipBlanks();
    }
    if (at < text.size() && std::string_view("+-*/").find(text[at]) != std::string_view::npos) ++at;
    return at + 1 < text.size() && text[at] == '=' && text[at + 1] != '=';
}

/// Rewrites a text piece by piece: indices may contain other indices.
class Rewriter {
  public:
    explicit Rewriter(const std::vector<RecordedArray>& arrays) : arrays_(arrays) {}

    std::string rewritten(const std::string& text) const {
        std::string result;
        std::size_t at = 0;
        while (at < text.size()) {
            if (!isWordLetter(text[at])) {
                result += text[at++];
                continue;
            }
            std::size_t end = at;
            while (end < text.size() && isWordLetter(text[end])) ++end;
            const std::string word = text.substr(at, end - at);
            at = end;
            if ((word == "FOUR" || word == "texelFetch") && text[end] == '(')
                at = call(word, text, end, result);
            else if (word == "barrier" && text.compare(end, 3, "();") == 0) {
                result += "{ recordBarrier(); barrier(); }";
                at = end + 3;
            } else if (const RecordedArray* array = find(word); array != nullptr && text[end] == '[')
                at = index(text, *array, end, result);
            else
                result += word;
        }
        return result;
    }

  private:
    const RecordedArray* find(const std::string& name) const {
        const auto found = std::ranges::find(arrays_, name, &RecordedArray::name);
        return found == arrays_.end() ? nullptr : &*found;
    }

    std::string recorded(const RecordedArray& array, const std::string& at, bool write) const {
        return fmt::format("recorded({}u, {}, {}u)", array.id + (write ? recordLayout::write : 0),
                           rewritten(at), array.shared ? 0 : array.bytes);
    }

    // name[at]
    std::size_t index(const std::string& text, const RecordedArray& array, std::size_t open,
                      std::string& into) const {
        const std::size_t end = closing(text, open);
        const std::string inner = text.substr(open + 1, end - open - 2);
        const std::size_t line = text.rfind('\n', open) + 1;
        const bool declaration = inner.empty() || text.compare(line, 7, "shared ") == 0;
        into += array.name;
        into += declaration ? "[" + inner + "]" : "[" + recorded(array, inner, assignedAt(text, end)) + "]";
        return end;
    }

    // FOUR(name, at) of operands.glsl, or texelFetch(name, at). In its definition the name is none of an
    // array.
    std::size_t call(const std::string& name, const std::string& text, std::size_t open,
                     std::string& into) const {
        const std::size_t end = closing(text, open);
        const std::string inside = text.substr(open + 1, end - open - 2);
        const std::size_t comma = inside.find(',');
        const RecordedArray* array = comma == std::string::npos ? nullptr : find(inside.substr(0, comma));
        if (array == nullptr) {
            into += name + "(" + rewritten(inside) + ")";
            return end;
        }
        const std::string at = recorded(*array, inside.substr(comma + 1), false);
        into += name + "(" + array->name + ", " + (name == "FOUR" ? at : "int(" + at + ")") + ")";
        return end;
    }

    const std::vector<RecordedArray>& arrays_;
};

// What stands before the shader's own text, whose main() becomes recordedMain(). Bytes are added up by each
// invocation for itself: one addition to memory at its end.
std::string recordingCode(std::uint32_t binding, Recording recording) {
    return fmt::format(
        R"(
layout(set = 0, binding = {binding}) buffer Record {{ uint recordWords[]; }};
uint recordRead = 0u;
uint recordWritten = 0u;
uint recordCount = 0u;
void recordSum(uint word, uint bytes) {{
    if (bytes == 0u) return;
    uint before = atomicAdd(recordWords[word], bytes);
    if (before + bytes < before) atomicAdd(recordWords[word + 1u], 1u);
}}
void recordEvent(uint what, uint at) {{
#if {recordsEvents}
    if (gl_WorkGroupID.x != recordWords[{groupX}] || gl_WorkGroupID.y != recordWords[{groupY}]) return;
    uint capacity = recordWords[{capacity}];
    uint own = {events}u + gl_LocalInvocationIndex * (1u + 2u * capacity);
    if (recordCount < capacity) {{
        recordWords[own + 1u + 2u * recordCount] = what;
        recordWords[own + 2u + 2u * recordCount] = at;
    }}
    ++recordCount;
    recordWords[own] = recordCount;
#endif
}}
void recordBarrier() {{ recordEvent({barrier}u, 0u); }}
uint recorded(uint what, uint at, uint bytes) {{
    if (what >= {write}u) recordWritten += bytes;
    else recordRead += bytes;
    recordEvent(what, at);
    return at;
}}
void recordedMain();
void main() {{
    recordedMain();
    recordSum({bytesRead}u, recordRead);
    recordSum({bytesWritten}u, recordWritten);
}}
)",
        fmt::arg("binding", binding), fmt::arg("recordsEvents", recording == Recording::events ? 1 : 0),
        fmt::arg("groupX", recordLayout::groupX), fmt::arg("groupY", recordLayout::groupY),
        fmt::arg("capacity", recordLayout::capacity), fmt::arg("events", recordLayout::events),
        fmt::arg("barrier", recordLayout::barrier), fmt::arg("write", recordLayout::write),
        fmt::arg("bytesRead", recordLayout::bytesRead), fmt::arg("bytesWritten", recordLayout::bytesWritten));
}

// Unrolled, each access would be a copy of all of the above, and the driver would compile for minutes.
std::string withLoops(std::string text) {
    constexpr std::string_view unroll = "[[unroll]]";
    for (std::size_t at = 0; (at = text.find(unroll, at)) != std::string::npos;)
        text.replace(at, unroll.size(), "[[dont_unroll]]");
    return text;
}

} // namespace

RecordingShader recordingShaderOf(const std::string& expandedText, const std::string& stem,
                                  Recording recording) {
    std::string text = withoutComments(expandedText);
    if (recording == Recording::events) text = withLoops(std::move(text));
    RecordingShader shader;
    shader.arrays = arraysOf(text, stem);
    if (shader.arrays.empty())
        throw std::runtime_error(stem + ": it has no buffer whose accesses could be recorded");
    for (const RecordedArray& array : shader.arrays)
        if (!array.shared) shader.binding = std::max(shader.binding, array.id + 1);
    const std::size_t main = text.find("void main()");
    if (main == std::string::npos) throw std::runtime_error(stem + ": it has no main()");
    text.replace(main, 11, "void recordedMain()");
    // Extensions come before any declaration.
    const std::size_t lastExtension = text.rfind("\n#extension ");
    const std::size_t from = lastExtension == std::string::npos ? 0 : lastExtension + 1;
    const std::size_t head = text.find('\n', from) + 1;
    shader.text = text.substr(0, head) + recordingCode(shader.binding, recording) +
                  Rewriter(shader.arrays).rewritten(text.substr(head));
    return shader;
}

} // namespace lockstep::demos
