// A convolution, computed as its formula is written; and as a matrix product, of an input that was unfolded
// first (im2col).
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "demos/kit/pacer.h"
#include "demos/lab/convolution_picture.h"
#include "demos/lab/experiment.h"
#include "demos/lab/lab_cells.h"
#include "demos/lab/lab_product.h"
#include "demos/words/median.h"
#include "demos/words/text.h"
#include "engine/cpu/memory.h"
#include "engine/plan/work.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

constexpr const char* directly = "direct";
constexpr const char* naiveProduct = "im2col and naive kernel";
constexpr const char* fastProduct = "im2col and fastest kernel";
constexpr const char* hostProduct = "im2col and best kernel";
constexpr const char* onlyUnfolding = "im2col alone";

constexpr std::uint32_t channels = 32;
constexpr std::uint32_t taps = 9;                // of a 3x3 filter
constexpr std::uint32_t depth = taps * channels; // numbers that an output sums up
constexpr double typicalFilters = 64;            // of which texts speak

/// A square picture, and the most filters that are tried on it.
struct Layer {
    std::uint32_t side = 0;
    std::uint32_t mostFilters = 0;

    std::uint32_t pixels() const { return side * side; }
    double multiplyAdds(double filters) const { return 1.0 * pixels() * depth * filters; }
    /// Of the product, once the input is unfolded. Rows of outputs are padded, as a network's are.
    DenseShape productShape(std::uint32_t filters) const {
        return {pixels(), depth, filters, depth, roundUpToFour(filters)};
    }
    std::size_t outputCount() const { return pixels() * roundUpToFour(mostFilters); }
};

/// Bytes that each way moves at least: every tensor is read, or written, once.
double inputBytes(const Layer& layer) { return 4.0 * layer.pixels() * channels; }
double unfoldedBytes(const Layer& layer) { return 4.0 * layer.pixels() * depth; }
double directBytes(const Layer& layer, double filters) {
    return inputBytes(layer) + 4 * (depth + layer.pixels()) * filters;
}
double matrixBytes(const Layer& layer, double filters) { // what im2col writes is read again
    return directBytes(layer, filters) + 2 * unfoldedBytes(layer);
}

/// The input; 0 beyond its edges, which an unsigned number is, too, that would be less than 0.
float inputAt(const Layer& layer, std::uint32_t row, std::uint32_t column, std::uint32_t channel) {
    if (row >= layer.side || column >= layer.side) return 0;
    return labElement(0, (row * layer.side + column) * channels + channel);
}

/// All of the input, [row][column][channel].
std::vector<float> inputOf(const Layer& layer) {
    std::vector<float> input(std::size_t{layer.pixels()} * channels);
    for (std::uint32_t at = 0; at < input.size(); ++at) input[at] = labElement(0, at);
    return input;
}
/// [filter][row of the filter][column][channel]: the rows of W, whatever the number of filters.
std::vector<float> weightsOf(const Layer& layer) {
    std::vector<float> weights(std::size_t{layer.mostFilters} * depth);
    for (std::uint32_t at = 0; at < weights.size(); ++at) weights[at] = labElement(1, at);
    return weights;
}

/// What is right: sums in double precision, by the formula. Of all rows of a small picture, and of some of a
/// large one. All products are whole numbers, so results in fp32 are the same, not only close.
class Reference {
  public:
    Reference(LabBench& bench, const Layer& layer) : layer_(layer) {
        const std::uint32_t step = layer.side <= 64 ? 1 : layer.side / 16;
        for (std::uint32_t row = 0; row < layer.side; row += step) rows_.push_back(row);
        if (rows_.back() != layer.side - 1) rows_.push_back(layer.side - 1);
        outputs_.resize(rows_.size() * layer.side * layer.mostFilters);
        const std::vector<float> weights = weightsOf(layer);
        bench.team().run([&](std::size_t thread) {
            const Share share = shareOf(rows_.size(), thread, bench.threads());
            for (std::size_t at = share.begin; at < share.end; ++at)
                for (std::uint32_t column = 0; column < layer.side; ++column) addPixel(weights, at, column);
        });
    }

