// What experiments explain: every text is there, quotes what its experiment knows, and is complete whatever
// was measured.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include <nlohmann/json.hpp>

#include "demos/kit/assets.h"
#include "demos/kit/source_text.h"
#include "demos/lab/experiment.h"
#include "demos/telling/measured_text.h"
#include "demos/words/language.h"
#include "tests/measured_experiment.h"
#include "tests/run_program.h"

namespace {

using namespace lockstep;
using namespace lockstep::demos;
using lockstep::test::Folder;
using lockstep::test::measured;

std::filesystem::path fileOf(const Experiment& experiment) {
    return assetFolder("experiments") / (std::string(experiment.name) + ".md");
}

/// Whether the experiment's source ends a literal in the end of that name, from a '_' on: some numbers are
/// there only where a quiet machine has measured them.
bool namedInSource(const Experiment& experiment, const std::string& name) {
    const auto file = std::ranges::find_if(experiment.sources,
                                           [](std::string_view each) { return each.ends_with(".cpp"); });
    const std::string_view source = sourceText(*file);
    for (std::size_t at = 0; at != std::string::npos; at = name.find('_', at + 1))
        if (source.find(name.substr(at) + '"') != std::string_view::npos) return true;
    return false;
}

bool complete(const std::string& text) {
    return text.size() > 40 && text.find("not measured yet") == std::string::npos &&
           text.find_first_of("{}") == std::string::npos && text.find("nan") == std::string::npos;
}

/// A result of a CPU with 4 threads and, where it has a name, of a GPU.
LabResult resultOn(const char* gpu, bool software) {
    LabResult result;
    result.cpu.device = "CPU";
    result.cpu.threads = 4;
    result.gpu.gpu = true;
    result.gpu.device = gpu;
    result.gpu.software = software;
    return result;
}

std::string said(const char* experiment, const LabResult& result) {
    return explanationText(experimentFromName(experiment), result);
}

} // namespace

TEST_CASE("every experiment has an explanation, which quotes what the experiment measures or concludes") {
    std::set<std::string> files;
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        files.insert(std::string(each->name));
        const std::string markdown = readExplanation(fileOf(*each));
        const LabResult result = measured(*each);
        const MeasuredValues values = valuesOf(*each, result);
        for (const std::string& name : quotedNames(markdown)) {
            CAPTURE(name);
            CHECK((name.starts_with("machine.") || values.contains(name) || namedInSource(*each, name)));
        }
        LabResult hardware = result;
        hardware.gpu.software = false;
        for (const LabResult& of : {result, hardware, measured(*each, "no such device")}) {
            const std::string text = explanationText(*each, of);
            CAPTURE(text);
            CHECK(complete(text));
        }
        if (markdown.find("{software}") != std::string::npos)
            CHECK(explanationText(*each, result) != explanationText(*each, hardware));
    }
    CHECK_FALSE(namedInSource(experimentFromName("launch"), "microseconds_per_lunch"));
    for (const auto& entry : std::filesystem::directory_iterator(assetFolder("experiments"))) {
        CAPTURE(entry.path());
        const std::string name = textFileName(entry.path()).name;
        CHECK(files.contains(name));
        // A translation depends on the same values.
        const auto namesOf = [](const std::filesystem::path& file) {
            const std::vector<std::string> names = quotedNames(readExplanation(file));
            return std::set<std::string>(names.begin(), names.end());
        };
        CHECK(namesOf(entry.path()) == namesOf(assetFolder("experiments") / (name + ".md")));
    }
}

TEST_CASE("explanations are complete in every case that they know") {
    for (const Experiment* each : experiments()) {
        CAPTURE(each->name);
        const std::string markdown = readExplanation(fileOf(*each));
        for (const double number : {0.5, 2.0}) // conditions ask whether flags are above 0, or below 1
            for (const double software : {0.0, 1.0}) {
                MeasuredValues values;
                for (const std::string& name : quotedNames(markdown)) values[name].number = number;
                values["machine.gpu.software"].number = software;
                std::string text;
                for (const TextBlock& block : filledBlocks(markdown, values)) text += plainText(block) + " ";
                CAPTURE(text);
                CHECK(text.find("not measured yet") == std::string::npos);
                CHECK(text.find_first_of("{}") == std::string::npos);
            }
    }
}

