// A square matrix product of growing size: in the naive order, in a good one, with everything the machines
// have.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "demos/kit/pacer.h"
#include "demos/lab/experiment.h"
#include "demos/lab/lab_product.h"
#include "demos/lab/matrix_curves.h"
#include "demos/lab/systolic_picture.h"
#include "demos/words/text.h"
#include "engine/cpu/memory.h"
#include "engine/plan/work.h"
#include "engine/tune/product_candidates.h"

namespace lockstep::demos {

namespace {

constexpr const char* naiveOrder = "naive order";
constexpr const char* goodOrder = "good order";
constexpr const char* tiles = "tiles";
constexpr const char* bestCpu = "best kernel";
constexpr const char* naiveGpu = "naive kernel";
constexpr const char* bestGpu = "fastest kernel";

/// C[m][n] = sum_k A[m][k] W[n][k]: some outputs of a product of that size, all of those of a small one.
///   row   a row of C
template <class Row> void requireProduct(std::uint32_t size, Row row) {
    const std::uint32_t step = size <= 32 ? 1 : size / 8 + 1;
    for (std::uint32_t m = 0; m < size; m += step) {
        const auto outputs = row(m);
        for (std::uint32_t n = m % step; n < size; n += step) {
            double sum = 0;
            for (std::uint32_t k = 0; k < size; ++k)
                sum += static_cast<double>(labElement(0, m * size + k)) * labElement(1, n * size + k);
            if (outputs[n] != static_cast<float>(sum))
                throw std::runtime_error("wrong results, so it is not timed");
        }
    }
}

/// The CPU's matrices of one size at a time. Plain loops read B[k][n]; the engine's kernels W[n][k].
class HostProduct {
  public:
    explicit HostProduct(LabBench& bench) : bench_(bench) {}

    /// Milliseconds of multiply(a, second, c, size), which adds to c.
    template <class Multiply> double milliseconds(std::uint32_t size, bool transposed, Multiply multiply) {
        prepare(size, transposed);
        std::fill_n(c_.data(), std::size_t{size} * size, 0.0f);
        const double begin = secondsNow();
        multiply(a_.data(), second_.data(), c_.data(), size);
        const double seconds = secondsNow() - begin;
        requireProduct(size, [&](std::uint32_t m) { return c_.data() + std::size_t{m} * size; });
        return 1e3 * seconds;
    }

  private:
    void prepare(std::uint32_t size, bool transposed) {
        if (size == size_ && transposed == transposed_) return;
        size_ = size;
        transposed_ = transposed;
        const std::size_t count = std::size_t{size} * size;
        for (AlignedArray<float>* matrix : {&a_, &second_, &c_}) *matrix = AlignedArray<float>(count);
        bench_.team().run([&](std::size_t thread) {
            const Share share = shareOf(size, thread, bench_.threads());
            for (auto row = static_cast<std::uint32_t>(share.begin); row < share.end; ++row)
                for (std::uint32_t column = 0; column < size; ++column) {
                    const std::uint32_t at = row * size + column;
                    a_.data()[at] = labElement(0, at);
                    second_.data()[at] = labElement(1, transposed ? at : column * size + row);
                }
        });
    }

