// Which network fits which data: the outputs a loss needs, and what it compares them with.
#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/net/dataset.h"

using namespace lockstep;

namespace {

Dataset valueData() {
    Dataset data;
    data.name = "values";
    data.inputs = 1;
    data.targetWidth = 2;
    return data;
}

Dataset classData(std::size_t classes) {
    Dataset data;
    data.name = "points";
    data.inputs = 2;
    data.classes = classes;
    return data;
}

NetShape netShape(std::vector<std::size_t> widths, Loss loss, Activation output = Activation::identity) {
    NetShape shape;
    shape.widths = std::move(widths);
    shape.loss = loss;
    shape.outputActivation = output;
    return shape;
}

std::string refusal(const Dataset& data, const NetShape& shape) {
    try {
        targetKind(data, shape);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return "accepted";
}

bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("outputs and target kinds fit the loss and the data") {
    const Dataset two = classData(2), ten = classData(10);
    Dataset regression = valueData();
    CHECK(outputsFor(two, Loss::crossEntropy) == 2);
    CHECK(outputsFor(two, Loss::binaryCrossEntropy) == 1);
    CHECK(outputsFor(two, Loss::meanSquared) == 1);
    CHECK(outputsFor(ten, Loss::meanSquared) == 10);
    CHECK(outputsFor(regression, Loss::huber) == 2);

    CHECK(targetKind(ten, netShape({2, 10}, Loss::crossEntropy)) == shared::targetClassIndex);
    CHECK(targetKind(ten, netShape({2, 10}, Loss::binaryCrossEntropy)) == shared::targetOneHot);
    CHECK(targetKind(two, netShape({2, 2}, Loss::huber)) == shared::targetOneHot);
    CHECK(targetKind(two, netShape({2, 1}, Loss::binaryCrossEntropy)) == shared::targetBit);
    CHECK(targetKind(two, netShape({2, 1}, Loss::meanSquared)) == shared::targetSign);
    CHECK(targetKind(two, netShape({2, 1}, Loss::huber, Activation::tanh)) == shared::targetSign);
    CHECK(targetKind(two, netShape({2, 1}, Loss::huber, Activation::sigmoid)) == shared::targetBit);
    CHECK(targetKind(regression, netShape({1, 2}, Loss::meanSquared)) == shared::targetValues);
}

TEST_CASE("what does not fit is refused, and the refusal says what would fit") {
    const Dataset ten = classData(10), two = classData(2);
    CHECK(contains(refusal(ten, netShape({3, 10}, Loss::crossEntropy)), "2 numbers, the network takes 3"));
    CHECK(contains(refusal(ten, netShape({2, 9}, Loss::crossEntropy)), "10 outputs"));
    CHECK(contains(refusal(ten, netShape({2, 1}, Loss::meanSquared)), "10 outputs"));
    CHECK(contains(refusal(two, netShape({2, 3}, Loss::meanSquared)), "2 outputs or a single one"));
    CHECK(contains(refusal(valueData(), netShape({1, 2}, Loss::crossEntropy)), "use mse or huber"));
    CHECK(contains(refusal(valueData(), netShape({1, 1}, Loss::huber)), "2 outputs"));
    CHECK(contains(refusal(two, netShape({2, 3}, Loss::meanSquared)), "'points'"));
}
