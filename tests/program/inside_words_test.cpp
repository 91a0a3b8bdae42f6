// "Inside a step" without its window: what is said about operations, which products an element is the sum of,
// which lines of a source are shown and what of a formula they compute, and which part of the time axis;
// which step its names and times are of.
#include <doctest/doctest.h>

#include <set>

#include "demos/exhibits/inside/inside.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/source_pane.h"
#include "demos/kit/source_text.h"
#include "engine/cpu/cpu_info.h"
#include "engine/run/make_trainer.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

TracedOperation operation(const char* name, std::size_t layer = 0, const char* source = "") {
    TracedOperation made;
    made.operation = operationFromName(std::string_view(source) == "loss_sum" ? source : name);
    made.layer = layer;
    made.source = source;
    return made;
}

const std::vector<TracedOperation> allOperations = {operation("gather_batch"),
                                                    operation("dense", 1),
                                                    operation("loss_and_gradient", 0, "loss_and_gradient"),
                                                    operation("loss_and_gradient", 0, "loss_sum"),
                                                    operation("dense_backward_inputs", 1),
                                                    operation("dense_backward_weights", 1),
                                                    operation("update")};

NetShape shape() {
    NetShape made;
    made.widths = {4, 8, 3};
    made.activation = Activation::relu;
    return made;
}

} // namespace

TEST_CASE("every operation has a name and perhaps a short form, never a tensor's name") {
    for (const TracedOperation& each : allOperations) {
        CAPTURE(titleOf(each, 2));
        const std::vector<std::string> labels = barLabels(each);
        REQUIRE_FALSE(labels.empty());
        for (const std::string& label : labels) CHECK(label.find('[') == std::string::npos);
        for (std::size_t i = 1; i < labels.size(); ++i) CHECK(labels[i].size() < labels[i - 1].size());
        CHECK(std::string(rowOf(each.operation).purpose).size() > 20);
        CHECK_FALSE(formulaOf(each, shape(), Optimizer::adam).empty());
    }
    CHECK(barLabels(operation("dense", 1)) == std::vector<std::string>{"forward 2"});
    CHECK(barLabels(operation("dense_backward_weights", 1)) ==
          std::vector<std::string>{"backward: weights 2", "weights 2"});
    CHECK(barLabels(operation("dense_backward_weights", 1), true) == std::vector<std::string>{"weights 2"});
    CHECK(titleOf(operation("dense", 2), 3) == "forward, layer 3 of 3"); // people count from 1
    CHECK(titleOf(operation("dense_backward_weights", 0), 3) == "backward: weights, layer 1 of 3");
    CHECK(titleOf(operation("update", 2), 3) == "update"); // it is of no layer
    for (const OperationRow& row : operationTable) CHECK(operationFromName(row.name) == row.operation);
    CHECK_THROWS_WITH_AS(operationFromName("dens"), doctest::Contains("'dens'"), std::invalid_argument);
}

TEST_CASE("formulas have the layer's own indices and activation") {
    NetShape net = shape();
    CHECK(formulaOf(operation("dense", 0), net, Optimizer::sgd) == "A[1] = relu(A[0] W[0]^T + b[0])");
    CHECK(formulaOf(operation("dense", 1), net, Optimizer::sgd) == "A[2] = A[1] W[1]^T + b[1]");
    CHECK(formulaOf(operation("dense_backward_inputs", 1), net, Optimizer::sgd) ==
          "dZ[0] = dZ[1] W[1] ⊙ relu'(Z[0])");
    net.activation = Activation::identity;
    CHECK(formulaOf(operation("dense_backward_inputs", 1), net, Optimizer::sgd) == "dZ[0] = dZ[1] W[1]");
    // A rung that folds the update into the gradient says so.
    TracedOperation weights = operation("dense_backward_weights", 1);
    CHECK(formulaOf(weights, net, Optimizer::sgd) == "dW[1] = dZ[1]^T A[1]\ndb[1] = Σ dZ[1]");
    weights.operation = Operation::denseBackwardWeightsAndUpdate;
    CHECK(formulaOf(weights, net, Optimizer::sgd).starts_with("W[1] -= lr dZ[1]^T A[1]"));
    CHECK(formulaOf(operation("update"), net, Optimizer::sgd) == "W -= lr dW");
}