    LabBench& bench_;
    std::uint32_t size_ = 0;
    bool transposed_ = false;
    AlignedArray<float> a_, second_, c_;
};

// The order of the formula: each output is a sum along a row of A and down a column of B.
float sumDown(const float* row, const float* column, std::size_t size) {
    float sum = 0;
    for (std::size_t k = 0; k < size; ++k) sum += row[k] * column[k * size];
    return sum;
}
void multiplyNaively(const float* a, const float* b, float* c, std::size_t size) {
    float (*volatile sum)(const float*, const float*, std::size_t) = sumDown; // or compilers swap the loops
    for (std::size_t m = 0; m < size; ++m)
        for (std::size_t n = 0; n < size; ++n) c[m * size + n] = sum(a + m * size, b + n, size);
}

// The same loops, the last two swapped: now the inner one goes along rows of B and C.
void multiplyInOrder(const float* a, const float* b, float* c, std::size_t size) {
    for (std::size_t m = 0; m < size; ++m)
        for (std::size_t k = 0; k < size; ++k) {
            const float factor = a[m * size + k];
            for (std::size_t n = 0; n < size; ++n) c[m * size + n] += factor * b[k * size + n];
        }
}

// Likewise, a tile of B at a time, which stays in the cache for all rows.
void multiplyTiles(const float* a, const float* b, float* c, std::size_t size) {
    constexpr std::size_t deep = 64;
    constexpr std::size_t wide = 256;
    for (std::size_t firstK = 0; firstK < size; firstK += deep)
        for (std::size_t firstN = 0; firstN < size; firstN += wide)
            for (std::size_t m = 0; m < size; ++m)
                for (std::size_t k = firstK; k < std::min(firstK + deep, size); ++k) {
                    const float factor = a[m * size + k];
                    const std::size_t end = std::min(firstN + wide, size);
                    for (std::size_t n = firstN; n < end; ++n) c[m * size + n] += factor * b[k * size + n];
                }
}

DenseShape square(std::size_t size) { return {size, size, size, size, size}; }

class DeviceProduct {
  public:
    DeviceProduct(LabBench& bench, std::uint32_t most)
        : bench_(bench), a_(matrix("A", most)), w_(matrix("W", most)), c_(matrix("C", most)),
          bias_(bench.buffer(4 * most, "bias")) {
        if (!bench.rough()) won_ = fastestProduct(bench, square(trialSize())); // a sample would look slow
    }

    double milliseconds(std::uint32_t size, bool fastest) {
        prepare(size);
        const DenseShape shape = square(size);
        const DenseKernel kernel = bench_.kernels().dense(
            Product::forward, fastest ? fastestFor(shape) : naiveFor(shape), Activation::identity);
        const std::uint64_t bytes = std::uint64_t{4} * size * size;
        const Work work = denseWork(shape);
        const gpu::BufferView c = c_.view(0, bytes);
        bench_.deviceMilliseconds([&](gpu::Recorder& recorder) { recorder.fill(c, 0x7fc07fc0u); }); // NaN
        const double taken = bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            dispatchProduct(recorder, kernel, shape,
                            {a_.view(0, bytes), w_.view(0, bytes), bias_.view(0, 4 * size), c, c},
                            {work.flops, work.bytes}); // with it, the recorder cuts what takes long
        });
        requireProduct(size, [&](std::uint32_t m) {
            return c_.downloadValues<float>(size, std::uint64_t{4} * m * size);
        });
        return taken;
    }

  private:
    gpu::Buffer matrix(const char* name, std::uint32_t most) {
        return bench_.buffer(std::uint64_t{4} * most * most, name);
    }
    void prepare(std::uint32_t size) {
        if (size == size_) return;
        size_ = size;
        const LabKernel& kernel = bench_.kernel("lab_matrix", {{shared::labGroupSize, bench_.groupSize()}});
        const std::uint32_t count = size * size;
        const std::uint32_t items = std::min(count, 1u << 18);
        bench_.deviceMilliseconds([&](gpu::Recorder& recorder) {
            for (const std::uint32_t which : {0u, 1u})
                recorder.dispatch(kernel, {items, 1, 1}, {items, (count + items - 1) / items, which, count},
                                  {(which == 0 ? a_ : w_).view()});
        });
    }
    ProductKernel naiveFor(const DenseShape& shape) const {
        return kernelOfRung(*bench_.device(), Rung::naive, Product::forward, shape);
    }
    // The likeliest of a small product; of a large one what has won the trial, if it fits.
    ProductKernel fastestFor(const DenseShape& shape) const {
        if (won_ && shape.rows >= trialSize() && fits(*bench_.device(), *won_, shape)) return *won_;
        return fastCandidates(*bench_.device(), Product::forward, shape).front();
    }
    std::size_t trialSize() const { return bench_.software() ? 256 : 1024; }