    /// Throws if outputs are wrong.
    ///   row   that row of the picture: [column][stride], of `filters` numbers each
    template <class Row> void requireOutputs(std::uint32_t filters, std::size_t stride, Row row) const {
        for (std::size_t at = 0; at < rows_.size(); ++at) {
            const auto found = row(rows_[at]);
            for (std::uint32_t column = 0; column < layer_.side; ++column)
                for (std::uint32_t filter = 0; filter < filters; ++filter)
                    require(found[column * stride + filter] == outputs_[placeOf(at, column) + filter]);
        }
    }
    /// The same for the unfolded input: [column][depth].
    template <class Row> void requireUnfolded(Row row) const {
        for (const std::uint32_t y : rows_) {
            const auto found = row(y);
            for (std::uint32_t x = 0; x < layer_.side; ++x)
                for (std::uint32_t k = 0; k < depth; ++k) require(found[x * depth + k] == patchAt(y, x, k));
        }
    }

  private:
    static void require(bool right) {
        if (!right) throw std::runtime_error("wrong results, so it is not timed");
    }
    float patchAt(std::uint32_t y, std::uint32_t x, std::uint32_t k) const {
        const std::uint32_t tap = k / channels;
        return inputAt(layer_, y + tap / 3 - 1, x + tap % 3 - 1, k % channels);
    }
    std::size_t placeOf(std::size_t at, std::uint32_t column) const {
        return (at * layer_.side + column) * layer_.mostFilters;
    }
    void addPixel(const std::vector<float>& weights, std::size_t at, std::uint32_t column) {
        std::array<double, depth> patch;
        for (std::uint32_t k = 0; k < depth; ++k) patch[k] = patchAt(rows_[at], column, k);
        for (std::uint32_t filter = 0; filter < layer_.mostFilters; ++filter) {
            double sum = 0;
            for (std::uint32_t k = 0; k < depth; ++k)
                sum += patch[k] * weights[std::size_t{filter} * depth + k];
            outputs_[placeOf(at, column) + filter] = static_cast<float>(sum); // whole, and small: exact
        }
    }

    Layer layer_;
    std::vector<std::uint32_t> rows_;
    std::vector<float> outputs_;
};

/// The milliseconds of both parts of a convolution by a matrix product, of every sample.
class Parts {
  public:
    double add(std::uint32_t filters, double unfolding, double product) {
        unfolding_[filters].push_back(unfolding);
        product_[filters].push_back(product);
        return unfolding + product;
    }
    /// Their medians, as numbers of the machine.
    void note(LabResult& result, const std::string& machine, double filters) const {
        const auto found = static_cast<std::uint32_t>(filters);
        if (!unfolding_.contains(found)) return;
        result.numbers[machine + "_unfold_milliseconds"] = median(unfolding_.at(found));
        result.numbers[machine + "_product_milliseconds"] = median(product_.at(found));
    }

  private:
    std::map<std::uint32_t, std::vector<double>> unfolding_, product_;
};

class DeviceConvolution {
  public:
    DeviceConvolution(LabBench& bench, const Layer& layer)
        : bench_(bench), layer_(layer), reference_(bench, layer), weightRows_(weightsOf(layer)),
          input_(bench.buffer(4 * std::uint64_t{layer.pixels()} * channels, "input")),
          weights_(bench.buffer(4 * weightRows_.size(), "weights")),
          turned_(bench.buffer(4 * weightRows_.size(), "weights, turned")),
          bias_(bench.buffer(4 * roundUpToFour(layer.mostFilters), "bias")),
          unfolded_(bench.buffer(4 * std::uint64_t{layer.pixels()} * depth, "unfolded input")),
          outputs_(bench.buffer(4 * layer.outputCount(), "outputs")) {
        input_.uploadValues<float>(inputOf(layer));
        weights_.uploadValues<float>(weightRows_);
        if (bench.rough()) return;
        const std::size_t most = bench.software() ? 2 : 6; // there, compiling a kernel takes a second
        for (std::uint32_t filters = 1; filters <= layer.mostFilters;
             filters *= 2) { // a sample would look slow
            DenseShape shape = layer.productShape(filters);
            shape.rows = std::min<std::size_t>(shape.rows, 1 << 14);
            if (const auto fastest = fastestProduct(bench, shape, most)) fastest_[filters] = *fastest;
        }
    }

