// Weights under the names that other programs give them: matched by order and shape, or refused with a list.
#include "engine/files/foreign_weights.h"

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

using namespace lockstep;

namespace {

using Widths = std::vector<std::size_t>;

Tensor tensor(const std::string& name, std::vector<std::size_t> shape, float first = 1) {
    std::size_t count = 1;
    for (const std::size_t extent : shape) count *= extent;
    Tensor result{name, std::move(shape), std::vector<float>(count)};
    std::iota(result.values.begin(), result.values.end(), first);
    return result;
}

/// Layers by name, each with weight [outputs, inputs] and bias, from these widths.
TensorFile layersNamed(const std::vector<std::string>& stems, const Widths& widths) {
    TensorFile file;
    for (std::size_t i = 0; i < stems.size(); ++i) {
        const auto first = static_cast<float>(100 * i);
        file.tensors.push_back(tensor(stems[i] + "weight", {widths[i + 1], widths[i]}, first));
        file.tensors.push_back(tensor(stems[i] + "bias", {widths[i + 1]}, first + 50));
    }
    return file;
}

WantedLayers wantedFor(const Widths& widths) {
    return {widths.front(), widths.back(), Widths(widths.begin() + 1, widths.end() - 1)};
}

std::string refusalOf(const TensorFile& file, const WantedLayers& wanted) {
    try {
        findDenseLayers(file, wanted, "w");
    } catch (const std::runtime_error& error) {
        return error.what();
    }
    return "accepted";
}

std::string joined(const std::vector<std::string>& notes) {
    std::string text;
    for (const std::string& note : notes) text += note + "\n";
    return text;
}

/// The layers as layersNamed() numbers them, by their first weights.
Widths orderOf(const ForeignWeights& found) {
    Widths order;
    for (const DenseWeights& layer : found.layers)
        order.push_back(static_cast<std::size_t>(layer.weight.front()) / 100);
    return order;
}

bool contains(const std::string& text, const std::string& part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("names that differ by a prefix or their numbering alone") {
    const Widths widths{2, 8, 2};
    const std::vector<std::vector<std::string>> names = {
        {"0.", "2."},
        {"fc1.", "fc2."},
        {"module.0.", "module.2."},
        {"_orig_mod.0.", "_orig_mod.2."},
        {"_orig_mod.module.net.0.", "_orig_mod.module.net.2."},
        {"net.0.", "net.2."},
        {"model.0.", "model.3."},
        {"linear_relu_stack.0.", "linear_relu_stack.2."},
        {"layers.0.linear.", "layers.1.linear."},
        {"1.", "3."},
        {"encoder.", "head."},
        {"Dense_0/", "Dense_1/"},
    };
    for (const std::vector<std::string>& stems : names) {
        CAPTURE(stems[0]);
        for (const WantedLayers& wanted : {wantedFor(widths), WantedLayers{2, 2, {}}}) {
            const ForeignWeights found = findDenseLayers(layersNamed(stems, widths), wanted, "w");
            CHECK(orderOf(found) == Widths{0, 1});
            CHECK(found.layers[0].inputs == 2);
            CHECK(found.layers[0].outputs == 8);
            CHECK(found.layers[1].weight == tensor("", {2, 8}, 100).values);
            CHECK(found.layers[1].bias == std::vector<float>{150, 151});
            CHECK(found.notes.empty() == (stems[0] == "0."));
        }
    }
    CHECK(joined(findDenseLayers(layersNamed({"fc1.", "fc2."}, widths), wantedFor(widths), "w").notes) ==
          "layers were put in the order of the numbers in their names: 'fc1', 'fc2'\n");
    CHECK(joined(findDenseLayers(layersNamed({"body.", "head."}, widths), wantedFor(widths), "w").notes) ==
          "layers were put in the order of their shapes: 'body', 'head'\n");
    const ForeignWeights single = findDenseLayers(layersNamed({""}, {3, 4}), wantedFor({3, 4}), "w");
    CHECK(orderOf(single) == Widths{0});
    CHECK(single.notes.empty());
}

TEST_CASE("numbers count as numbers, and shapes are checked whatever the order of the file") {
    Widths square(13, 4);
    std::vector<std::string> stems; // as the format's writers sort them: fc1, fc10, fc11, fc12, fc2, ...
    for (const int number : {1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9})
        stems.push_back("fc" + std::to_string(number) + ".");
    const ForeignWeights found = findDenseLayers(layersNamed(stems, square), wantedFor(square), "w");
    CHECK(orderOf(found) == Widths{0, 4, 5, 6, 7, 8, 9, 10, 11, 1, 2, 3});
    // Keras leaves out the first number.
    const TensorFile dense = layersNamed({"dense_1.", "dense_10.", "dense_2.", "dense."}, {4, 4, 4, 4, 4});
    CHECK(orderOf(findDenseLayers(dense, wantedFor({4, 4, 4, 4, 4}), "w")) == Widths{3, 0, 2, 1});
    // Shapes decide between names of different kinds, and numbers between the layers that could be exchanged.
    TensorFile mixed = layersNamed({"out."}, {4, 2});
    const auto add = [&mixed](const std::string& stem, std::size_t inputs, float first) {
        mixed.tensors.push_back(tensor(stem + "weight", {4, inputs}, first));
        mixed.tensors.push_back(tensor(stem + "bias", {4}));
    };
    add("fc2.", 4, 200);
    add("fc1.", 4, 100);
    add("first.", 3, 900);
    CHECK(orderOf(findDenseLayers(mixed, {3, 2, {}}, "w")) == Widths{9, 1, 2, 0});
    // Numbers that contradict the shapes.
    const TensorFile reversed = layersNamed({"fc2.", "fc1."}, {2, 8, 3});
    const ForeignWeights turned = findDenseLayers(reversed, {2, 3, {}}, "w");
    CHECK(orderOf(turned) == Widths{0, 1});
    CHECK(contains(joined(turned.notes), "in the order of their shapes: 'fc2', 'fc1'"));
}

TEST_CASE("an order that neither shapes nor numbers give is refused") {
    const Widths square{4, 4, 4};
    for (const std::vector<std::string>& stems :
         {std::vector<std::string>{"encoder.", "decoder."}, {"fc1.", "fc01."}, {"net1.fc.", "net2.out."}}) {
        CAPTURE(stems[0]);
        const std::string message = refusalOf(layersNamed(stems, square), wantedFor(square));
        CHECK(contains(message, "w: the order of its layers is not clear: "));
        CHECK(
            contains(message, "the file has '" + stems[0] + "weight' [4, 4], '" + stems[0] + "bias' [4], '"));
    }
    std::vector<std::string> many; // no order fits: the last layer is too wide
    for (char c = 'a'; c <= 'z'; ++c) many.push_back(std::string(1, c) + ".");
    CHECK(contains(refusalOf(layersNamed(many, Widths(27, 4)), {4, 5, {}}),
                   "w: the order of its layers is not"));
}

TEST_CASE("Keras's transposed weights are noticed, transposed and said") {
    const auto keras = [](const std::vector<std::string>& stems, const Widths& widths,
                          const std::string& weight, const std::string& bias) {
        TensorFile file;
        for (std::size_t i = 0; i < stems.size(); ++i) {
            file.tensors.push_back(tensor(stems[i] + bias, {widths[i + 1]}, 50));
            file.tensors.push_back(tensor(stems[i] + weight, {widths[i], widths[i + 1]}, 0));
        }
        return file;
    };
    const std::string said = "weights were transposed: the file has them as [inputs, outputs], as Keras does";
    const std::pair<std::vector<std::string>, std::string> names[] = {{{"dense/", "dense_1/"}, "kernel"},
                                                                      {{"dense/", "dense_1/"}, "kernel:0"},
                                                                      {{"Dense_0.", "Dense_1."}, "kernel"},
                                                                      {{"fc1.", "fc2."}, "weight"}};
    for (const auto& [stems, weight] : names) {
        const std::string bias = weight.ends_with(":0") ? "bias:0" : "bias";
        const ForeignWeights found =
            findDenseLayers(keras(stems, {2, 3, 4}, weight, bias), wantedFor({2, 3, 4}), "w");
        REQUIRE(found.layers.size() == 2);
        CHECK(found.layers[0].inputs == 2);
        CHECK(found.layers[0].weight == std::vector<float>{0, 3, 1, 4, 2, 5});
        CHECK(found.layers[0].bias == std::vector<float>{50, 51, 52});
        CHECK(contains(joined(found.notes), said));
    }
    // Keras 3's variables have numbers for names.
    CHECK(contains(
        joined(findDenseLayers(keras({"layers/dense/vars/", "layers/dense_1/vars/"}, {2, 3, 4}, "0", "1"),
                               {2, 4, {}}, "w")
                   .notes),
        said));
    // A square matrix does not tell: the name does.
    const std::vector<float> asRows{0, 1, 2, 3};
    const std::vector<float> asColumns{0, 2, 1, 3};
    const ForeignWeights kernel = findDenseLayers(keras({"d."}, {2, 2}, "kernel", "bias"), {2, 2, {}}, "w");
    CHECK(kernel.layers[0].weight == asColumns);
    CHECK(contains(joined(kernel.notes), said + " (they are square; their names say so)"));
    const ForeignWeights pytorch = findDenseLayers(keras({"d."}, {2, 2}, "weight", "bias"), {2, 2, {}}, "w");
    CHECK(pytorch.layers[0].weight == asRows);
    CHECK(pytorch.notes.empty());
    const ForeignWeights other = findDenseLayers(keras({"d."}, {2, 2}, "w", "b"), {2, 2, {}}, "w");
    CHECK(other.layers[0].weight == asRows);
    CHECK(contains(joined(other.notes), "all weights are square, so that their shapes do not tell"));
    // "kernel" as PyTorch has weights: shapes come before names.
    TensorFile rows = layersNamed({"d1.", "d2."}, {2, 3, 4});
    rows.tensors[0].name = "d1.kernel";
    rows.tensors[2].name = "d2.kernel";
    CHECK(findDenseLayers(rows, {2, 4, {}}, "w").layers[0].weight == tensor("", {3, 2}, 0).values);
}

TEST_CASE("other types are converted, and said") {
    TensorFile file = layersNamed({"0."}, {2, 3});
    file.tensors[0].type = "BF16";
    file.tensors[1].type = "F64";
    CHECK(joined(findDenseLayers(file, {2, 3, {}}, "w").notes) ==
          "values of type BF16 were converted to float\nvalues of type F64 were converted to float\n");
}

TEST_CASE("what does not fit is refused with what the file has and what is wanted") {
    const TensorFile good = layersNamed({"module.0.", "module.2."}, {2, 8, 2});
    const std::string has = "; the file has 'module.0.weight' [8, 2], 'module.0.bias' [8], 'module.2.weight' "
                            "[2, 8], 'module.2.bias' [2]; wanted are ";
    CHECK(refusalOf(good, wantedFor({2, 32, 2})) ==
          "w: its layers are 2-8-2, not 2-32-2; use the layers of the saved network: --layers 8" + has +
              "'0.weight' [32, 2], '0.bias' [32], '2.weight' [2, 32], '2.bias' [2], or other names for the "
              "same "
              "layers");
    CHECK(refusalOf(good, {784, 10, {}}) ==
          "w: its layers are 2-8-2, not 784-...-10; the data need other inputs or outputs than the file has" +
              has +
              "dense layers from 784 inputs to 10 outputs, each with a weight [outputs, inputs] and a bias "
              "[outputs]");
    CHECK(contains(refusalOf(layersNamed({"0."}, {2, 2}), wantedFor({2, 8, 2})),
                   "--layers none; the file has"));
    CHECK(contains(refusalOf(layersNamed({"0.", "2."}, {2, 8, 2}), wantedFor({2, 8, 8, 2})),
                   "its layers are 2-8-2, not 2-8-8-2"));
    CHECK(contains(refusalOf({}, {2, 2, {}}),
                   "w: there are no weights in it; the file has no tensors; wanted"));
    const auto with = [&](const Tensor& extra) {
        TensorFile file = good;
        file.tensors.push_back(extra);
        return refusalOf(file, {2, 2, {}});
    };
    CHECK(contains(
        with(tensor("conv.weight", {8, 1, 3, 3})),
        "w: tensor 'conv.weight' [8, 1, 3, 3] belongs to no dense layer, which has one weight of two "
        "dimensions and one bias; the file has 'module.0.weight'"));
    CHECK(contains(with(tensor("module.0.running_mean", {8})),
                   "tensor 'module.0.running_mean' [8] belongs to no"));
    CHECK(contains(with(tensor("embedding.weight", {9, 4})),
                   "tensor 'embedding.bias' is missing: 'embedding.weight' [9, 4] has no bias beside it"));
    CHECK(contains(with(tensor("norm/scale", {9})),
                   "tensor 'norm/weight' is missing: 'norm/scale' [9] has no weight beside it"));
    TensorFile many;
    for (int i = 0; i < 14; ++i) many.tensors.push_back(tensor("t" + std::to_string(i), {1, 1, 1}));
    CHECK(contains(refusalOf(many, {2, 2, {}}), "'t9' [1, 1, 1] and 4 more; wanted"));
    CHECK(contains(refusalOf(layersNamed({"0."}, {2, 2}), wantedFor(Widths(12, 4))),
                   "'8.weight' [4, 4], '8.bias' [4], and so on, or other names"));
}