TEST_CASE("an operation is found again in the other machine's trace") {
    StepTrace other;
    other.operations = {operation("dense", 0), operation("dense", 1), operation("update")};
    CHECK(counterpartOf(operation("dense", 1), other) == 1);
    CHECK(counterpartOf(operation("update"), other) == 2);
    CHECK(counterpartOf(operation("gather_batch"), other) == 3); // it has none
}

namespace {

TrainJob tracedJob(const Dataset& data, Activation activation) {
    TrainJob job = test::jobFor(data, {9, 6});
    job.shape.activation = activation;
    return job;
}

/// Over all elements of a tensor: the largest difference between a sum and what was stored, and between the
/// products as they are shown and the sum.
struct SumErrors {
    double stored = 0;
    double shown = 0;
    double largest = 0; // stored value
};

SumErrors sumErrors(const TrainJob& job, const StepTrace& trace, const TracedOperation& operation,
                    const TensorId& id) {
    const TracedTensor& tensor = *trace.find(id);
    SumErrors errors;
    for (std::size_t row = 0; row < tensor.rows; ++row)
        for (std::size_t column = 0; column < tensor.columns; ++column) {
            const auto element = elementSum(job.shape, trace, operation, {id, row, column});
            REQUIRE(element);
            const LargestProducts largest = largestProducts(*element, 3);
            double shown = largest.othersSum + (element->bias ? element->bias->value : 0);
            for (const std::size_t i : largest.shown) shown += element->product(i);
            const auto stored = static_cast<double>(tensor.values[row * tensor.columns + column]);
            CHECK(element->stored.value == stored);
            CHECK(largest.shown.size() + largest.others == element->size());
            errors.stored = std::max(errors.stored, std::abs(element->result - stored));
            errors.shown = std::max(errors.shown, std::abs(shown - element->sum));
            errors.largest = std::max(errors.largest, std::abs(stored));
        }
    return errors;
}

} // namespace

TEST_CASE("operations that are submitted one by one wait where a barrier would be, too") {
    const TensorId batch{.kind = TensorKind::activations, .layer = 0};
    const TensorId hidden{.kind = TensorKind::activations, .layer = 1};
    const TensorId output{.kind = TensorKind::activations, .layer = 2};
    StepTrace trace;
    trace.operations = {operation("gather_batch"), operation("dense", 0), operation("dense", 1),
                        operation("update")};
    trace.operations[0].writes = {batch};
    trace.operations[1].reads = {batch};
    trace.operations[1].writes = {hidden};
    trace.operations[2].reads = {hidden};
    trace.operations[2].writes = {output};
    trace.operations[3].reads = {batch}; // since the last wait, nothing has written it
    CHECK(waitsOf(trace) == std::vector<bool>{false, false, false, false});
    trace.operations[1].barrierBefore = true;
    CHECK(waitsOf(trace) == std::vector<bool>{false, true, false, false});
    trace.operations[1].barrierBefore = false;
    trace.oneSubmission = false;
    CHECK(waitsOf(trace) == std::vector<bool>{false, true, true, false});
}