    /// Milliseconds of the convolution as its formula is written.
    double direct(std::uint32_t filters) {
        turnWeights(filters);
        clear(outputs_);
        const std::uint32_t items = layer_.side * filters;
        const gpu::Cost cost{2 * layer_.multiplyAdds(filters), directBytes(layer_, filters)};
        const double taken = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            recorder.dispatch(kernel("lab_convolution"), {items, layer_.side, 1},
                              {items, channels, filters, layer_.side},
                              {input_.view(), turned_.view(), outputs_.view()}, cost);
        });
        requireOutputs(filters, filters);
        return taken;
    }

    /// Milliseconds of im2col.
    double unfold() {
        clear(unfolded_);
        const double taken = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            const std::uint32_t items = layer_.side * depth / 4;
            // Counted as work, so that the recorder can cut it: a device copies about so many numbers
            // meanwhile.
            const gpu::Cost cost{1.0 * layer_.pixels() * depth, inputBytes(layer_) + unfoldedBytes(layer_)};
            recorder.dispatch(kernel("lab_convolution_unfold"), {items, layer_.side, 1},
                              {items, channels, 0, layer_.side}, {input_.view(), unfolded_.view()}, cost);
        });
        reference_.requireUnfolded([&](std::uint32_t row) {
            const std::size_t count = std::size_t{layer_.side} * depth;
            return unfolded_.downloadValues<float>(count, 4 * count * row);
        });
        return taken;
    }

    /// Milliseconds of the product with what unfold() has left.
    double multiply(std::uint32_t filters, bool fastest) {
        const DenseShape shape = layer_.productShape(filters);
        const DenseKernel product = bench_.kernels().dense(
            Product::forward, fastest ? fastestFor(shape) : naiveFor(shape), Activation::identity);
        clear(outputs_);
        const Work work = denseWork(shape);
        const gpu::BufferView outputs = outputs_.view(0, 4 * shape.rows * shape.outputStride);
        const double taken = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            dispatchProduct(recorder, product, shape,
                            {unfolded_.view(), weights_.view(0, 4 * shape.outputs * depth),
                             bias_.view(0, 4 * shape.outputs), outputs, outputs},
                            {work.flops, work.bytes});
        });
        requireOutputs(filters, shape.outputStride);
        return taken;
    }

  private:
    const LabKernel& kernel(const char* stem) {
        return bench_.kernel(stem, {{shared::labGroupSize, bench_.groupSize()}});
    }
    void clear(const gpu::Buffer& buffer) { // to NaN: what is not written would be right by chance
        bench_.deviceMilliseconds(
            [&](gpu::Recorder& recorder) { recorder.fill(buffer.view(), 0x7fc07fc0u); });
    }
    /// Weights such that those of neighbouring filters lie side by side.
    void turnWeights(std::uint32_t filters) {
        if (filters == turnedFilters_) return;
        turnedFilters_ = filters;
        std::vector<float> turned(std::size_t{filters} * depth);
        for (std::size_t k = 0; k < depth; ++k)
            for (std::size_t filter = 0; filter < filters; ++filter)
                turned[k * filters + filter] = weightRows_[filter * depth + k];
        turned_.uploadValues<float>(turned);
    }
    void requireOutputs(std::uint32_t filters, std::size_t stride) const {
        reference_.requireOutputs(filters, stride, [&](std::uint32_t row) {
            const std::size_t count = layer_.side * stride;
            return outputs_.downloadValues<float>(count, 4 * count * row);
        });
    }
    ProductKernel naiveFor(const DenseShape& shape) const {
        return kernelOfRung(*bench_.device(), Rung::naive, Product::forward, shape);
    }
    ProductKernel fastestFor(const DenseShape& shape) const {
        const auto found = fastest_.find(static_cast<std::uint32_t>(shape.outputs));
        if (found != fastest_.end() && fits(*bench_.device(), found->second, shape)) return found->second;
        return fastCandidates(*bench_.device(), Product::forward, shape).front();
    }

    LabBench& bench_;
    Layer layer_;
    Reference reference_;
    std::vector<float> weightRows_;
    gpu::Buffer input_, weights_, turned_, bias_, unfolded_, outputs_;
    std::uint32_t turnedFilters_ = 0;
    std::map<std::uint32_t, ProductKernel> fastest_; // by filters
};

/// The same on the CPU, on all threads: milliseconds.
class HostConvolution {
  public:
    HostConvolution(LabBench& bench, const Layer& layer)
        : bench_(bench), layer_(layer), reference_(bench, layer), input_(inputOf(layer)),
          weights_(weightsOf(layer)), unfolded_(std::size_t{layer.pixels()} * depth),
          outputs_(layer.outputCount()) {}

