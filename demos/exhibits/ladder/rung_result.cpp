#include "demos/exhibits/ladder/rung_result.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/plan/work.h"
#include "engine/step/step_trace.h"
#include "engine/tune/kernel_choice.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

/// The product that an operation computes; none for other operations.
std::optional<Product> productOf(const TracedOperation& operation) {
    for (const Product each : allProducts)
        if (name(each) == operation.name()) return each;
    return std::nullopt;
}

bool foldsUpdate(const TracedOperation& operation) {
    return operation.operation == Operation::denseBackwardWeightsAndUpdate;
}

// The bytes of a folded update, which reads and writes parameters and state instead of writing gradients.
double foldedBytes(const TracedOperation& operation, const DenseShape& shape) {
    std::size_t arenas = 1;
    for (const TensorId& id : operation.reads)
        if (id.kind == TensorKind::weightState1 || id.kind == TensorKind::weightState2) ++arenas;
    const auto parameters = static_cast<double>(shape.outputs * shape.inputStride + shape.outputs);
    return parameters * sizeof(float) * (2 * static_cast<double>(arenas) - 1);
}

/// The kernel of a traced operation that is a product. Throws std::runtime_error when it is none that could
/// be counted.
ProductKernel kernelOf(const TracedOperation& operation, Product product, gpu::Device& device,
                       const DenseShape& shape) {
    constexpr double most = 1e8; // operations: a second of a single invocation
    for (const auto& all : {candidates(device, product, shape), halfCandidates(device, product, shape)})
        for (const ProductKernel& how : all) {
            if (how.describe() != operation.kernel ||
                shaderName(name(operation.operation), how) != operation.source)
                continue;
            if (how.rung == Rung::one && operation.flops > most)
                throw std::runtime_error(
                    "counting the accesses inside this kernel would take as long as the step itself");
            return how;
        }
    throw std::runtime_error("the accesses of " + operation.source + " are not counted");
}

/// Null where the invocation is done.
const AccessEvent* eventAt(const std::vector<AccessEvent>& events, std::size_t moment) {
    return moment < events.size() ? &events[moment] : nullptr;
}

/// The distance that most pairs of neighbours have, in bytes; none where they touch different arrays.
std::optional<std::uint32_t> usualDistance(const AccessRecord& record, std::size_t moment) {
    std::map<std::uint32_t, std::size_t> pairs;
    for (std::size_t i = 0; i + 1 < record.invocations.size(); ++i) {
        const AccessEvent* a = eventAt(record.invocations[i], moment);
        const AccessEvent* b = eventAt(record.invocations[i + 1], moment);
        if (a == nullptr || b == nullptr || !a->access() || !b->access() || a->array != b->array) continue;
        const std::uint32_t elements = a->at > b->at ? a->at - b->at : b->at - a->at;
        ++pairs[elements * record.array(a->array).bytes];
    }
    if (pairs.empty()) return std::nullopt;
    return std::ranges::max_element(pairs, {}, &std::pair<const std::uint32_t, std::size_t>::second)->first;
}

std::string distanceText(std::uint32_t distance, const RecordedArray& array, bool write) {
    constexpr std::uint32_t smallestLine = 32; // bytes
    const auto text = [write](const char* read, const char* written) {
        return std::string(translated(write ? written : read));
    };
    if (distance == 0 && !array.shared)
        return text("neighbouring invocations read the same word, in one access.",
                    "neighbouring invocations write the same word.");
    if (distance == 0)
        return text("neighbouring invocations read the same word.",
                    "neighbouring invocations write the same word.");
    if (array.shared)
        return write ? translatedFormat("neighbouring invocations write words {} bytes apart.", distance)
                     : translatedFormat("neighbouring invocations read words {} bytes apart.", distance);
    if (distance <= array.bytes)
        return text("neighbouring invocations read adjacent words, sharing cache lines.",
                    "neighbouring invocations write adjacent words, sharing cache lines.");
    if (distance < smallestLine)
        return write ? translatedFormat("neighbouring invocations write {} bytes apart, sharing cache lines.",
                                        distance)
                     : translatedFormat("neighbouring invocations read {} bytes apart, sharing cache lines.",
                                        distance);
    return write ? translatedFormat("neighbouring invocations write {} bytes apart, a cache line each.",
                                    distance)
                 : translatedFormat("neighbouring invocations read {} bytes apart, a cache line each.",
                                    distance);
}

