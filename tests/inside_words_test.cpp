// "Inside a step" without its window: what is said about operations, which lines of a source are shown, and
// which part of the time axis.
#include <doctest/doctest.h>

#include "demos/exhibits/inside/inside.h"
#include "demos/exhibits/inside/operation_words.h"
#include "demos/kit/source_text.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

TracedOperation operation(const char* name, std::size_t layer = 0, const char* source = "") {
    TracedOperation made;
    made.name = name;
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

TEST_CASE("every operation has names from the longest to the shortest") {
    for (const TracedOperation& each : allOperations) {
        CAPTURE(titleOf(each, 2));
        const std::vector<std::string> labels = barLabels(each);
        REQUIRE(labels.size() >= 2);
        for (std::size_t i = 1; i < labels.size(); ++i) CHECK(labels[i].size() < labels[i - 1].size());
        CHECK(std::string(rowOf(kindOf(each)).purpose).size() > 20);
        CHECK_FALSE(formulaOf(each, shape(), Optimizer::adam).empty());
    }
    CHECK(titleOf(operation("dense", 2), 3) == "forward, layer 3 of 3"); // people count from 1
    CHECK(titleOf(operation("dense_backward_weights", 0), 3) == "backward: weights, layer 1 of 3");
    CHECK(titleOf(operation("update", 2), 3) == "update"); // it is of no layer
    for (const OperationKind kind : operationKinds) CHECK(kindOf(rowOf(kind).name) == kind);
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
    weights.writes = {{TensorKind::dWeights, 1}};
    CHECK(formulaOf(weights, net, Optimizer::sgd) == "dW[1] = dZ[1]^T A[1]\ndb[1] = Σ dZ[1]");
    weights.writes = {{TensorKind::weights, 1, true}};
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