    double direct(std::uint32_t filters) {
        clear(outputs_);
        const double begin = secondsNow();
        forRows([&](std::uint32_t y) {
            for (std::uint32_t x = 0; x < layer_.side; ++x)
                for (std::uint32_t filter = 0; filter < filters; ++filter)
                    outputs_[(y * layer_.side + x) * std::size_t{filters} + filter] = sumAt(y, x, filter);
        });
        const double seconds = secondsNow() - begin;
        requireOutputs(filters, filters);
        return 1e3 * seconds;
    }

    double unfold() {
        clear(unfolded_);
        const double begin = secondsNow();
        forRows([&](std::uint32_t y) {
            float* to = unfolded_.data() + std::size_t{y} * layer_.side * depth;
            for (std::uint32_t x = 0; x < layer_.side; ++x)
                for (std::uint32_t tap = 0; tap < taps; ++tap, to += channels)
                    if (const float* from = pixelAt(y + tap / 3 - 1, x + tap % 3 - 1))
                        std::copy_n(from, channels, to);
                    else
                        std::fill_n(to, channels, 0.0f);
        });
        const double seconds = secondsNow() - begin;
        reference_.requireUnfolded(
            [&](std::uint32_t row) { return unfolded_.data() + std::size_t{row} * layer_.side * depth; });
        return 1e3 * seconds;
    }

    double multiply(std::uint32_t filters) {
        const DenseShape shape = layer_.productShape(filters);
        clear(outputs_);
        const double begin = secondsNow();
        multiplyOnThreads(bench_, shape, unfolded_.data(), weights_.data(), outputs_.data());
        const double seconds = secondsNow() - begin;
        requireOutputs(filters, shape.outputStride);
        return 1e3 * seconds;
    }

  private:
    template <class Work> void forRows(Work work) {
        bench_.team().run([&](std::size_t thread) {
            const Share share = shareOf(layer_.side, thread, bench_.threads());
            for (std::size_t row = share.begin; row < share.end; ++row) work(static_cast<std::uint32_t>(row));
        });
    }
    void clear(AlignedArray<float>& values) { std::fill_n(values.data(), values.size(), std::nanf("")); }
    void requireOutputs(std::uint32_t filters, std::size_t stride) const {
        reference_.requireOutputs(
            filters, stride, [&](std::uint32_t row) { return outputs_.data() + row * layer_.side * stride; });
    }
    /// The channels of a pixel; null: beyond the edges.
    const float* pixelAt(std::uint32_t row, std::uint32_t column) const {
        if (row >= layer_.side || column >= layer_.side) return nullptr;
        return input_.data() + (std::size_t{row} * layer_.side + column) * channels;
    }
    /// Independent sums, which compilers make vectors of.
    float sumAt(std::uint32_t y, std::uint32_t x, std::uint32_t filter) const {
        constexpr std::uint32_t width = 16;
        std::array<float, width> sums{};
        const float* weight = weights_.data() + std::size_t{filter} * depth;
        for (std::uint32_t tap = 0; tap < taps; ++tap, weight += channels) {
            const float* pixel = pixelAt(y + tap / 3 - 1, x + tap % 3 - 1);
            if (pixel == nullptr) continue;
            for (std::uint32_t c = 0; c < channels; c += width)
                for (std::uint32_t i = 0; i < width; ++i) sums[i] += pixel[c + i] * weight[c + i];
        }
        float sum = 0;
        for (const float each : sums) sum += each;
        return sum;
    }

    LabBench& bench_;
    Layer layer_;
    Reference reference_;
    std::vector<float> input_, weights_;
    AlignedArray<float> unfolded_, outputs_;
};

constexpr const char* productOf(bool gpu) { return gpu ? fastProduct : hostProduct; }

/// On a card, copies that leave most caches: 76 MB. Software Vulkan takes some 20 ns for each load.
Layer layerOf(const LabBench& bench, bool gpu) {
    if (bench.rough()) return {8, 16};
    if (!gpu) return {64, 256};
    return bench.software() ? Layer{16, 64} : Layer{256, 256};
}