    LabBench& bench_;
    gpu::Buffer a_, w_, c_, bias_;
    std::uint32_t size_ = 0;
    std::optional<ProductKernel> won_;
};

/// The sizes up to `most`.
std::vector<double> sizesUpTo(double most) {
    std::vector<double> sizes;
    for (double size = 16; size < claimed; size *= 2) sizes.push_back(size);
    sizes.push_back(claimed);
    std::erase_if(sizes, [&](double size) { return size > most; });
    return sizes;
}

/// On the device, three matrices: 200 MB, or, where that is a small part of its memory, all that is claimed.
std::uint32_t mostOnDevice(const LabBench& bench) {
    if (bench.rough()) return 64;
    if (bench.software()) return 2048;
    const gpu::Device& device = *bench.device();
    constexpr std::uint64_t large = std::uint64_t{4} * claimed * claimed;
    const bool roomy = device.limits().storageRange >= large && device.memoryLeft() >= 20 * large;
    return roomy ? claimed : 4096;
}

void measure(LabBench& bench, LabResult& result) {
    const auto cube = [](double size) { return size * size * size + 1e6; };
    const double longest = bench.rough() ? 20 : 600; // milliseconds; the recorder cuts submissions
    const auto sizeOf = [](double value) { return static_cast<std::uint32_t>(value); };
    if (bench.device() == nullptr) {
        for (const char* name : {naiveGpu, bestGpu}) bench.sweep(result, {true, name, {16}, {}});
    } else {
        DeviceProduct product(bench, mostOnDevice(bench));
        for (const bool fastest : {false, true})
            bench.sweep(result,
                        {true, fastest ? bestGpu : naiveGpu, sizesUpTo(mostOnDevice(bench)),
                         [&, fastest](double size) { return product.milliseconds(sizeOf(size), fastest); },
                         cube, longest});
    }
    HostProduct host(bench);
    const auto processor = [&](const char* name, bool transposed, auto multiply) {
        bench.sweep(result, {false, name, sizesUpTo(bench.rough() ? 64 : 4096),
                             [&, transposed, multiply](double size) {
                                 return host.milliseconds(sizeOf(size), transposed, multiply);
                             },
                             cube, longest});
    };
    processor(naiveOrder, false, multiplyNaively);
    processor(goodOrder, false, multiplyInOrder);
    processor(tiles, false, multiplyTiles);
    processor(bestCpu, true, [&](const float* a, const float* w, float* c, std::size_t size) {
        multiplyOnThreads(bench, square(size), a, w, c);
    });
    const auto note = [&](const std::string& name, bool gpu, const char* series) {
        const LabSeries* found = result.find(gpu, series);
        const std::optional<LabPoint> point = pointClaimed(found);
        if (!point) return;
        result.numbers["seconds_10000_" + name] = 1e-3 * point->median;
        result.numbers["largest_measured_" + name] = found->points.back().x;
    };
    note("gpu_naive", true, naiveGpu);
    note("gpu_fastest", true, bestGpu);
    note("cpu_naive", false, naiveOrder);
    note("cpu_good_order", false, goodOrder);
    note("cpu_tiles", false, tiles);
    note("cpu_best", false, bestCpu);
    if (!result.has("seconds_10000_gpu_fastest")) return;
    if (result.has("seconds_10000_gpu_naive"))
        result.numbers["gpu_fastest_times_as_fast_as_gpu_naive"] =
            result.number("seconds_10000_gpu_naive") / result.number("seconds_10000_gpu_fastest");
    for (const char* name : {"cpu_naive", "cpu_best"})
        if (result.has(std::string("seconds_10000_") + name))
            result.numbers[std::string("gpu_times_as_fast_as_") + name] =
                result.number(std::string("seconds_10000_") + name) /
                result.number("seconds_10000_gpu_fastest");
}