TEST_CASE("an element of a product is the sum of the products that are shown") {
    const Dataset data = test::classData();
    for (const Activation activation : {Activation::relu, Activation::tanh, Activation::gelu}) {
        const TrainJob job = tracedJob(data, activation);
        // The same of products that round what they read.
        const bool rounds = hasBf16Instructions() && activation == Activation::tanh;
        const auto trainer = makeCpuTrainer(job, rounds ? Rung::bf16 : Rung::scalar, 1);
        trainer->run(3);
        const StepTrace trace = trainer->traceStep({});
        CHECK(trace.bf16 == rounds);
        std::map<Operation, int> seen;
        for (const TracedOperation& each : trace.operations)
            for (const TensorId& id : each.writes) {
                const Operation kind = each.shownAs();
                const std::string tensor = titleOf(each, 3) + ", " + name(id);
                CAPTURE(tensor);
                if (kind == Operation::gatherBatch || kind == Operation::lossAndGradient ||
                    kind == Operation::update) {
                    CHECK_FALSE(elementSum(job.shape, trace, each, {id, 0, 0}));
                    continue;
                }
                const SumErrors errors = sumErrors(job, trace, each, id);
                CHECK(errors.largest > 0);
                CHECK(errors.stored <= 1e-5 * (1 + std::sqrt(32.0)) * errors.largest);
                CHECK(errors.shown <= 1e-12);
                ++seen[kind];
            }
        CHECK(seen[Operation::dense] >= 3);
        CHECK(seen[Operation::denseBackwardInputs] == 2);
        CHECK(seen[Operation::denseBackwardWeights] == 6);
    }
}

TEST_CASE("an element's sum is of the numbers in the trace, and says which") {
    const Dataset data = test::classData();
    const TrainJob job = tracedJob(data, Activation::tanh);
    StepTrace trace = makeCpuTrainer(job, Rung::scalar, 1)->traceStep({});
    const ElementAt at{{TensorKind::activations, 2}, 4, 5};
    const std::size_t made = operationOf(job.shape, trace, at);
    REQUIRE(made < trace.operations.size());
    CHECK(titleOf(trace.operations[made], 3) == "forward, layer 2 of 3");
    const ElementSum before = *elementSum(job.shape, trace, trace.operations[made], at);
    CHECK(before.formula == "A[2][4, 5] = tanh(Σ A[1][4, i] W[1][5, i] + b[1][5])");
    CHECK(before.first.place == "row 4 of A[1]");
    trace.tensors.at({TensorKind::weights, 1}).values[5 * 9 + 7] += 1;
    const ElementSum after = *elementSum(job.shape, trace, trace.operations[made], at);
    CHECK(after.sum - before.sum == doctest::Approx(before.first.values[7]));
    CHECK(after.stored.value == before.stored.value);

    const ElementAt gradient{{TensorKind::dSums, 0}, 4, 8};
    const std::size_t back = operationOf(job.shape, trace, gradient);
    CHECK(elementSum(job.shape, trace, trace.operations.at(back), gradient)->formula ==
          "dZ[0][4, 8] = (Σ dZ[1][4, o] W[1][o, 8]) tanh'(Z[0][4, 8])");
    const ElementAt weight{{TensorKind::dWeights, 0}, 8, 6};
    const std::size_t weights = operationOf(job.shape, trace, weight);
    CHECK(elementSum(job.shape, trace, trace.operations.at(weights), weight)->formula ==
          "dW[0][8, 6] = Σ dZ[0][r, 8] A[0][r, 6]");

    // Only the first rows of large tensors are kept: enough for some elements, but not for sums over rows.
    TracedTensor& inputs = trace.tensors.at({TensorKind::activations, 0});
    inputs.values.resize(2 * inputs.columns);
    const auto found = [&](const ElementAt& element) {
        return operationOf(job.shape, trace, element) < trace.operations.size();
    };
    CHECK(found({{TensorKind::activations, 1}, 1, 0}));
    CHECK_FALSE(found({{TensorKind::activations, 1}, 2, 0}));
    CHECK_FALSE(found(weight));
    CHECK_FALSE(found({{TensorKind::activations, 1}, 0, 9})); // beyond the tensor
    CHECK_FALSE(found({{TensorKind::activations, 0}, 0, 0})); // copied, not computed
}

