// `lockstep lab`: experiments on parallelism without a window.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/commands/command.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/lane_measure.h"
#include "demos/lab/experiment.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/shell/run_window.h"
#include "demos/words/html.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

namespace {

constexpr const char* labAbout =
    R"(Experiments on parallelism: each turns one thing, does the same work on the CPU and on the GPU, checks the results,
and shows what they took. Without a name, lists the experiments.)";

constexpr const char* labExamples = R"(examples:
  lockstep lab                                     the list
  lockstep lab launch                              one experiment, as a table
  lockstep lab launch --json launch.json --png launch.png
  lockstep lab launch --lane cpu                   one machine only
  lockstep lab --all results                       all of them, a page about it in results/index.html
)";

/// An experiment has kernels of its own, as fast as its idea allows.
constexpr std::string_view labLanes[] = {"cpu:best", "gpu:best"};

struct LabOptions : MachineOptions {
    std::string name;
    std::string folder; // of --all
    bool quick = false;
};

void list() {
    for (const Experiment* each : experiments()) printOut("{:14}  {}\n", each->name, each->title);
}

/// Years and counts exactly, everything else in three digits.
std::string settingText(const LabAxis& axis, double x) {
    if (axis.calendar) return fmt::format("{:.0f}", x);
    return x == std::floor(x) && x < 1e15 ? grouped(static_cast<std::uint64_t>(x)) : threeDigits(x);
}

std::vector<std::vector<std::string>> rowsOf(const Experiment& experiment, const LabResult& result) {
    const auto named = [](const LabAxis& axis) {
        return axis.unit.empty() ? std::string(axis.title) : fmt::format("{}, {}", axis.title, axis.unit);
    };
    std::vector<std::vector<std::string>> rows{
        {"machine", "series", named(experiment.x), named(experiment.y), "middle half of the rounds"}};
    for (const LabSeries& series : result.series)
        for (const LabPoint& point : series.points)
            rows.push_back({series.gpu ? "GPU" : "CPU", series.name, settingText(experiment.x, point.x),
                            threeDigits(point.median),
                            fmt::format("{}-{}", threeDigits(point.low), threeDigits(point.high))});
    return rows;
}

void print(std::FILE* stream, const Experiment& experiment, const LabResult& result) {
    printTo(stream, "{}\n\n{}\n\n", experiment.title, wrapped(std::string(experiment.idea)));
    printTo(stream, "CPU: {}\nGPU: {}\n\n", machineText(result, false), machineText(result, true));
    printTo(stream, "{}", table(rowsOf(experiment, result), 2));
    for (const LabSeries& series : result.series)
        if (!series.note.empty())
            printTo(stream, "{}\n", wrapped(fmt::format("{}: {}", series.fullName(), series.note)));
    printTo(stream, "\n{}\n{}\n\n{}\n", wrapped(std::string(experiment.question)),
            verdictText(experiment, result, std::nullopt), wrapped(explanationText(experiment, result)));
}

/// The exhibit's picture of a result that is there already. Returns the exit code.
int drawPicture(const LabOptions& options, const Experiment& experiment, const LabResult& result,
                const std::filesystem::path& png) {
    nlohmann::ordered_json state{{"experiment", experiment.name}};
    state["results"][std::string(experiment.name)] = labJson(experiment, result);
    ShowOptions show;
    show.state = nlohmann::ordered_json{{"lockstep", 1},
                                        {"exhibit", "parallelism"},
                                        {"exhibits", {{"parallelism", state}}}}
                     .dump();
    show.device = options.device;
    show.frames = 3;
    show.png = png;
    return runHeadless(show);
}

class LabRun {
  public:
    explicit LabRun(const LabOptions& options)
        : options_(options), machines_(options.threads, options.device) {
        for (const LaneSpec& lane : options.lanes) machines_.deviceOf(lane); // what was asked for is there
    }

    int one(const Experiment& experiment) {
        const LabResult result = measure(experiment);
        if (interrupt_.exitCode() != 0) return interrupt_.exitCode();
        print(peopleStream(options_), experiment, result);
        writeResult(options_.jsonFile, labJson(experiment, result).dump(1) + "\n");
        writeResult(options_.csvFile, labCsv(experiment, result));
        machines_.close(options_.device); // the picture opens one for itself
        return options_.pngFile.empty() ? 0 : drawPicture(options_, experiment, result, options_.pngFile);
    }

