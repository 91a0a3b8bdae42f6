// `lockstep card`: what this machine can do, on one page; and several machines' pages side by side.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "demos/card/card_measure.h"
#include "demos/commands/command.h"
#include "demos/kit/interrupt.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr const char* cardAbout =
    R"(Measures this machine, its processor and its graphics card, in about two and a half minutes, and puts the results on
one page: arithmetic and copies at their fastest (as vkpeak measures them), training of four networks, a thousand small
networks at once, every rung of the ladder, and the width and batch size at which the GPU overtakes the CPU. Close other
programs first.)";

constexpr const char* cardExamples = R"(examples:
  lockstep card                                     the page as text
  lockstep card --json mine.json --png mine.png     to keep, to print, to compare
  lockstep card --compare mine.json yours.json      several machines side by side
  lockstep card --compare *.json --png class.png
)";

struct CardOptions : MachineOptions {
    double seconds = CardRequest{}.seconds;
    bool quick = false;
    std::vector<std::string> compare;
};

constexpr std::size_t mostCards = 64;
constexpr double quickSeconds = 20;

/// On a terminal one line that changes, elsewhere a line per part.
class CardProgressLine {
  public:
    explicit CardProgressLine(bool quiet) : quiet_(quiet) {}
    ~CardProgressLine() {
        if (live_ && !quiet_) printError("\r\033[K");
    }
    CardProgressLine(const CardProgressLine&) = delete;
    CardProgressLine& operator=(const CardProgressLine&) = delete;

    void show(const CardProgress& progress) {
        if (quiet_) return;
        if (live_)
            printError("\r\033[K{:3.0f} %  {}", 100 * progress.done, cut(progress.text(), 90));
        else if (progress.part != part_)
            printError("{:3.0f} %  {}\n", 100 * progress.done, progress.part);
        part_ = progress.part;
    }

  private:
    bool quiet_;
    bool live_ = isatty(STDERR_FILENO) != 0;
    std::string part_;
};

int compareCards(const CardOptions& options) {
    if (options.compare.size() < 2)
        throw std::invalid_argument(
            "--compare needs at least two files written by `lockstep card --json FILE`");
    if (options.compare.size() > mostCards)
        throw std::invalid_argument(fmt::format("--compare takes at most {} files", mostCards));
    if (!options.jsonFile.empty()) throw std::invalid_argument("--json cannot be used with --compare");
    std::vector<Card> cards;
    for (const std::string& file : options.compare) cards.push_back(readCard(file));
    printOut("{}", comparisonText(cards));
    if (!options.pngFile.empty()) writePng(options.pngFile, comparisonPicture(cards));
    return 0;
}

int card(const CardOptions& options) {
    std::vector<NamedFile> read;
    for (const std::string& file : options.compare) read.push_back({"--compare", file});
    requireResultFiles(options, read);
    if (!options.compare.empty()) return compareCards(options);
    CardRequest request;
    request.threads = options.threads;
    request.device = options.device;
    request.seconds = options.quick ? std::min(options.seconds, quickSeconds) : options.seconds;
    request.quick = options.quick;
    std::atomic<bool> stop = false;
    const InterruptGuard interrupt;
    const InterruptWatch watch(interrupt, stop);
    Card result;
    {
        CardProgressLine line(options.quiet);
        result = measureCard(
            request, [&](const CardProgress& progress) { line.show(progress); }, stop);
    }
    printTo(peopleStream(options), "{}", cardText(result));
    writeResult(options.jsonFile, cardJson(result).dump(1) + "\n");
    if (!options.pngFile.empty()) writePng(options.pngFile, cardPicture(result));
    return interrupt.exitCode();
}

} // namespace

Action addCard(CLI::App& command) {
    const auto options = std::make_shared<CardOptions>();
    addManual(command, cardAbout, cardExamples);
    addNumber(command, "--threads", "N", options->threads, notNegative(),
              "threads for cpu:best [one per core]");
    addValue(command, "--device", "DEVICE", options->device,
             "Vulkan device: number, part of its name, or UUID");
    addNumber(command, "--seconds", "S", options->seconds, aboveZero(),
              "time limit; what does not fit is left out [150]");
    command.add_flag("--quick", options->quick, "try the command quickly; numbers come out too low");
    addValue(command, "--json", "FILE", options->jsonFile,
             "write the card, to be compared with others; - for standard output");
    addValue(command, "--png", "FILE", options->pngFile, "draw the page");
    command.add_option("--compare", options->compare, "compare the cards in these files")
        ->type_name("FILE...")
        ->expected(1, -1);
    command.add_flag("--quiet", options->quiet, "no progress");
    return [options] { return card(*options); };
}

} // namespace lockstep::demos