TEST_CASE("times, amounts and rates keep three digits, also where they round up to the next unit") {
    CHECK(timeText(0.0384) == "38.4 µs");
    CHECK(timeText(0.09949) == "99.5 µs");
    CHECK(timeText(0.0996) == "99.6 µs");
    CHECK(timeText(0.09996) == "100 µs");
    CHECK(timeText(0.9996) == "1.00 ms");
    CHECK(timeText(9.994) == "9.99 ms");
    CHECK(timeText(9.996) == "10.0 ms");
    CHECK(amountText(999.4, "B") == "999 B");
    CHECK(amountText(999.6, "B") == "1.00 kB");
    CHECK(amountText(9.996e6, "B") == "10.0 MB");
    CHECK(amountText(99.96e6, "FLOP") == "100 MFLOP");
    CHECK(amountText(5e15, "FLOP") == "5000 TFLOP");
    CHECK(rateText(1e9, 1000, "FLOP/s") == "1.00 GFLOP/s");
    CHECK(rateText(1e9, 0, "FLOP/s") == "-");
    CHECK(rateText(0, 5, "FLOP/s") == "-");
}

TEST_CASE("a function is found from its head to its brace") {
    const auto lines = linesOf("// void dense(int) is told here\n"
                               "void dense(int a);\n"
                               "    x = dense(1);\n"
                               "\n"
                               "template <class T>\n"
                               "void other(T t) {\n"
                               "    if (t) {\n"
                               "    }\n"
                               "}\n");
    const SourceRange other = functionIn(lines, "other");
    CHECK(other.begin == 4);
    CHECK(other.end == 9);
    CHECK(functionIn(lines, "missing").end == 0);
    CHECK(functionIn(lines, "ther").end == 0); // only whole names
    CHECK(firstFunctionIn(lines).begin == 5);
    CHECK(firstFunctionIn(lines).end == 9);
    CHECK(firstFunctionIn(linesOf("#version 450\n// f() {\nlayout(x) in;\n")).end == 0);
}

TEST_CASE("what is shown beside a shader is in the program's own sources") {
    for (const auto& [file, function] : {std::pair{"plain_ops.cpp", "gatherBatch"},
                                         {"plain_ops.cpp", "dense"},
                                         {"plain_loss.cpp", "lossAndGradient"},
                                         {"plain_ops.cpp", "denseBackwardInputs"},
                                         {"plain_ops.cpp", "denseBackwardWeights"},
                                         {"plain_update.cpp", "update"}}) {
        const std::string called = function;
        CAPTURE(called);
        const SourceRange range = functionIn(linesOf(sourceText(file)), function);
        CHECK(range.end > range.begin + 2);
    }
    for (const std::string& shader : stepShaders()) {
        CAPTURE(shader);
        const std::vector<std::string> parts = withIncludes({}, shader + ".comp");
        CHECK(std::ranges::any_of(parts, [](const std::string& part) {
            return functionIn(linesOf(sourceText(part)), "main").end > 0;
        }));
    }
    const std::vector<std::string> files = withIncludes({}, "dense_blocked.comp");
    CHECK(files.front() == "dense_blocked.comp");
    CHECK(std::ranges::count(files, "params.h") == 1);
    CHECK(withIncludes({}, "no_such_file.comp").size() == 1);
}

TEST_CASE("every part of a product's formula is computed by a line of each of its sources") {
    const NetShape net = shape();
    const auto computedIn = [](const std::vector<EquationPart>& parts,
                               std::span<const std::string_view> lines) {
        std::set<std::size_t> computed;
        for (const std::string_view line : lines)
            if (const auto part = partComputedBy(line, parts)) computed.insert(*part);
        return computed.size();
    };
    for (const auto& [kind, layer, count] : {std::tuple{"dense", 0, 3},
                                             {"dense", 1, 2}, // without an activation
                                             {"dense_backward_inputs", 1, 2},
                                             {"dense_backward_weights", 1, 2},
                                             {"loss_and_gradient", 0, 2},
                                             {"update", 0, 0}}) {
        const TracedOperation each = operation(kind, static_cast<std::size_t>(layer));
        const std::vector<EquationPart> parts = equationParts(each, net);
        CAPTURE(each.name());
        CHECK(parts.size() == static_cast<std::size_t>(count));
        const std::string formula = formulaOf(each, net, Optimizer::sgd);
        for (const EquationPart& part : parts) CHECK(formula.find(part.text) != std::string::npos);
        const OperationWords& words = wordsOf(each.operation);
        const auto lines = linesOf(sourceText(words.plainFile));
        const SourceRange function = functionIn(lines, words.plainFunction);
        CHECK(computedIn(parts, std::span(lines).subspan(function.begin, function.end - function.begin)) ==
              parts.size());
        for (const std::string& shader : stepShaders()) {
            if (!shader.starts_with(kind) || parts.empty()) continue;
            if (kind == std::string_view("dense") && shader.starts_with("dense_backward")) continue;
            CAPTURE(shader);
            std::vector<std::string_view> all;
            for (const std::string& file : withIncludes({}, shader + ".comp"))
                for (const std::string_view line : linesOf(sourceText(file))) all.push_back(line);
            CHECK(computedIn(parts, all) == parts.size());
        }
    }
    CHECK_FALSE(partComputedBy("// sum = fma(a, b, sum)", equationParts(operation("dense"), net)));
}