/// All operations in one kernel: its products are not to be told from the rest.
bool isWholeStep(const TracedOperation& operation) { return operation.operation == Operation::wholeStep; }

/// What the products of a step ask memory for. Throws std::runtime_error, gpu::GpuError.
double countProductBytes(const std::vector<TracedOperation>& operations, const NetShape& net,
                         std::size_t batch, gpu::Device& device, AccessRecorder& recorder) {
    double bytes = 0;
    for (const TracedOperation& operation : operations) {
        if (isWholeStep(operation))
            throw std::runtime_error("between its operations, data stay in the workgroup's shared memory");
        const std::optional<Product> product = productOf(operation);
        if (!product) continue;
        const DenseShape shape = denseShapeOf(net, operation.layer, batch);
        const AccessRecord record =
            recorder.record(*product, kernelOf(operation, *product, device, shape), shape, Recording::bytes);
        bytes += record.bytesRead + record.bytesWritten;
        if (foldsUpdate(operation)) bytes += foldedBytes(operation, shape);
    }
    return bytes;
}

} // namespace

void describeStep(RungResult& result, Trainer& trainer, const TrainJob& job, gpu::Device& device,
                  AccessRecorder& recorder) {
    const std::vector<TracedOperation> operations = trainer.traceStep({.tensors = false}).operations;
    for (const TracedOperation& operation : operations) {
        if (productOf(operation) || isWholeStep(operation)) {
            result.productFlops += operation.flops;
            result.leastProductBytes += operation.bytes;
        } else {
            result.otherBytes += operation.bytes;
        }
    }
    if (!result.spec.gpu) {
        result.uncounted = "what a CPU's caches fetch is not counted";
        return;
    }
    const std::size_t batch = std::min(job.settings.batch, job.data->train.count);
    result.uncounted = failureOf(
        [&] { result.productBytes = countProductBytes(operations, job.shape, batch, device, recorder); });
}

AccessRecord recordOfRung(const LaneSpec& spec, Product product, gpu::Device& device,
                          AccessRecorder& recorder) {
    constexpr std::uint32_t k = 16;
    constexpr std::uint32_t side = 32;
    if (!spec.gpu) throw std::runtime_error("CPU rungs have no workgroups.");
    if (!spec.row().unrecorded.empty()) throw std::runtime_error(std::string(spec.row().unrecorded));
    const NetShape net{.widths = {side, side, side}};
    Kernels kernels(device);
    const LayerKernels layer =
        chooseKernels(device, kernels, spec.rung, net, Optimizer::sgd, side).layers.back();
    ProductKernel how = product == Product::forward          ? layer.forward
                        : product == Product::backwardInputs ? layer.backwardInputs
                                                             : layer.backwardWeights;
    how.tileM = std::min(how.tileM, 4u);
    how.tileN = std::min(how.tileN, 4u);
    if (how.slabK > 0) {                                // shared memory: a group that shares along both
        const bool fours = how.rung == Rung::pipelined; // are what its invocations read
        how.tileM = fours ? 4 : std::min(how.tileN, 2u);
        how.tileN = how.half ? 4 : how.tileM; // halves are stored in fours
        how.groupM = how.groupN = std::min(how.groupN, fours ? 4u : 8u);
        how.slabK = 8;
    }
    const std::size_t m = std::max(side, how.groupM * how.tileM);
    const std::size_t n = std::max(side, how.groupN * how.tileN);
    // C[m][n] = sum over k, in the words of a layer.
    DenseShape shape;
    if (product == Product::forward) shape = {m, k, n, k, n};
    if (product == Product::backwardInputs) shape = {m, n, k, n, k};
    if (product == Product::backwardWeights) shape = {k, n, m, n, m};
    return alignedAtBarriers(recorder.record(product, how, shape, Recording::events));
}

std::string_view refusalReason(const RungResult& result) {
    const std::string names = " cannot run " + result.spec.text() + ": ";
    const std::string_view whole = result.refusal;
    const std::size_t at = whole.find(names);
    return translated(at == std::string_view::npos ? whole : whole.substr(at + names.size()));
}

std::string_view shortRefusal(const RungResult& result) {
    const std::string_view reason = refusalReason(result);
    std::size_t end = reason.size();
    for (const std::string_view next : {", ", "; ", ": ", " (", " with ", ". "})
        end = std::min(end, reason.find(next));
    return reason.substr(0, end);
}

