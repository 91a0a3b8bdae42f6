// `lockstep card`: what this machine can do, on one page; and several machines' pages side by side.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <memory>
#include <stdexcept>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/card/card_measure.h"
#include "demos/commands/command.h"
#include "demos/draw/png.h"
#include "demos/kit/interrupt.h"
#include "demos/options/parse.h"
#include "demos/options/run_options.h"
#include "demos/report/race_report.h"
#include "demos/report/result_files.h"
#include "demos/words/streams.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"
#include "engine/platform/terminal.h"

namespace lockstep::demos {

namespace {

constexpr const char* cardAbout =
    R"(Measures this machine, its processor and its graphics card, in about two and a half minutes, and puts the results on
one page: arithmetic and copies at their fastest (as vkpeak measures them), training of four networks, a thousand small
networks at once, every rung of the ladder, and the width and batch size at which the GPU overtakes the CPU. Close other
programs first.)";

constexpr const char* cardExamples = R"(examples:
  lockstep card                                     the page as text
  lockstep card --owner Ana --json ana.json --png ana.png     to keep, to print, to compare
  lockstep card --compare ana.json ben.json         several machines side by side
  lockstep card --compare *.json --html class.html --csv class.csv
)";

struct CardOptions : MachineOptions {
    double seconds = CardRequest{}.seconds;
    bool quick = false;
    std::string owner;
    std::string htmlFile;
    std::vector<std::string> compare;
};

constexpr std::size_t mostCards = 64;
constexpr double quickSeconds = 20;
constexpr std::size_t longestOwner = 60;

/// On a terminal one line that changes, elsewhere a line per part.
class CardProgressLine {
  public:
    explicit CardProgressLine(bool quiet) : quiet_(quiet) {}
    ~CardProgressLine() {
        if (live_ && !quiet_) writeText(stderr, "\r\033[K");
    }
    CardProgressLine(const CardProgressLine&) = delete;
    CardProgressLine& operator=(const CardProgressLine&) = delete;

    void show(const CardProgress& progress) {
        if (quiet_) return;
        if (live_)
            writeText(stderr,
                      fmt::format("\r\033[K{:3.0f} %  {}", 100 * progress.done, cut(progress.text(), 90)));
        else if (progress.part != part_)
            printError("{:3.0f} %  {}\n", 100 * progress.done, progress.part);
        part_ = progress.part;
    }

  private:
    bool quiet_;
    bool live_ = platform::isTerminal(stderr);
    std::string part_;
};

void writeTables(const CardOptions& options, const std::vector<Card>& cards) {
    if (!options.htmlFile.empty()) writeFileAtomically(options.htmlFile, comparisonHtml(cards));
    if (!options.csvFile.empty()) writeResult(options.csvFile, comparisonCsv(cards));
}

int compareCards(const CardOptions& options) {
    if (options.compare.size() < 2)
        throw std::invalid_argument(
            "--compare needs at least two files written by `lockstep card --json FILE`");
    if (options.compare.size() > mostCards)
        throw std::invalid_argument(fmt::format("--compare takes at most {} files", mostCards));
    if (!options.jsonFile.empty()) throw std::invalid_argument("--json cannot be used with --compare");
    if (!options.owner.empty())
        throw std::invalid_argument("--owner names the machine of a new card; cards keep theirs");
    std::vector<Card> cards;
    for (const std::string& file : options.compare) cards.push_back(readCard(file));
    printTo(peopleStream(options), "{}", comparisonText(cards));
    writeTables(options, cards);
    if (!options.pngFile.empty()) writePng(options.pngFile, comparisonPicture(cards));
    return 0;
}

int card(const CardOptions& options) {
    std::vector<NamedFile> read;
    for (const std::string& file : options.compare) read.push_back({"--compare", file});
    requireResultFiles(options, read);
    if (!options.htmlFile.empty()) {
        if (isStandardOutput(options.htmlFile))
            throw std::invalid_argument(
                "--html needs a file name; only --json and --csv can go to standard output");
        read.insert(read.end(),
                    {{"--json", options.jsonFile}, {"--csv", options.csvFile}, {"--png", options.pngFile}});
        requireSeparateFiles({{"--html", options.htmlFile}}, read);
        requireWritable(options.htmlFile);
    }
    if (!options.compare.empty()) return compareCards(options);
    if (options.owner.size() > longestOwner)
        throw std::invalid_argument(fmt::format("--owner takes a name of at most {} bytes", longestOwner));
    CardRequest request;
    request.owner = options.owner;
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
    writeTables(options, {result});
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
    addValue(command, "--owner", "NAME", options->owner,
             "what the machine is called in comparisons [the name of the card's file]");
    addValue(command, "--png", "FILE", options->pngFile, "draw the page");
    addValue(command, "--html", "FILE", options->htmlFile, "write the numbers as a page for a browser");
    addValue(command, "--csv", "FILE", options->csvFile, "write the numbers for a spreadsheet");
    command.add_option("--compare", options->compare, "compare the cards in these files")
        ->type_name("FILE...")
        ->expected(1, -1);
    command.add_flag("--quiet", options->quiet, "no progress");
    return [options] { return card(*options); };
}

} // namespace lockstep::demos