TEST_CASE("the time axis moves just far enough to show an operation") {
    Timeline timeline;
    TracedOperation late = operation("update");
    late.beginMs = 8;
    late.endMs = 9;
    timeline.reveal(late);
    CHECK_FALSE(timeline.view.has_value()); // all of the step is in sight
    timeline.view = {1, 3};
    timeline.reveal(late);
    CHECK((*timeline.view)[0] == doctest::Approx(7.5)); // in the middle, and as long as before
    CHECK((*timeline.view)[1] == doctest::Approx(9.5));
    timeline.view = {8.9, 10.9}; // a part of it is in sight: nothing moves
    timeline.reveal(late);
    CHECK((*timeline.view)[0] == doctest::Approx(8.9));
    TracedOperation early = operation("gather_batch");
    early.endMs = 0.2;
    timeline.reveal(early);
    CHECK((*timeline.view)[0] == 0); // not before the step's begin
    CHECK((*timeline.view)[1] == doctest::Approx(2));
}

TEST_CASE("name, time and source are of the step that ran, also while another kernel is being prepared") {
    Machines machines{0, testDeviceOptions().select};
    gpu::Device& device = machines.openForDrawing({});
    Inside inside; // after the device, which it uses
    RunOptions settings = firstTracedRun();
    settings.data = "spiral";
    settings.hiddenWidths = std::vector<std::size_t>{16, 8};
    settings.settings.batch = 32;
    settings.lanes = {laneSpecFromText("cpu:simd"), laneSpecFromText("gpu:naive")};
    const auto frame = [&](bool wait) { inside.model.update(machines, device, 1.0 / 60, wait); };
    inside.change(settings);
    CHECK(inside.model.lane(1).text() == "gpu:naive"); // nothing has run: the one that is prepared
    frame(true);
    inside.select({1, 1});
    const auto shown = [&] { return std::pair{inside.model.lane(1).text(), inside.selected()->source}; };
    CHECK(shown() == std::pair<std::string, std::string>{"gpu:naive", "dense_naive"});
    CHECK(inside.model.complete());

    settings.lanes[1] = laneSpecFromText("gpu:tiled");
    inside.change(settings);
    const double time = inside.selected()->milliseconds();
    CHECK(inside.model.outdated());
    CHECK(inside.model.settings().lanes[1].text() == "gpu:tiled");
    CHECK(shown() == std::pair<std::string, std::string>{"gpu:naive", "dense_naive"});
    CHECK(inside.selected()->milliseconds() == time);
    frame(false); // the new one has only begun
    CHECK(shown() == (inside.model.outdated()
                          ? std::pair<std::string, std::string>{"gpu:naive", "dense_naive"}
                          : std::pair<std::string, std::string>{"gpu:tiled", "dense_tiled"}));
    frame(true);
    CHECK_FALSE(inside.model.outdated());
    CHECK(shown() == std::pair<std::string, std::string>{"gpu:tiled", "dense_tiled"});

    // An operation beyond a short step's end is the last one there, and is not forgotten.
    inside.view.selected = {1, 99};
    CHECK(inside.chosen().index + 1 == inside.model.trace(1)->operations.size());
    CHECK(inside.view.selected.index == 99);
}