/// The best kernels of both machines are so close that noise decides which is faster.
bool undecided(const LabResult& result) {
    const auto gpu = pointClaimed(result.find(true, bestGpu));
    const auto cpu = pointClaimed(result.find(false, bestCpu));
    return !gpu || !cpu || !apart(*gpu, *cpu);
}

std::optional<std::size_t> answer(const LabResult& result) {
    if (!result.has("gpu_times_as_fast_as_cpu_best") || undecided(result)) return std::nullopt;
    const double times = result.number("gpu_times_as_fast_as_cpu_best");
    return times < 1 ? 0 : times < 10 ? 1 : times < 100 ? 2 : 3;
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (result.has("gpu_times_as_fast_as_cpu_best"))
        values["gpu_too_busy"].number = undecided(result) ? 1 : 0;
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float height = std::max(room.y, ui.px(120));
    const bool alone = !result.measured();
    if (!alone && !view.all) return drawMatrixCurves(ui, experiment, result, view, {room.x, height});
    const float grid = alone ? std::min(height, room.x) : std::min({height, room.x * 0.3f, ui.px(260)});
    if (alone) ImGui::SetCursorPosX(ImGui::GetCursorPosX() + (room.x - grid) / 2);
    ImGui::BeginChild("systolic", {grid, height}, false, ImGuiWindowFlags_NoScrollbar);
    drawSystolicArray(ui, {grid, height}, view.seconds);
    ImGui::EndChild();
    if (alone) return;
    ImGui::SameLine(0, ui.px(14));
    drawMatrixCurves(ui, experiment, result, view, {room.x - grid - ui.px(14), height});
}

/// A wave through a grid of multiply-adders.
LabScene scene() {
    LabScene scene{.beats = 20, .labels = {{0, 1.1f, "inputs"}, {4, 1.1f, "multiply-add units"}}};
    for (int row = 0; row < 5; ++row) {
        const auto y = static_cast<float>(row) * 0.96f + 1.2f;
        scene.dots.push_back({1.6f, y + 0.4f, 11.4f, y + 0.4f, 1.0 * row, row + 8.0, LabTone::other, true});
        for (int column = 0; column < 5; ++column)
            scene.blocks.push_back({4 + 1.6f * static_cast<float>(column), y, 1.45f, 0.84f,
                                    1.0 * (row + column), row + column + 5.0});
    }
    return scene;
}

LabVerdict verdict(const LabResult& result) {
    const double times = result.number("gpu_times_as_fast_as_cpu_best");
    return ratioVerdict(times, gpuFactor(times, {}), {"as fast as", "No faster", "than"},
                        std::string(translated("the CPU's best kernel; claimed are 100 to 500×")));
}

} // namespace

extern const Experiment matrix{
    .place = 120,
    .name = "matrix",
    .title = "A product of matrices",
    .idea = "Two square matrices of growing size are multiplied. Dotted lines extrapolate to 10,000×10,000, "
            "assuming "
            "time grows with the cube. Plain loops use one thread. The grid shows a matrix unit: each cell "
            "adds one product per beat.",
    .group = LabGroup::work,
    .scene = scene,
    .question =
        "\"A GPU multiplies 10,000×10,000 matrices 100 to 500 times as fast.\" How many times as fast is it "
        "here as the CPU's best kernel on all threads?",
    .choices = {"it is slower", "1 to 10 times", "10 to 100 times", "more than 100 times"},
    .x = {"rows and columns", ""},
    .y = {"time", "ms"},
    .lines = {"GPU fastest kernel", "CPU best kernel"},
    .sources = {"matrix.cpp", "dense_naive.comp", "product_tiled.glsl", "lab_matrix.comp"},
    .link = {"Climb the ladder of product kernels", "ladder", R"({"tab": "rungs"})"},
    .animated = true,
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
