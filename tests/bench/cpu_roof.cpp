// What this processor can do at best: the products of a training step alone, by the program's own kernels, by
// oneDNN and, where it is installed, by OpenBLAS; and a copy of memory. Each product is checked against plain
// loops first; then all run in turn. A training step cannot be faster than its products, nor an update than a
// copy.
//
//   cpu_roof [--threads N] [--rounds N] [--seconds S] [--json FILE]       one thread and all cores, 7 rounds,
//   0.05 s each
//
// The libraries are loaded while running, so that nothing has to be built with them. On Debian the variant
// that suits oneDNN's own threads is found with LD_LIBRARY_PATH=/usr/lib/x86_64-linux-gnu/openblas-openmp.
#include <dlfcn.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <exception>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/cpu/cpu_info.h"
#include "engine/cpu/kernels.h"
#include "engine/cpu/memory.h"
#include "engine/cpu/thread_team.h"
#include "engine/net/random.h"

using namespace lockstep;
using Clock = std::chrono::steady_clock;

namespace {

struct Options {
    std::vector<std::size_t> threads{1, usableCores()};
    std::size_t rounds = 7;
    double seconds = 0.05;
    std::string jsonFile;
};

Options optionsFrom(const std::vector<std::string>& arguments) {
    Options options;
    for (std::size_t i = 0; i + 1 < arguments.size(); i += 2) {
        const std::string& value = arguments[i + 1];
        if (arguments[i] == "--threads")
            options.threads = {std::stoul(value)};
        else if (arguments[i] == "--rounds")
            options.rounds = std::stoul(value);
        else if (arguments[i] == "--seconds")
            options.seconds = std::stod(value);
        else if (arguments[i] == "--json")
            options.jsonFile = value;
        else
            throw std::invalid_argument("unknown option '" + arguments[i] +
                                        "' (known: --threads, --rounds, --seconds, --json)");
    }
    if (arguments.size() % 2 != 0) throw std::invalid_argument("'" + arguments.back() + "' needs a value");
    options.threads.erase(std::unique(options.threads.begin(), options.threads.end()), options.threads.end());
    return options;
}

/// The forward product of a layer, Y [rows][outputs] = X [rows][inputs] W [outputs][inputs]^T: the other two
/// of a step have the same size.
struct Product {
    const char* of;
    std::size_t rows;
    std::size_t inputs;
    std::size_t outputs;
    double gflop() const { return 2e-9 * static_cast<double>(rows * inputs * outputs); }
};

constexpr Product products[] = {
    {"W, layer 0", 128, 784, 256},       {"W, layer 1", 128, 256, 128}, {"W-big, layer 0", 512, 784, 2048},
    {"W-big, layer 1", 512, 2048, 2048}, {"square", 1024, 1024, 1024},
};

struct Operands {
    explicit Operands(const Product& size)
        : x(filled(size.rows * size.inputs, 1)), w(filled(size.outputs * size.inputs, 2)), bias(size.outputs),
          y(size.rows * size.outputs) {}

    static AlignedArray<float> filled(std::size_t count, std::uint64_t seed) {
        AlignedArray<float> values(count);
        for (std::size_t k = 0; k < count; ++k)
            values[k] = static_cast<float>(uniform01(randomWords(seed, RandomStream::data, k).x) - 0.5);
        return values;
    }

    AlignedArray<float> x, w, bias, y;
};

/// The largest difference from plain loops in double, over some of the outputs.
double largestDifference(const Product& size, const Operands& of) {
    double largest = 0;
    for (std::size_t at = 0; at < size.rows * size.outputs; at += 997) {
        const float* x = of.x.data() + at / size.outputs * size.inputs;
        const float* w = of.w.data() + at % size.outputs * size.inputs;
        double sum = 0;
        for (std::size_t i = 0; i < size.inputs; ++i)
            sum += static_cast<double>(x[i]) * static_cast<double>(w[i]);
        const double difference = std::abs(sum - static_cast<double>(of.y[at]));
        if (!(difference <= largest)) largest = difference; // NaN, too
    }
    return largest;
}

// OpenBLAS's C interface, as far as it is needed: row-major, second operand transposed.
struct OpenBlas {
    using Sgemm = void (*)(int, int, int, int, int, int, float, const float*, int, const float*, int, float,
                           float*, int);
    Sgemm sgemm = nullptr;
    void (*setThreads)(int) = nullptr;
    std::string config;