TEST_CASE("examples pass layer by layer, rest at the end, and the next one follows") {
    PassingExample passing;
    CHECK(passing.layersPassed() == 0);
    float before = 0;
    bool rested = false;
    for (int frame = 0; frame < 60 * 20 && passing.example == 0; ++frame) {
        passing.advance(1.0 / 60, 3, 2);
        if (passing.example > 0) break;
        CHECK(passing.layersPassed() >= before);
        before = passing.layersPassed();
        rested = rested || before > 4;
    }
    CHECK(rested); // its outputs can be read
    CHECK(passing.example == 1);
    CHECK(passing.seconds == 0);
    for (int frame = 0; frame < 60 * 20 && passing.example == 1; ++frame) passing.advance(1.0 / 60, 3, 2);
    CHECK(passing.example == 0); // the batch's first again
}

TEST_CASE("after its outputs have been read, an example is shown what its step does to correct them") {
    PassingExample passing;
    std::vector<std::size_t> shown; // operations after the forward pass
    for (int frame = 0; frame < 60 * 20 && passing.example == 0; ++frame) {
        passing.advance(1.0 / 60, 3, 2, 4);
        const float corrections = passing.correctionsShown(3);
        if (passing.example > 0 || corrections < 0) continue;
        CHECK(passing.layersPassed() >= 3);
        if (shown.empty() || static_cast<std::size_t>(corrections) != shown.back())
            shown.push_back(static_cast<std::size_t>(corrections));
    }
    CHECK(shown == std::vector<std::size_t>{0, 1, 2, 3});
    CHECK(passing.example == 1);
}

TEST_CASE("images are drawn as images: as many as there is room for, each pixel at its place") {
    Dataset data;
    data.inputs = 12;
    data.imageWidth = 4;
    data.imageHeight = 3;
    TracedTensor tensor{{TensorKind::activations, 0}, 10, 12, std::vector<float>(120)};
    CHECK(holdsImages(tensor, data));
    CHECK_FALSE(holdsImages({{TensorKind::activations, 1}, 10, 12, std::vector<float>(120)}, data));
    const TileGrid all = tilesFor(data, 10, {400, 300}, 30);
    CHECK(all.count() >= 10);
    const TileGrid few = tilesFor(data, 10, {80, 60}, 30);
    CHECK(few.count() == 4); // 40 by 30 each
    const TileGrid one = tilesFor(data, 10, {5, 5}, 30);
    CHECK(one.count() == 1); // smaller than wished rather than none
    // The second image's pixel (2, 1), in a grid of two columns.
    const auto share = [&](double pixel, std::size_t pixels) {
        return static_cast<float>((pixel + 0.5) / static_cast<double>(pixels));
    };
    const auto found = [&](double x, double y) {
        return tiledElement(tensor, few, share(x, few.pixelsWide()), share(y, few.pixelsHigh()));
    };
    REQUIRE(few.columns == 2);
    CHECK(found(5 + 2, 1) == ElementAt{tensor.id, 1, 1 * 4 + 2});
    CHECK(found(0, 4) == ElementAt{tensor.id, 2, 0});
    CHECK_FALSE(found(4, 0)); // between two images
}

TEST_CASE("a source line that is too wide goes on below, at a blank where it has one") {
    CHECK(sourceBreaks("short", 10, 4).empty());
    const std::string line = "    sum += a(row, k) * w(o, k); // the product of both";
    const std::vector<std::size_t> breaks = sourceBreaks(line, 24, 8);
    REQUIRE_FALSE(breaks.empty());
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= breaks.size(); ++i) {
        const std::size_t end = i < breaks.size() ? breaks[i] : line.size();
        CHECK(end > begin);
        CHECK(end - begin + (i > 0 ? 8 : 0) <= 24);
        if (i < breaks.size()) CHECK((line[end - 1] == ' ' || line[end - 1] == ',' || line[end - 1] == '('));
        begin = end;
    }
    CHECK(sourceBreaks(std::string(50, 'x'), 20, 4) == std::vector<std::size_t>{20, 36}); // no blank at all
}