/// Numbers of a machine at the typical number of filters, or at the most that all its ways have reached.
void noteNumbers(LabResult& result, bool gpu, const Layer& layer, const Parts& parts) {
    const std::string machine = gpu ? "gpu" : "cpu";
    const LabSeries* direct = result.find(gpu, directly);
    const LabSeries* product = result.find(gpu, productOf(gpu));
    if (direct == nullptr || product == nullptr) return;
    double filters = 0;
    for (const LabPoint& point : direct->points)
        if (point.x <= typicalFilters && std::isfinite(product->at(point.x))) filters = point.x;
    if (filters == 0) return;
    const auto milliseconds = [&](const char* series) { // a point is of a million multiply-adds
        return 1e-9 * result.at(gpu, series, filters) * layer.multiplyAdds(filters);
    };
    result.numbers[machine + "_side"] = layer.side;
    result.numbers[machine + "_filters"] = filters;
    result.numbers[machine + "_direct_milliseconds"] = milliseconds(directly);
    result.numbers[machine + "_matrix_milliseconds"] = milliseconds(productOf(gpu));
    if (gpu && std::isfinite(milliseconds(naiveProduct)))
        result.numbers["gpu_naive_milliseconds"] = milliseconds(naiveProduct);
    parts.note(result, machine, filters);
}

void measure(LabBench& bench, LabResult& result) {
    const double longest = bench.rough() ? 20 : 600; // milliseconds; the recorder cuts submissions
    const auto whole = [](double value) { return static_cast<std::uint32_t>(value); };
    const auto cost = [](double filters) { return filters + 8; };
    const auto sweep = [&](bool gpu, const char* name, const Layer& layer, auto milliseconds) {
        const auto sample = [&, milliseconds](double filters) { // microseconds of a million multiply-adds
            return 1e9 * milliseconds(whole(filters)) / layer.multiplyAdds(filters);
        };
        bench.sweep(result, {gpu, name, labValues(1, layer.mostFilters, 2), sample, cost, longest});
    };
    if (bench.device() == nullptr) {
        for (const char* name : {directly, fastProduct, naiveProduct, onlyUnfolding})
            bench.sweep(result, {true, name, {1}, {}});
    } else {
        const Layer layer = layerOf(bench, true);
        DeviceConvolution device(bench, layer);
        Parts parts;
        sweep(true, directly, layer, [&](std::uint32_t filters) { return device.direct(filters); });
        sweep(true, fastProduct, layer, [&](std::uint32_t filters) {
            const double unfolding = device.unfold();
            return parts.add(filters, unfolding, device.multiply(filters, true));
        });
        sweep(true, naiveProduct, layer, [&](std::uint32_t filters) {
            const double unfolding = device.unfold();
            return unfolding + device.multiply(filters, false);
        });
        sweep(true, onlyUnfolding, layer, [&](std::uint32_t) { return device.unfold(); });
        noteNumbers(result, true, layer, parts);
    }
    const Layer layer = layerOf(bench, false);
    std::optional<HostConvolution> host;
    if (bench.measuresCpu()) host.emplace(bench, layer);
    Parts parts;
    sweep(false, directly, layer, [&](std::uint32_t filters) { return host->direct(filters); });
    sweep(false, hostProduct, layer, [&](std::uint32_t filters) {
        const double unfolding = host->unfold();
        return parts.add(filters, unfolding, host->multiply(filters));
    });
    noteNumbers(result, false, layer, parts);
}

/// From how many filters on im2col and product are faster on the GPU, for good.
struct Crossing {
    bool measured = false;
    double from = 0; ///< filters; 0: up to the last number, they are not
    double last = 0; ///< filters tried

    std::size_t choice() const { return from == 0 ? 3 : from == 1 ? 0 : from <= 16 ? 1 : 2; }
};

/// lead   of im2col and product, for times that overlap: above 0, it is faster; below 0, it is not; 0: by the
///        medians
Crossing crossingOf(const LabResult& result, int lead) {
    Crossing crossing;
    const LabSeries* direct = result.find(true, directly);
    const LabSeries* product = result.find(true, fastProduct);
    if (direct == nullptr || product == nullptr) return crossing;
    for (const LabPoint& one : direct->points) {
        const auto other = std::ranges::find(product->points, one.x, &LabPoint::x);
        if (other == product->points.end()) break;
        crossing.measured = true;
        crossing.last = one.x;
        const bool faster = lead == 0 || apart(one, *other) ? other->median < one.median : lead > 0;
        if (!faster)
            crossing.from = 0;
        else if (crossing.from == 0)
            crossing.from = one.x;
    }
    return crossing;
}

/// The answer depends on times that overlap.
bool undecided(const LabResult& result) {
    return crossingOf(result, 1).choice() != crossingOf(result, -1).choice();
}