    int all() {
        const std::filesystem::path folder = options_.folder;
        std::filesystem::create_directories(folder);
        std::vector<std::pair<const Experiment*, LabResult>> results;
        for (const Experiment* each : experiments()) {
            results.emplace_back(each, measure(*each));
            if (interrupt_.exitCode() != 0) return interrupt_.exitCode();
            print(stdout, *each, results.back().second);
            printOut("\n");
        }
        // Pictures take a device that draws.
        const bool drawn = failureOf([&] { machines_.deviceOf({true, Rung::best, {}}); }).empty();
        machines_.close(options_.device);
        for (const auto& [experiment, result] : results) {
            const std::string stem = (folder / experiment->name).string();
            writeFileAtomically(stem + ".json", labJson(*experiment, result).dump(1) + "\n");
            writeFileAtomically(stem + ".csv", labCsv(*experiment, result));
            const int code = drawn ? drawPicture(options_, *experiment, result, stem + ".png") : 0;
            if (code != 0) return code;
        }
        writeFileAtomically(folder / "index.html", page(results, drawn));
        printOut("{} has all experiments\n", (folder / "index.html").string());
        return 0;
    }

  private:
    LabResult measure(const Experiment& experiment) {
        const auto progress = [&](const std::string& what) {
            if (!options_.quiet) printError("{}: {}\n", experiment.name, what);
        };
        LabBench bench(machines_, options_.quick, progress, stop_, options_.lanes);
        return runExperiment(experiment, bench);
    }

    static std::string page(const std::vector<std::pair<const Experiment*, LabResult>>& results, bool drawn) {
        std::string html;
        const LabResult& first = results.front().second;
        html += fmt::format("<p>CPU: {}<br>GPU: {}</p>\n", htmlText(machineText(first, false)),
                            htmlText(machineText(first, true)));
        for (const auto& [experiment, result] : results)
            html += fmt::format("<h2>{}</h2>\n<p>{}</p>\n<p><strong>{}</strong> {}</p>\n{}<p>{}</p>\n",
                                htmlText(experiment->title), htmlText(experiment->idea),
                                htmlText(experiment->question),
                                htmlText(verdictText(*experiment, result, std::nullopt)),
                                drawn ? fmt::format("<img src=\"{}.png\" alt=\"{}\">\n", experiment->name,
                                                    htmlText(experiment->title))
                                      : "",
                                htmlText(explanationText(*experiment, result)));
        return htmlPage("Experiments on parallelism", html);
    }

    const LabOptions& options_;
    Machines machines_;
    std::atomic<bool> stop_ = false;
    const InterruptGuard interrupt_;
    const InterruptWatch watch_{interrupt_, stop_};
};

int lab(const LabOptions& options) {
    requireResultFiles(options);
    for (const bool gpu : {false, true})
        if (std::ranges::count(options.lanes, gpu, &LaneSpec::gpu) > 1)
            throw std::invalid_argument(fmt::format("an experiment measures one {}; give --lane {} once",
                                                    gpu ? "GPU" : "CPU", gpu ? "gpu" : "cpu"));
    if (!options.folder.empty()) {
        requireSeparateFiles({{"--all", options.folder}}); // no folder called "-"
        if (!options.name.empty())
            throw std::invalid_argument("--all measures every experiment; leave out '" + options.name + "'");
        for (const auto& [file, option] : {std::pair{&options.jsonFile, "--json"},
                                           {&options.csvFile, "--csv"},
                                           {&options.pngFile, "--png"}})
            if (!file->empty())
                throw std::invalid_argument(
                    fmt::format("{} is for one experiment; --all writes files for all of them", option));
        return LabRun(options).all();
    }
    if (!options.name.empty()) return LabRun(options).one(experimentFromName(options.name));
    list();
    return 0;
}

} // namespace

Action addLab(CLI::App& command) {
    const auto options = std::make_shared<LabOptions>();
    addManual(command, labAbout, labExamples);
    addValue(command, "name", "NAME", options->name, "the experiment; without one, the list");
    addValue(command, "--all", "FOLDER", options->folder,
             "measure all experiments, into files in this folder");
    addText(
        command, "--lane", "LANE",
        [options](std::string_view text) { options->lanes.push_back(laneOption(text, labLanes)); },
        "measure only this machine: cpu or gpu, with @DEVICE to choose its device (repeatable) [both]")
        ->take_all()
        ->trigger_on_parse();
    addNumber(command, "--threads", "N", options->threads, notNegative(),
              "threads of the CPU; 0: one per core");
    addValue(command, "--device", "DEVICE", options->device,
             "Vulkan device: number, part of its name, or UUID");
    command.add_flag("--quick", options->quick, "try the command quickly; the numbers mean little");
    addValue(command, "--json", "FILE", options->jsonFile, "write what was measured; - for standard output");
    addValue(command, "--csv", "FILE", options->csvFile, "write it as a table; - for standard output");
    addValue(command, "--png", "FILE", options->pngFile, "draw it");
    command.add_flag("--quiet", options->quiet, "no progress");
    return [options] { return lab(*options); };
}

} // namespace lockstep::demos
