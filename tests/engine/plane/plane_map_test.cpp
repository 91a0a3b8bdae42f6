// Checks maps of the plane (outputs, colours and neurons' tiles) against plain loops.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <mutex>
#include <string>

#include "engine/net/param_layout.h"
#include "engine/plane/plane_map.h"
#include "tests/environment.h"
#include "tests/plane_twin.h"
#include "tests/test_device.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

PlaneColours testColours() {
    PlaneColours colours;
    colours.negative = 0xFF009FE6;
    colours.zero = 0xFFF0F0F0;
    colours.positive = 0xFFE9B456;
    colours.background = 0xFF202020;
    for (std::uint32_t k = 0; k < shared::colourClassCount; ++k)
        colours.classes[k] = 0xFF000000u | (k * 2654435761u & 0xFFFFFFu);
    return colours;
}

NetShape shapeOf(std::vector<std::size_t> widths, Loss loss, Activation activation = Activation::tanh) {
    NetShape shape;
    shape.widths = std::move(widths);
    shape.loss = loss;
    shape.activation = activation;
    return shape;
}

/// What kernels have put into a picture.
std::vector<std::uint32_t> download(gpu::Device& device, const gpu::BufferView& picture) {
    gpu::Buffer copy(device, picture.size, gpu::Memory::readback, "picture");
    gpu::Recorder recorder(device);
    recorder.begin();
    recorder.copy(picture, copy.view());
    recorder.submit();
    recorder.finish();
    const auto* words = reinterpret_cast<const std::uint32_t*>(copy.mapped().data());
    return {words, words + picture.size / sizeof(std::uint32_t)};
}

/// A discretised colour turns at a line; there the machines may differ by a rounding.
bool undecided(std::span<const float> values, bool single, float middle) {
    if (single) return std::abs(values[0] - middle) < 1e-4f;
    std::vector<float> sorted(values.begin(), values.end());
    std::ranges::sort(sorted, std::greater<>());
    return sorted[0] - sorted[1] < 1e-4f;
}

void checkOutput(gpu::Device& device, PlaneMap& map, const PlaneColours& colours,
                 std::span<const float> parameters) {
    const NetShape& shape = map.shape();
    const std::uint32_t size = map.options().outputSize;
    const std::uint32_t cells = map.outputCells();
    const auto expected = plainLevels(map, parameters, cells).back();
    const std::vector<float> found = map.outputs();
    const std::size_t stride = roundUpToFour(shape.outputs());
    REQUIRE(found.size() == cells * cells * stride);
    const bool fromZero =
        shape.loss == Loss::binaryCrossEntropy || shape.outputActivation == Activation::sigmoid;
    double valueError = 0;
    float colourError = 0;
    const auto words = download(device, map.outputPicture());
    for (std::uint32_t pixel = 0; pixel < size * size; ++pixel) {
        const std::size_t cell = pixel / size * cells / size * cells + pixel % size * cells / size;
        const auto valuesOf = [&](const std::vector<float>& outputs) {
            return probabilities(std::span(outputs).subspan(cell * stride, shape.outputs()), shape.loss);
        };
        const std::vector<float> values = valuesOf(expected);
        const std::vector<float> own = valuesOf(found);
        for (std::size_t k = 0; k < values.size(); ++k) {
            const auto difference = static_cast<double>(values[k] - own[k]);
            valueError =
                std::max(valueError, std::abs(difference) / (1 + std::abs(static_cast<double>(values[k]))));
        }
        if (colours.discretise && undecided(values, values.size() == 1, fromZero ? 0.5f : 0.0f)) continue;
        colourError = std::max(colourError, outputColour(values, shape, colours).distance(words[pixel]));
    }
    CHECK(valueError < 1e-4);
    CHECK(colourError <= 1.01f);
}