    OpenBlas() {
        void* library = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
        if (library == nullptr) return;
        sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
        setThreads = reinterpret_cast<void (*)(int)>(dlsym(library, "openblas_set_num_threads"));
        const auto describe = reinterpret_cast<char* (*)()>(dlsym(library, "openblas_get_config"));
        if (describe != nullptr) config = describe();
    }
    bool found() const { return sgemm != nullptr && setThreads != nullptr; }
    void run(const Product& size, Operands& of) const {
        const auto number = [](std::size_t value) { return static_cast<int>(value); };
        constexpr int rowMajor = 101, asItIs = 111, transposed = 112;
        sgemm(rowMajor, asItIs, transposed, number(size.rows), number(size.outputs), number(size.inputs), 1,
              of.x.data(), number(size.inputs), of.w.data(), number(size.inputs), 0, of.y.data(),
              number(size.outputs));
    }
};

/// oneDNN's C interface, row-major as well.
struct OneDnn {
    using Sgemm = int (*)(char, char, std::int64_t, std::int64_t, std::int64_t, float, const float*,
                          std::int64_t, const float*, std::int64_t, float, float*, std::int64_t);
    Sgemm sgemm = nullptr;

    // Global: a ThreadTeam keeps the OpenMP runtime that comes along from starting threads.
    OneDnn() {
        for (const char* name : {"libdnnl.so.3", "libdnnl.so.2"})
            if (void* library = dlopen(name, RTLD_NOW | RTLD_GLOBAL); library != nullptr && sgemm == nullptr)
                sgemm = reinterpret_cast<Sgemm>(dlsym(library, "dnnl_sgemm"));
    }
    bool found() const { return sgemm != nullptr; }
    void run(const Product& size, Operands& of, const Share& rows) const {
        const auto number = [](std::size_t value) { return static_cast<std::int64_t>(value); };
        sgemm('N', 'T', number(rows.end - rows.begin), number(size.outputs), number(size.inputs), 1,
              of.x.data() + rows.begin * size.inputs, number(size.inputs), of.w.data(), number(size.inputs),
              0, of.y.data() + rows.begin * size.outputs, number(size.outputs));
    }
};

struct Way {
    std::string name;
    std::function<void(const Product&, Operands&)> run;
};

std::vector<Way> waysOn(ThreadTeam& team, const OneDnn& oneDnn, const OpenBlas& openBlas) {
    const auto split = [&team](const Product& size, auto work) {
        team.run([&](std::size_t thread) {
            const Share rows = shareOf(size.rows, thread, team.size());
            if (rows.begin < rows.end) work(rows);
        });
    };
    std::vector<Way> ways{
        {"built-in kernels",
         [split](const Product& size, Operands& of) {
             split(size, [&](const Share& rows) {
                 const DenseShape shape{rows.end - rows.begin, size.inputs, size.outputs, size.inputs,
                                        size.outputs};
                 simdKernels().dense(shape, of.x.data() + rows.begin * size.inputs, of.w.data(),
                                     of.bias.data(), Activation::identity,
                                     of.y.data() + rows.begin * size.outputs, nullptr);
             });
         }},
    };
    if (oneDnn.found())
        ways.push_back({"oneDNN", [split, &oneDnn](const Product& size, Operands& of) {
                            split(size, [&](const Share& rows) { oneDnn.run(size, of, rows); });
                        }});
    if (openBlas.found())
        ways.push_back({"OpenBLAS", [&team, &openBlas](const Product& size, Operands& of) {
                            openBlas.setThreads(static_cast<int>(team.size()));
                            openBlas.run(size, of);
                        }});
    return ways;
}

/// Calls per second, over `seconds` at least.
double callsPerSecond(const std::function<void()>& call, double seconds) {
    call();
    std::size_t calls = 0;
    const Clock::time_point start = Clock::now();
    double passed = 0;
    for (std::size_t chunk = 1; passed < seconds; chunk *= 2) {
        for (std::size_t i = 0; i < chunk; ++i) call();
        calls += chunk;
        passed = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return static_cast<double>(calls) / passed;
}

struct Spread {
    double median, lowest, highest;
};

Spread spreadOf(std::vector<double> values) {
    std::ranges::sort(values);
    return {values[values.size() / 2], values.front(), values.back()};
}

/// One line of the table and of the JSON per way; false when one computes something else.
bool measureProduct(const Product& size, ThreadTeam& team, const OneDnn& oneDnn, const OpenBlas& openBlas,
                    const Options& options, nlohmann::ordered_json& rows) {
    Operands operands(size);
    const std::vector<Way> ways = waysOn(team, oneDnn, openBlas);
    bool right = true;
    std::vector<std::vector<double>> speeds(ways.size());
    std::vector<double> differences;
    for (const Way& way : ways) {
        std::fill_n(operands.y.data(), operands.y.size(), NAN);
        way.run(size, operands);
        differences.push_back(largestDifference(size, operands));
        right = right && differences.back() < 1e-4;
    }
    for (std::size_t round = 0; right && round < options.rounds; ++round)
        for (std::size_t way = 0; way < ways.size(); ++way)
            speeds[way].push_back(size.gflop() *
                                  callsPerSecond([&] { ways[way].run(size, operands); }, options.seconds));
    for (std::size_t way = 0; way < ways.size(); ++way) {
        nlohmann::ordered_json row = {{"product", size.of},
                                      {"rows", size.rows},
                                      {"inputs", size.inputs},
                                      {"outputs", size.outputs},
                                      {"threads", team.size()},
                                      {"by", ways[way].name},
                                      {"verified", differences[way] < 1e-4}};
        if (right) {
            const Spread gflops = spreadOf(speeds[way]);
            row["gflops"] = {
                {"median", gflops.median}, {"lowest", gflops.lowest}, {"highest", gflops.highest}};
            fmt::print("| {:<15} | {:<14} | {:>7} | {:<11} | {:>6.1f} ({:.1f}-{:.1f}) |\n", size.of,
                       fmt::format("{}x{}x{}", size.rows, size.inputs, size.outputs), team.size(),
                       ways[way].name, gflops.median, gflops.lowest, gflops.highest);
        } else {
            fmt::print("{} by {}: largest difference {:.1e}: not timed\n", size.of, ways[way].name,
                       differences[way]);
        }
        rows.push_back(std::move(row));
    }
    return right;
}

/// Bytes read and written per second, in arrays far larger than the caches.
void measureCopy(ThreadTeam& team, const Options& options, nlohmann::ordered_json& copies) {
    constexpr std::size_t count = std::size_t{16} << 20;
    AlignedArray<float> from(count), to(count);
    std::vector<double> speeds;
    for (std::size_t round = 0; round < options.rounds; ++round)
        speeds.push_back(2e-9 * static_cast<double>(count * sizeof(float)) *
                         callsPerSecond(
                             [&] {
                                 team.run([&](std::size_t thread) {
                                     const Share part = shareOf(count, thread, team.size(), 1024);
                                     std::memcpy(to.data() + part.begin, from.data() + part.begin,
                                                 (part.end - part.begin) * sizeof(float));
                                 });
                             },
                             options.seconds));
    const Spread spread = spreadOf(speeds);
    fmt::print("copy, {} threads: {:.1f} GB/s ({:.1f}-{:.1f}), read and written\n", team.size(),
               spread.median, spread.lowest, spread.highest);
    copies.push_back({{"threads", team.size()},
                      {"gigabytes_per_second",
                       {{"median", spread.median}, {"lowest", spread.lowest}, {"highest", spread.highest}}}});
}

bool measure(const Options& options) {
    const OneDnn oneDnn;
    const OpenBlas openBlas;
    fmt::print("{}, {}; {}\n", cpuName(), describeKernels(simdKernels()),
               openBlas.found()
                   ? openBlas.config
                   : std::string("OpenBLAS: not measured, no libopenblas.so.0 (Debian: libopenblas0)"));
    fmt::print("| {:<15} | {:<14} | threads | by          | GFLOP/s (lowest-highest) |\n|-|-|-|-|-|\n",
               "product", "rows x in x out");
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    nlohmann::ordered_json copies = nlohmann::ordered_json::array();
    bool right = true;
    for (const std::size_t threads : options.threads) {
        ThreadTeam team(threads);
        for (const Product& product : products)
            right = measureProduct(product, team, oneDnn, openBlas, options, rows) && right;
        measureCopy(team, options, copies);
    }
    if (!options.jsonFile.empty()) {
        std::ofstream file(options.jsonFile);
        file << nlohmann::ordered_json{{"processor", cpuName()}, {"products", rows}, {"copy", copies}}.dump(1)
             << "\n";
        if (!file.flush()) throw std::runtime_error("cannot write " + options.jsonFile);
    }
    return right;
}

} // namespace

int main(int count, char** arguments) {
    try {
        return measure(optionsFrom({arguments + 1, arguments + count})) ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "cpu_roof: {}\n", error.what());
        return 1;
    }
}