std::optional<std::size_t> answer(const LabResult& result) {
    const Crossing crossing = crossingOf(result, 0);
    if (!crossing.measured || undecided(result)) return std::nullopt;
    return crossing.choice();
}

void conclude(const LabResult& result, MeasuredValues& values) {
    const Crossing crossing = crossingOf(result, 0);
    if (crossing.measured) {
        values["gpu_too_busy"].number = undecided(result) ? 1 : 0;
        values["gpu_most_filters"].number = crossing.last;
        if (crossing.from > 0) values["gpu_faster_from_filters"].number = crossing.from;
    }
    for (const std::string machine : {"cpu", "gpu"}) {
        if (!result.has(machine + "_side")) continue;
        const Layer layer{static_cast<std::uint32_t>(result.count(machine + "_side"))};
        const double filters = result.number(machine + "_filters");
        const double flop = 2 * layer.multiplyAdds(filters);
        values[machine + "_million_multiply_adds"].number = 1e-6 * layer.multiplyAdds(filters);
        values[machine + "_input_bytes"].number = inputBytes(layer);
        values[machine + "_unfolded_bytes"].number = unfoldedBytes(layer);
        values[machine + "_direct_bytes"].number = directBytes(layer, filters);
        values[machine + "_matrix_bytes"].number = matrixBytes(layer, filters);
        values[machine + "_direct_flop_per_byte"].number = flop / directBytes(layer, filters);
        values[machine + "_matrix_flop_per_byte"].number = flop / matrixBytes(layer, filters);
        values[machine + "_direct_gflops"].number =
            1e-6 * flop / result.number(machine + "_direct_milliseconds");
        values[machine + "_matrix_gflops"].number =
            1e-6 * flop / result.number(machine + "_matrix_milliseconds");
    }
}

/// The times of each way, to one scale: a bar of the copying, and one of the multiply-adds.
void drawParts(const Ui& ui, const LabResult& result, ImVec2 at, ImVec2 size) {
    struct Way {
        std::string label;
        double unfolding, multiplying; // milliseconds
    };
    const bool gpu = result.has("gpu_direct_milliseconds");
    const std::string machine = gpu ? "gpu" : "cpu";
    const double unfolding = result.number(machine + "_unfold_milliseconds");
    std::vector<Way> ways{
        {std::string(translated("direct")), 0, result.number(machine + "_direct_milliseconds")}};
    if (!(ways.front().multiplying > 0) || !(unfolding > 0)) return;
    ways.push_back({std::string(translated("im2col, fast kernel")), unfolding,
                    result.number(machine + "_product_milliseconds")});
    if (const double naive = result.number("gpu_naive_milliseconds"); gpu && naive > unfolding)
        ways.push_back({std::string(translated("im2col, naive kernel")), unfolding, naive - unfolding});
    const SmallLetters small(ui);
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float letters = ImGui::GetFontSize();
    double longest = 0;
    float labels = 0;
    for (const Way& way : ways) {
        longest = std::max(longest, way.unfolding + way.multiplying);
        labels = std::max(labels, textWidth(way.label) + ui.px(10));
    }
    labText(draw, at,
            translatedFormat("{}, {} filters:", translated(gpu ? "GPU" : "CPU"),
                             result.count(machine + "_filters")),
            ui.theme.text);
    const float row = std::min((size.y - 2.5f * letters) / static_cast<float>(ways.size()), 2 * letters);
    const float room = size.x - labels - textWidth("0.000 ms") - ui.px(8);
    const ImU32 colour = gpu ? ui.theme.gpu : ui.theme.cpu;
    float y = at.y + 1.4f * letters;
    for (const Way& way : ways) {
        const float left = at.x + labels;
        const auto scaled = [&](double value) { return left + static_cast<float>(value / longest) * room; };
        const float middle = scaled(way.unfolding);
        const float end = scaled(way.unfolding + way.multiplying);
        const float bottom = y + std::max(0.8f * row, letters);
        labText(draw, {at.x, (y + bottom - letters) / 2}, way.label, ui.theme.text);
        draw.AddRectFilled({left, y}, {middle, bottom}, ui.theme.warning);
        draw.AddRectFilled({middle, y}, {end, bottom}, colour);
        labText(draw, {end + ui.px(5), (y + bottom - letters) / 2},
                duration(1e-3 * (way.unfolding + way.multiplying)), ui.theme.text);
        y += row;
    }
    const float below = y + ui.px(2);
    const std::string_view copying = translated("copying");
    labText(draw, {at.x + labels, below}, copying, legible(ui.theme, ui.theme.warning));
    labText(draw, {at.x + labels + textWidth(copying) + ui.px(12), below}, translated("multiplying"),
            legible(ui.theme, colour));
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    if (!result.measured()) {
        const ImVec2 room = ImGui::GetContentRegionAvail();
        return drawUnfolding(ui, ImGui::GetCursorScreenPos(), room, view.seconds);
    }
    const LabPlace place = labPlace(ui, 0.45f);
    const bool bars = !place.low && !ui.masked;
    const float width = bars ? 0.5f * place.size.x : std::min(place.size.x, 3 * place.size.y);
    drawUnfolding(ui, place.at, {width, place.size.y}, view.seconds);
    if (bars)
        drawParts(ui, result, {place.at.x + width + ui.px(24), place.at.y},
                  {place.size.x - width - ui.px(24), place.size.y});
    drawLabCurves(ui, experiment, result, view, place.curves);
}