/// Tile `n` at column n % columns of a picture `width` pixels wide, `top` pixels down.
float tileError(std::span<const std::uint32_t> words, std::uint32_t width, std::uint32_t top,
                std::uint32_t tile, std::size_t n, std::span<const float> level, std::size_t stride,
                std::uint32_t cells, const PlaneColours& colours) {
    float scale = 1;
    for (std::size_t cell = 0; cell < std::size_t{cells} * cells; ++cell)
        scale = std::max(scale, std::abs(level[cell * stride + n]));
    const std::size_t columns = width / tile;
    float error = 0;
    for (std::size_t pixel = 0; pixel < std::size_t{tile} * tile; ++pixel) {
        const std::size_t x = pixel % tile;
        const std::size_t y = pixel / tile;
        const float value = level[(y * cells / tile * cells + x * cells / tile) * stride + n] / scale;
        if (colours.discretise && std::abs(value) < 1e-4f) continue;
        const std::size_t at = (top + n / columns * tile + y) * width + n % columns * tile + x;
        error = std::max(error, signedColour(value, colours).distance(words[at]));
    }
    return error;
}

void checkNeurons(gpu::Device& device, PlaneMap& map, const PlaneColours& colours,
                  std::span<const float> parameters) {
    const NetShape& shape = map.shape();
    const std::uint32_t tile = map.options().neuronSize;
    const auto levels = plainLevels(map, parameters, map.neuronCells());
    const auto atlas = download(device, map.neuronPicture());
    REQUIRE(atlas.size() == std::size_t{map.atlasWidth()} * map.atlasHeight());
    for (std::size_t level = 0; level < levels.size(); ++level) {
        CAPTURE(level);
        const std::size_t stride = roundUpToFour(shape.widths[level]);
        const auto top = static_cast<std::uint32_t>(level * tile);
        float error = 0;
        for (std::size_t n = 0; n < map.atlasWidth() / tile; ++n)
            if (n < shape.widths[level])
                error = std::max(error, tileError(atlas, map.atlasWidth(), top, tile, n, levels[level],
                                                  stride, map.neuronCells(), colours));
            else
                error = std::max(error, Colour(colours.background)
                                            .distance(atlas[std::size_t{top} * map.atlasWidth() + n * tile]));
        CHECK(error <= 1.01f);
        CHECK(map.isWide(level) == (shape.widths[level] > map.options().mostNeurons));
        if (!map.isWide(level)) continue;
        const NeuronGrid grid = map.wideLayerGrid(level);
        CHECK(grid.columns * grid.lines >= shape.widths[level]);
        const auto wide = download(device, map.wideLayerPicture(level));
        error = 0;
        for (std::size_t n = 0; n < shape.widths[level]; ++n)
            error = std::max(error, tileError(wide, grid.width(), 0, grid.tile, n, levels[level], stride,
                                              map.neuronCells(), colours));
        CHECK(error <= 1.01f);
    }
}

std::vector<float> parametersFor(const NetShape& shape, std::uint64_t seed = 3) {
    std::vector<float> parameters = initialWeights(shape, seed);
    const ParamLayout layout(shape);
    for (std::size_t l = 0; l < layout.layers(); ++l) // biases too, of both signs
        for (std::size_t o = 0; o < layout.layer(l).outputs; ++o)
            parameters[layout.layer(l).biasOffset + o] = 0.2f * static_cast<float>(o % 3) - 0.1f;
    return parameters;
}

void checkMap(gpu::Device& device, const NetShape& shape, PlaneMapOptions options) {
    CAPTURE(shape.describeWidths());
    CAPTURE(name(shape.activation));
    CAPTURE(name(shape.loss));
    PlaneMap map(device, shape, featuresFor(shape), options);
    for (const bool discretise : {false, true}) {
        CAPTURE(discretise);
        PlaneColours colours = testColours();
        colours.discretise = discretise;
        const std::vector<float> parameters = parametersFor(shape, discretise ? 4 : 3);
        device.wait(map.compute(parameters, colours));
        checkOutput(device, map, colours, parameters);
        checkNeurons(device, map, colours, parameters);
    }
}

PlaneMapOptions small() {
    PlaneMapOptions options;
    options.outputSize = 64;
    options.neuronSize = 20;
    return options;
}

} // namespace

TEST_CASE("features are what their names say") {
    CHECK(planeFeatures(0.5f, -2, allPlaneFeatures()) ==
          std::vector<float>{0.5f, -2, 0.25f, 4, -1, std::sin(0.5f), std::sin(-2.0f)});
    for (const PlaneFeature feature : allPlaneFeatures())
        CHECK(planeFeatureFromName(name(feature)) == feature);
    CHECK_THROWS_AS(planeFeatureFromName("cos-x"), std::invalid_argument);
}