TEST_CASE("launch: decided, too busy, and without a GPU") {
    LabResult result = resultOn("Card", false);
    result.series = {{true, "dispatches with barriers", {{1, 10, 9, 11}, {100, 510, 500, 520}}}};
    result.numbers = {{"microseconds_per_dispatch", 5},
                      {"microseconds_per_barrier", 5},
                      {"microseconds_per_submission", 20},
                      {"microseconds_per_wait", 50}};
    CHECK(said("launch", result) ==
          "One dispatch takes 10.0 µs, and 100 that wait for each other take 510 µs. Each further dispatch "
          "costs 5.00 µs, whether or not it waits for the one before. A submission of its own costs 20.0 µs, "
          "or 50.0 µs if the host waits for each. The arithmetic is the same, so this is launch overhead. A "
          "small network's step is mostly launches, where each operation is a launch of its own. At this "
          "rate, ten dispatches cost 50.0 µs, "
          "however small the network.");
    result.numbers["microseconds_per_barrier"] = 8;
    result.gpu.software = true;
    const std::string software = said("launch", result);
    CHECK(software.find(" costs 5.00 µs, or 8.00 µs if it waits for the one before. A ") !=
          std::string::npos);
    CHECK(software.find("This driver is software and wakes threads") != std::string::npos);
    result.series = {{true, "dispatches with barriers", {{1, 10, 5, 30}, {100, 40, 20, 60}}}};
    CHECK(said("launch", result) == "The machine was too busy to tell: one dispatch took 10.0 µs, 100 that "
                                    "wait for each other took 40.0 µs.");

    LabResult processor = resultOn("", false);
    processor.series = {{false, "function calls", {{1, 10, 9, 11}}}};
    processor.numbers = {{"microseconds_per_call", 0.002}, {"microseconds_per_thread", 30}};
    CHECK(said("launch", processor) ==
          "Only the CPU was measured. A function call costs 2 ns, and to start and join 4 threads costs 30.0 "
          "µs. That is why programs keep their threads and give them large pieces of work.");
}

TEST_CASE("one to all: workers that help, and those that do not") {
    LabResult result = resultOn("llvmpipe", true);
    result.series = {{true, "fixed work", {{1, 1, 1, 1}, {64, 8, 7, 9}}},
                     {true, "growing work", {{1, 1, 1, 1}, {64, 40, 39, 41}}}};
    result.numbers = {{"cpu_speed_up", 1},       {"cpu_best_workers", 1},       {"cpu_one_milliseconds", 20},
                      {"gpu_speed_up", 8},       {"gpu_best_workers", 64},      {"gpu_one_milliseconds", 80},
                      {"gpu_serial_share", 0.1}, {"gpu_best_milliseconds", 10}, {"gpu_growing_speed_up", 40}};
    CHECK(said("one-to-all", result) ==
          "On the CPU, one thread takes 20.0 ms, and more of them are not clearly faster. On the GPU, one "
          "workgroup takes 80.0 ms, 64 workgroups take 10.0 ms: 8 times as fast. By design a tenth is "
          "serial; measured, it is 10.00 %. Amdahl's law then allows at most 10 times. This GPU is software: "
          "its workgroups share the CPU's cores. A graphics card runs dozens or hundreds at once. If the "
          "work grows with the "
          "workers, the speed-up keeps growing (Gustafson's law). A larger batch does that in training.");
    CHECK(valuesOf(experimentFromName("one-to-all"), result).at("gpu_growth_helps").number == 1);
}