/// A window of 2×2 steps over 3×3 pixels; what it covers fills a row of the matrix.
LabScene scene() {
    LabScene scene{.beats = 20, .labels = {{0.9f, 1.1f, "image"}, {8.3f, 1.1f, "matrix"}}};
    const auto pixel = [&](int column, int row, double from, double until, LabTone tone) {
        scene.blocks.push_back({0.9f + 1.7f * static_cast<float>(column),
                                1.2f + 1.6f * static_cast<float>(row), 1.55f, 1.45f, from, until, tone});
    };
    for (int row = 0; row < 3; ++row)
        for (int column = 0; column < 3; ++column) pixel(column, row, 0, 0, LabTone::pale);
    for (int window = 0; window < 4; ++window) {
        const double from = 1 + 4.0 * window;
        for (int cell = 0; cell < 4; ++cell) {
            const int column = window % 2 + cell % 2, row = window / 2 + cell / 2;
            const float x = 8.3f + 1.7f * static_cast<float>(cell),
                        y = 1.2f + 1.2f * static_cast<float>(window);
            scene.dots.push_back({1.7f + 1.7f * static_cast<float>(column),
                                  1.9f + 1.6f * static_cast<float>(row), x + 0.8f, y + 0.5f, from, from + 2,
                                  LabTone::other});
            scene.blocks.push_back({x, y, 1.55f, 1.05f, from + 2, from + 2.5});
        }
    }
    return scene;
}

LabVerdict verdict(const LabResult& result) {
    const double times = result.number("gpu_direct_milliseconds") / result.number("gpu_matrix_milliseconds");
    if (const Crossing crossing = crossingOf(result, 0); crossing.from > 1)
        return {translatedFormat("From {}", crossing.from),
                translatedFormat("filters on, im2col is faster: {}× with {}", twoDigits(times),
                                 result.count("gpu_filters"))};
    return ratioVerdict(times, translatedFormat("im2col {}×", twoDigits(times)),
                        {"as fast as", "No faster", "than"},
                        translatedFormat("direct convolution with {} filters", result.count("gpu_filters")));
}

} // namespace

extern const Experiment convolution{
    .place = 125,
    .name = "convolution",
    .title = "Convolution as a product",
    .idea = "A layer of 3×3 filters on 32 channels, with 1, 2, 4, ... filters. Direct: each output sums up "
            "its 288 products. Or im2col copies the inputs of each output into a row of a matrix, and a "
            "dense layer's kernel multiplies. Both do the same multiply-adds.",
    .group = LabGroup::memory,
    .scene = scene,
    .question =
        "im2col writes nine copies of the input to memory, and the product reads them again. From how "
        "many filters on is that still faster than direct convolution on the GPU?",
    .choices = {"even with a single one", "2 to 16", "more than 16", "direct convolution stays faster"},
    .x = {.title = "filters"},
    .y = {.title = "time for a million multiply-adds", .unit = "µs"},
    .lines = {"GPU direct", "GPU im2col and fastest kernel"},
    .sources = {"lab_convolution.comp", "lab_convolution_unfold.comp", "convolution.cpp"},
    .link = {"See the blocked kernel on the ladder", "ladder", R"({"rung": "gpu:blocked", "tab": "memory"})"},
    .animated = true,
    .folds = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