TEST_CASE("pictures and outputs match the plain loops") {
    checkMap(testDevice(), shapeOf({2, 1}, Loss::meanSquared), small());
    checkMap(testDevice(), shapeOf({2, 8, 8, 2}, Loss::crossEntropy), small());
    checkMap(testDevice(), shapeOf({7, 33, 5}, Loss::crossEntropy), small());
    checkMap(testDevice(), shapeOf({2, 1024, 3}, Loss::crossEntropy), small());
}

TEST_CASE("they match for every activation and every loss") {
    for (const Activation activation : allActivations) {
        NetShape shape = shapeOf({2, 8, 8, 1}, Loss::binaryCrossEntropy, activation);
        checkMap(testDevice(), shape, small());
        shape.loss = Loss::meanSquared;
        shape.outputActivation = activation;
        checkMap(testDevice(), shape, small());
    }
    for (const Loss loss : {Loss::crossEntropy, Loss::meanSquared, Loss::huber, Loss::binaryCrossEntropy})
        checkMap(testDevice(), shapeOf({3, 5, 19}, loss), small()); // more classes than colours
}

TEST_CASE("a full map takes several chunks, another rectangle and odd sizes work too") {
    checkMap(testDevice(), shapeOf({7, 33, 5}, Loss::crossEntropy), {});
    PlaneMapOptions options;
    options.outputSize = 77;
    options.neuronSize = 13;
    options.mostNeurons = 3;
    options.from = 0.25f;
    options.to = 0.5f;
    checkMap(testDevice(), shapeOf({2, 8, 8, 2}, Loss::crossEntropy), options);
}

TEST_CASE(
    "a network too large for one cell per pixel uses larger cells, and even larger ones while it trains") {
    PlaneMapOptions options;
    options.outputSize = 250; // cells do not divide pixels evenly
    const NetShape shape = shapeOf({2, 256, 256, 3}, Loss::crossEntropy);
    PlaneMap map(testDevice(), shape, featuresFor(shape), options);
    const std::vector<float> parameters = parametersFor(shape);
    std::uint32_t cells = 250;
    for (const MapDetail detail : {MapDetail::still, MapDetail::moving}) {
        testDevice().wait(map.compute(parameters, testColours(), detail));
        CHECK(map.outputCells() < cells);
        cells = map.outputCells();
        checkOutput(testDevice(), map, testColours(), parameters);
        checkNeurons(testDevice(), map, testColours(), parameters);
    }
}

TEST_CASE("minimum limits, staged memory and descriptor sets change nothing") {
    gpu::DeviceOptions options = testDeviceOptions();
    options.minimumLimits = true;
    options.forceStaging = true;
    options.pushDescriptors = false;
    gpu::Device device(options);
    checkMap(device, shapeOf({2, 8, 8, 2}, Loss::crossEntropy), small());
    checkMap(device, shapeOf({7, 33, 5}, Loss::crossEntropy, Activation::gelu), small());
}

TEST_CASE("NaN weights are shown as background") {
    const NetShape shape = shapeOf({2, 4, 2}, Loss::crossEntropy, Activation::relu);
    PlaneMap map(testDevice(), shape, featuresFor(shape), small());
    std::vector<float> parameters = parametersFor(shape);
    parameters[ParamLayout(shape).layer(0).biasOffset] = std::nanf("");
    testDevice().wait(map.compute(parameters, testColours()));
    for (const std::uint32_t word : download(testDevice(), map.outputPicture()))
        REQUIRE(word == testColours().background);
    const auto atlas = download(testDevice(), map.neuronPicture());
    const std::size_t firstHidden = std::size_t{20} * map.atlasWidth();
    CHECK(atlas[firstHidden] == testColours().background);
    CHECK(atlas[firstHidden + 20] != testColours().background);
}