TEST_CASE("convolution: the crossing, noise that hides it, and what each way moves") {
    const Experiment& experiment = experimentFromName("convolution");
    LabResult result = resultOn("Card", false);
    const auto cross = [&](std::vector<LabPoint> product) {
        result.series = {{true, "direct", {{1, 5, 5, 5}, {2, 5, 5, 5}, {4, 5, 4, 6}, {32, 5, 4, 6}}},
                         {true, "im2col and fastest kernel", std::move(product)}};
        return experiment.answer(result);
    };
    result.numbers = {{"gpu_side", 10},
                      {"gpu_filters", 32},
                      {"gpu_direct_milliseconds", 2},
                      {"gpu_matrix_milliseconds", 1},
                      {"gpu_unfold_milliseconds", 0.25},
                      {"gpu_product_milliseconds", 0.75},
                      {"gpu_naive_milliseconds", 2.5}};
    CHECK(cross({{1, 9, 9, 9}, {2, 7, 7, 7}, {4, 3, 3, 3}, {32, 1, 1, 1}}) == 1);
    CHECK(said("convolution", result).find("From 4 filters on, im2col is faster") != std::string::npos);
    CHECK(said("convolution", result).find("takes 2.50 ms, longer than direct convolution") !=
          std::string::npos);
    CHECK(cross({{1, 4, 4, 4}, {2, 4, 4, 4}, {4, 3, 3, 3}, {32, 1, 1, 1}}) == 0);
    CHECK(cross({{1, 9, 9, 9}, {2, 9, 9, 9}, {4, 9, 9, 9}, {32, 3, 3, 3}}) == 2);
    CHECK(cross({{1, 4, 4, 4}, {2, 4, 4, 4}, {4, 9, 9, 9}, {32, 9, 9, 9}}) == 3);
    CHECK(said("convolution", result).find("With 32 filters, direct convolution is still faster.") !=
          std::string::npos);
    // Times that overlap matter only where the choice depends on them.
    CHECK(cross({{1, 9, 9, 9}, {2, 5, 5, 5}, {4, 3, 3, 3}, {32, 1, 1, 1}}) == 1);
    CHECK(cross({{1, 9, 9, 9}, {2, 4, 4, 4}, {4, 5, 5, 5}, {32, 1, 1, 1}}) == std::nullopt);
    CHECK(cross({{1, 9, 9, 9}, {2, 9, 9, 9}, {4, 9, 9, 9}, {32, 5, 5, 5}}) == std::nullopt);
    CHECK(said("convolution", result).find("too busy to tell") != std::string::npos);

    const MeasuredValues values = valuesOf(experiment, result);
    const auto value = [&](const char* name) { return values.at(name).number; };
    CHECK(value("gpu_input_bytes") == 100 * 32 * 4);
    CHECK(value("gpu_unfolded_bytes") == 9 * value("gpu_input_bytes"));
    CHECK(value("gpu_direct_bytes") == 100 * 32 * 4 + 288 * 32 * 4 + 100 * 32 * 4);
    CHECK(value("gpu_matrix_bytes") == value("gpu_direct_bytes") + 2 * value("gpu_unfolded_bytes"));
    CHECK(value("gpu_million_multiply_adds") == doctest::Approx(0.9216)); // 100 pixels, 32 x 288
    CHECK(value("gpu_direct_flop_per_byte") == doctest::Approx(2e6 * 0.9216 / value("gpu_direct_bytes")));
    CHECK(value("gpu_direct_gflops") == doctest::Approx(0.9216));
    CHECK(value("gpu_matrix_gflops") == doctest::Approx(2 * 0.9216));
}

TEST_CASE("generations: the first card that is as fast, by name") {
    LabResult result = resultOn("Card", false);
    result.series = {{true, "trained", {{2026, 1, 1, 1}}}};
    const auto onPaper = [&](double seconds, double year) {
        result.numbers = {{"gpu_seconds", seconds}, {"gpu_like_card_of_year", year}};
        return said("generations", result);
    };
    CHECK(onPaper(1000, 2006).find("On paper, the GeForce 8800 GTX of 2006 is already as fast: ") !=
          std::string::npos);
    CHECK(onPaper(0.01, 2016).find("On paper, the GeForce GTX 1080 of 2016 is the first that is as fast: ") !=
          std::string::npos);
    CHECK(onPaper(1e-6, 2026).find("None of these cards would be faster") != std::string::npos);
}

TEST_CASE("what is concluded is written with the numbers, and concluded again for files that lack it") {
    const Experiment& experiment = experimentFromName("launch");
    LabResult result = resultOn("Card", false);
    result.series = {{true, "dispatches with barriers", {{1, 10, 9, 11}, {100, 510, 500, 520}}}};
    result.numbers = {{"microseconds_per_barrier", 5}};
    nlohmann::ordered_json json = labJson(experiment, result);
    CHECK(json["numbers"]["gpu_too_busy"] == 0);
    json["numbers"].erase("gpu_too_busy");
    const LabResult old = labFromJson(json);
    CHECK(explanationText(experiment, old) == explanationText(experiment, result));
}

TEST_CASE("a wrong explanation is refused with its file and line") {
    const Folder folder;
    const auto refused = [&](const char* text) {
        const std::string file = folder.file("wrong.md");
        std::ofstream(file) << text;
        try {
            readExplanation(file);
        } catch (const std::runtime_error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused("Good: {{gpu_gain}}.\n\n{software} {if gpu_gain > 1} Both.\n").empty());
    CHECK(refused("Good.\n\nA line,\nand {{gpu_gain.\n").find("wrong.md:3") != std::string::npos);
    CHECK(refused("{iff gpu_gain > 1} Wrong.\n").find("wrong.md:1") != std::string::npos);
    CHECK(refused("{software} {measured} Wrong.\n").find("wrong.md:1") != std::string::npos);
    CHECK_THROWS_WITH_AS(readExplanation(folder.file("none.md")), doctest::Contains("none.md"),
                         std::runtime_error);
}