std::string shortResult(const RungResult* result) {
    if (result == nullptr) return "not measured";
    if (result->refused()) return "not supported";
    if (result->wrong()) return "wrong result";
    return result->timed() ? amountText(result->measure.gflops * 1e9, "FLOP/s") : "not measured";
}

std::string roofShare(const RungResult* result, const Roof* roof) {
    if (result == nullptr || !result->timed() || !result->spec.gpu || roof == nullptr) return {};
    const double share = 100 * result->measure.gflops / roof->gflopsFor(result->spec.rung);
    return (share < 9.95 ? twoDigits(share) : fixed(share, 1)) + " %";
}

std::string checkText(const RungResult& result) {
    const Agreement& agreement = result.measure.agreement;
    if (result.refused()) return translatedParts(result.refusal);
    if (result.wrong())
        return translatedFormat("Its losses differ from those of the plain loops by {} within {} steps. "
                                "So it is not timed.",
                                scientific(agreement.largestDifference, 1), agreement.steps);
    return translatedFormat("Its first {} losses match those of the plain loops to within {}.",
                            agreement.steps, scientific(std::max(agreement.largestDifference, 1e-8), 1));
}

std::vector<std::pair<std::string, std::string>> numbersOf(const RungResult& result, const Roof* roof) {
    std::vector<std::pair<std::string, std::string>> numbers;
    if (!result.timed()) return numbers;
    const LaneMeasure& measure = result.measure;
    numbers.emplace_back("speed", shortResult(&result));
    if (const std::string share = roofShare(&result, roof); !share.empty())
        numbers.emplace_back("share of the roof", share);
    numbers.emplace_back("time per step", duration(measure.secondsPerStep));
    numbers.emplace_back("samples", shortRate(measure.samplesPerSecond) + " /s");
    if (measure.machine.dispatches > 0) {
        numbers.emplace_back("dispatches per step", grouped(measure.machine.dispatches));
        numbers.emplace_back("barriers per step", grouped(measure.machine.barriers));
    }
    if (result.productBytes > 0) {
        numbers.emplace_back("bytes moved per step", amountText(result.bytes(), "B"));
        numbers.emplace_back("bandwidth", amountText(result.bytes() / measure.secondsPerStep, "B/s"));
        numbers.emplace_back("minimum", amountText(result.leastProductBytes + result.otherBytes, "B"));
        numbers.emplace_back("FLOP per byte", threeDigits(result.intensity()));
    } else {
        numbers.emplace_back("minimum bytes per step",
                             amountText(result.leastProductBytes + result.otherBytes, "B"));
    }
    return numbers;
}

std::size_t moments(const AccessRecord& record) {
    std::size_t most = 0;
    for (const auto& events : record.invocations) most = std::max(most, events.size());
    return most;
}

std::string momentText(const AccessRecord& record, std::size_t moment) {
    std::set<std::uint32_t> arrays;
    std::size_t waiting = 0;
    bool write = false;
    for (const auto& events : record.invocations)
        if (const AccessEvent* event = eventAt(events, moment)) {
            if (event->barrier)
                ++waiting;
            else if (event->access()) {
                arrays.insert(event->array);
                write = event->write;
            }
        }
    if (arrays.empty())
        return std::string(translated(waiting > 0 ? "Barrier: the invocations wait for each other."
                                                  : "All invocations are done."));
    const RecordedArray& array = record.array(*arrays.begin());
    const std::string which = wordsFor(record, array);
    const std::string text =
        write ? translatedFormat("Writing {}: ", which) : translatedFormat("Reading {}: ", which);
    if (arrays.size() > 1)
        return text + std::string(translated("the invocations are at different places in the program."));
    const auto distance = usualDistance(record, moment);
    return text + (distance ? distanceText(*distance, array, write)
                            : std::string(translated("a single invocation is active.")));
}

RecordReads readsUntil(const AccessRecord& record, std::size_t moments) {
    RecordReads reads;
    const std::uint32_t result = record.product == Product::backwardWeights ? 2 : 3;
    for (const auto& events : record.invocations)
        for (std::size_t at = 0; at < events.size(); ++at) {
            const AccessEvent& event = events[at];
            if (!event.access()) continue;
            const RecordedArray& array = record.array(event.array);
            const double words = array.bytes / 4.0;
            if (event.write && event.array == result) reads.outputs += words;
            if (!event.write && at < moments) (array.shared ? reads.shared : reads.memory) += words;
        }
    return reads;
}

} // namespace lockstep::demos