TEST_CASE("a picture stays as it is while the next one is computed") {
    const NetShape shape = shapeOf({2, 8, 8, 2}, Loss::crossEntropy);
    PlaneMapOptions options = small();
    options.mostNeurons = 4;
    PlaneMap map(testDevice(), shape, featuresFor(shape), options);
    const auto computed = [&](std::uint64_t seed) {
        testDevice().wait(map.compute(parametersFor(shape, seed), testColours()));
        return std::vector{map.outputPicture(), map.neuronPicture(), map.wideLayerPicture(1)};
    };
    const auto words = [](const std::vector<gpu::BufferView>& pictures) {
        std::vector<std::vector<std::uint32_t>> all;
        for (const gpu::BufferView& picture : pictures) all.push_back(download(testDevice(), picture));
        return all;
    };
    const std::vector<gpu::BufferView> shown = computed(1);
    const auto before = words(shown);
    const auto others = words(computed(2));
    CHECK(words(shown) == before);
    for (std::size_t i = 0; i < before.size(); ++i) CHECK(others[i] != before[i]);
    computed(1);
    CHECK(words({map.outputPicture(), map.neuronPicture(), map.wideLayerPicture(1)}) == before);
}

TEST_CASE("successive maps do not wait for each other, and use their own parameters") {
    const NetShape shape = shapeOf({2, 8, 8, 2}, Loss::crossEntropy);
    PlaneMap map(testDevice(), shape, featuresFor(shape), small());
    testDevice().wait(map.compute(parametersFor(shape, 1), testColours())); // pipelines are warm
    const std::uint64_t waits = testDevice().counters().hostWaits;
    map.compute(parametersFor(shape, 2), testColours());
    const gpu::Ticket last = map.compute(parametersFor(shape, 3), testColours());
    CHECK(testDevice().counters().hostWaits == waits);
    testDevice().wait(last);
    checkOutput(testDevice(), map, testColours(), parametersFor(shape, 3));
}

TEST_CASE("invalid sizes are rejected") {
    const NetShape shape = shapeOf({2, 8, 2}, Loss::crossEntropy);
    gpu::Device& device = testDevice();
    CHECK_THROWS_AS(PlaneMap(device, shape, {PlaneFeature::x}), std::invalid_argument);
    PlaneMapOptions options;
    options.outputSize = 0;
    CHECK_THROWS_AS(PlaneMap(device, shape, featuresFor(shape), options), std::invalid_argument);
    options = {};
    options.to = options.from;
    CHECK_THROWS_AS(PlaneMap(device, shape, featuresFor(shape), options), std::invalid_argument);
    CHECK_THROWS_AS(
        PlaneMap(device, shapeOf({2, 100}, Loss::crossEntropy), {PlaneFeature::x, PlaneFeature::y}),
        std::invalid_argument); // 100 MB of outputs
    PlaneMap map(device, shape, featuresFor(shape), small());
    CHECK_THROWS_AS(map.compute(std::vector<float>(3), testColours()), std::invalid_argument);
    CHECK_THROWS_AS(map.outputs(), std::logic_error);
}

TEST_CASE("validation is silent" * doctest::skip(onWindows)) {
    std::mutex mutex;
    std::vector<gpu::ValidationMessage> messages;
    gpu::DeviceOptions options = testDeviceOptions();
    options.validation = true;
    options.messages = [&](const gpu::ValidationMessage& message) {
        const std::lock_guard lock(mutex);
        messages.push_back(message);
    };
    SUBCASE("core and synchronization") {}
    SUBCASE("with staged memory") { options.forceStaging = true; }
    SUBCASE("GPU-assisted") {
        options.gpuAssisted = true;
        options.pushDescriptors = false; // layers of Vulkan 1.3.239 take pushed ones for uninitialised
    }
    {
        gpu::Device device(options);
        PlaneMapOptions wide = small();
        wide.mostNeurons = 4;
        std::vector<NetShape> shapes{shapeOf({2, 1}, Loss::meanSquared),
                                     shapeOf({3, 6, 3}, Loss::crossEntropy)};
        if (!options.gpuAssisted) // drivers take minutes over large tiles with checks in them
            shapes.push_back(shapeOf({7, 33, 5}, Loss::crossEntropy, Activation::gelu));
        for (const NetShape& shape : shapes) {
            PlaneMap map(device, shape, featuresFor(shape), wide);
            for (std::uint64_t seed = 1; seed < 5; ++seed)
                map.compute(parametersFor(shape, seed), testColours());
            CHECK(!map.outputs().empty());
            map.compute(parametersFor(shape, 9), testColours());
            download(device, map.neuronPicture());
            map.compute(parametersFor(shape, 10), testColours()); // still running when the map is destroyed
        }
    }
    for (const gpu::ValidationMessage& message : messages) MESSAGE(message.id, ": ", message.text);
    CHECK(messages.empty());
}
