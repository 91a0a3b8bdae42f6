// The documents and the help, held to what they say: every command line in them is run, what they show as its
// output or as the shape of its results is compared, and every option that they name exists.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/document.h"
#include "tests/run_program.h"

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using namespace lockstep::test;

struct Replacement {
    std::string written; ///< as documents have it, without "lockstep "
    std::string run;     ///< in its place
};

// What cannot be run as it is written: it has placeholders, goes on for minutes, opens a window, or needs a
// second device. All other commands are run to the letter. A row that no document needs any more is an error.
// Where a command is not about the GPU, the CPU alone runs it: compiling kernels would take most of the time.
const std::vector<Replacement> placeholders{
    {"ARGUMENTS", "--version"},
    {"COMMAND --help", "race --help"},
    {"show NAME", "show race --headless --frames 1"},
    {"data SPEC", "data csv:flowers.csv"},
    {"data SPEC --csv FILE", "data csv:flowers.csv --csv flowers-split.csv"},
    {"devices --json FILE", "devices --json devices.json"},
    {"show FILE.json", "show lockstep-state.json --headless --frames 1"},
    {"show FILE.json --headless --script SCRIPT", "show lockstep-state.json --headless --script lesson.txt"},
    {"show EXHIBIT --record FILE.webp", "show playground --headless --record shown.webp --seconds 0.2"},
    {"card --compare", "card --compare mine.json yours.json"},
    {"card --compare A.json B.json", "card --compare mine.json yours.json"},
    {"card --compare ana.json ben.json", "card --compare mine.json yours.json"},
    {"card --compare cards/*.json --html class.html --csv class.csv",
     "card --compare mine.json yours.json --html class.html --csv class.csv"},
    {"card --compare *.json --html class.html --csv class.csv",
     "card --compare mine.json yours.json --html class.html --csv class.csv"},
    {"predict --csv", "predict --model flowers.safetensors --csv predictions.csv"},
    {"lab NAME", "lab launch --quick --quiet"},
    {"lab --all FOLDER", "lab --all results --quick --quiet --lane cpu"},
    {"lab EXPERIMENT --json -", "lab branches --quick --quiet --json -"},
    {"lesson list|show|run|print NAME --language de", "lesson show what-is-a-gpu --language de"},
    {"lesson check NAME.de", "lesson check what-is-a-gpu.de"},
    {"lesson results FOLDER", "lesson results answers"},
    {"race --json FILE", "race --quick --data spiral --steps 5 --json race.json --lane cpu:simd"},
    {"race --json", "race --quick --data spiral --steps 5 --json race.json --lane cpu:simd"},
    {"train --json FILE", "train --data spiral --steps 5 --json train.json --lane cpu:simd"},
    {"population --csv", "population --size 2x2 --steps 5 --csv losses.csv --lane cpu:simd"},
};
const std::vector<Replacement> minutes{
    {"race --data spiral --layers 16,16 --until-accuracy 95%",
     "race --quick --data spiral --layers 16,16 --until-accuracy 95% --epochs 2 --lane cpu:simd"},
    {"race --data spiral --layers 32,32",
     "race --quick --data spiral --layers 32,32 --steps 5 --lane cpu:simd"},
    {"race --data spiral --layers 32,32 --until-accuracy 95%",
     "race --quick --data spiral --layers 32,32 --until-accuracy 95% --epochs 2 --lane cpu:simd"},
    {"race --lane cpu:scalar --lane cpu:simd --lane cpu:threads --lane cpu:best",
     "race --quick --data spiral --steps 5 --lane cpu:scalar --lane cpu:simd --lane cpu:threads --lane "
     "cpu:best"},
    {"race --lane gpu:naive --lane gpu:blocked --lane gpu:texel",
     "race --quick --data spiral --steps 5 --lane gpu:naive --lane gpu:blocked --lane gpu:texel"},
    {"race --threads 1 --gpu-workgroups 8",
     "race --quick --data spiral --steps 5 --threads 1 --gpu-workgroups 8 --lane cpu:best --lane gpu:naive"},
    {"race --tune-seconds 0", "race --quick --data spiral --steps 5 --tune-seconds 0 --lane gpu:best"},
    {"card --owner \"Ana, desk 3\" --json ana.json",
     "card --owner \"Ana, desk 3\" --json ana.json --quick --seconds 2"},
    {"card --owner Ana --json ana.json --png ana.png",
     "card --owner Ana --json ana.json --png ana.png --quick --seconds 2"},
    {"race --repeat 5", "race --quick --data spiral --steps 5 --repeat 5 --lane cpu:simd"},
    {"race --lane cpu:scalar --lane cpu:best",
     "race --quick --data spiral --steps 5 --lane cpu:scalar --lane cpu:best"},
    {"race --lane gpu:naive --lane gpu:subgroup",
     "race --quick --data spiral --steps 5 --lane gpu:naive --lane gpu:subgroup"},
    {"train --parallel data --device 0,1 --lane gpu:best --epochs 5",
     "train --parallel data --data spiral --steps 5 --device 0,0 --lane gpu:texel"},
    {"train --parallel data --device 0,1 --lane gpu:best",
     "train --parallel data --data spiral --steps 5 --device 0,0 --lane gpu:texel"},
    {"race --lane gpu:best@0 --lane gpu:best@1", // the second device is the first here
     "race --quick --data spiral --steps 5 --lane gpu:best@0 --lane gpu:naive@0"},
    {"race --epochs 3 --log-every 1 --json race.json",
     "race --quick --data spiral --epochs 3 --log-every 1 --json race.json --lane cpu:simd"},
    {"race --data csv:spiral.csv --scale none",
     "race --quick --data csv:spiral.csv --scale none --steps 5 --lane cpu:simd"},
    {"train --epochs 5 --save run.safetensors", "train --steps 5 --lane cpu:best --save run.safetensors"},
    {"train --resume run.safetensors --epochs 10", "train --resume run.safetensors --steps 10"},
    {"train --epochs 5 --save model.safetensors", "train --steps 5 --lane cpu:best --save model.safetensors"},
    {"train --resume model.safetensors --epochs 10 --save model.safetensors",
     "train --resume model.safetensors --steps 10 --save model.safetensors"},
    {"train --init weights.safetensors", "train --init weights.safetensors --steps 5 --lane cpu:best"},
    {"train --init weights.safetensors --no-shuffle --steps 200 --log-every 1 --json losses.json",
     "train --init weights.safetensors --no-shuffle --steps 5 --log-every 1 --json losses.json --lane "
     "cpu:best"},
    {"train --data csv:flowers.csv --label species --optimizer sgd --lr 0.05",
     "train --data csv:flowers.csv --label species --optimizer sgd --lr 0.05 --steps 5 --lane cpu:best"},
    {"train", "train --steps 5 --lane cpu:best"},
    {"predict --model model.safetensors --data csv:new.csv", // a model of that table
     "predict --model flowers.safetensors --data csv:new.csv"},
    {"predict --model model.safetensors --data csv:new.csv --csv predictions.csv --json predictions.json",
     "predict --model flowers.safetensors --data csv:new.csv --csv predictions.csv --json predictions.json"},
    {"population", "population --size 2x2 --steps 5 --lane cpu:simd"},
    {"population --size 32x32 --x lr=1e-4:1:log --y init-scale=0.1:10:log --png mosaic.png",
     "population --size 4x4 --steps 5 --x lr=1e-4:1:log --y init-scale=0.1:10:log --png mosaic.png --lane "
     "cpu:simd"},
    {"population --size 4x8 --x activation=relu,tanh,elu,gelu --y seed=1:8 --data moons",
     "population --steps 5 --size 4x8 --x activation=relu,tanh,elu,gelu --y seed=1:8 --data moons --lane "
     "cpu:simd"},
    {"population --x lr=1e-4:1:log --y momentum=0:0.99 --optimizer momentum --csv losses.csv",
     "population --size 2x2 --steps 5 --x lr=1e-4:1:log --y momentum=0:0.99 --optimizer momentum --csv "
     "losses.csv --lane cpu:simd"},
    {"population --x noise=0:0.8 --y l2=1e-6:0.1:log --png population.png",
     "population --size 2x2 --steps 5 --x noise=0:0.8 --y l2=1e-6:0.1:log --png population.png --lane "
     "cpu:simd"},
    {"map", "map --lane cpu:best --size 8x8"},
    {"map --png map.png", "map --lane cpu:best --size 8x8 --png map.png"},
    {"map --preset edge --size 512x512 --png map.png",
     "map --preset edge --size 8x8 --png map.png --lane cpu:best"},
    {"map --preset edge --size 1024x1024 --png edge.png",
     "map --preset edge --size 8x8 --png edge.png --lane cpu:best"},
    {"map --window 2.5:3.5,0.9:1.9 --steps 500 --png zoom.png --json zoom.json",
     "map --lane cpu:best --size 8x8 --window 2.5:3.5,0.9:1.9 --steps 500 --png zoom.png --json zoom.json"},
    {"map --preset sohl-dickstein-tanh --lane gpu:best --png paper.png",
     "map --size 8x8 --preset sohl-dickstein-tanh --lane gpu:best --png paper.png"},
    {"map --axes rate-and-scale --window -1:5,-3:3 --activation relu --csv outcomes.csv",
     "map --lane cpu:best --size 8x8 --axes rate-and-scale --window -1:5,-3:3 --activation relu --csv "
     "outcomes.csv"},
    {"bench", "bench --widths 2,8,2 --batch 8 --seconds 0.01 --lane cpu:best"},
    {"bench --seconds 1", "bench --widths 2,8,2 --batch 8 --seconds 0.01 --lane gpu:naive"},
    {"bench --widths 784,2048,2048,10 --batch 512",
     "bench --widths 784,20,20,10 --batch 8 --seconds 0.01 --lane cpu:simd"},
    {"bench --lane gpu:best --lane cpu:best",
     "bench --widths 2,8,2 --batch 8 --seconds 0.01 --lane gpu:best --lane cpu:best"},
    {"tune", "tune --data spiral --layers 32,32 --batch 10"},
    {"tune --device 1", "tune --data spiral --layers 8 --device 0"},
    {"card", "card --quick --quiet --seconds 2"},
    {"card --png mine.png --json mine.json",
     "card --quick --quiet --seconds 2 --png mine.png --json mine.json"},
    {"lab launch", "lab launch --quick --quiet"},
    {"lab launch --json launch.json --png launch.png",
     "lab launch --quick --quiet --json launch.json --png launch.png"},
    {"lab launch --lane cpu", "lab launch --quick --quiet --lane cpu"},
    {"lab --all results", "lab --all results --quick --quiet --lane cpu"},
    {"lesson run my-lesson.md", "lesson run my-lesson.md --quick"},
    {"lesson run what-is-a-gpu", "lesson run my-lesson.md --quick"},
    {"lesson print my-lesson.md --html handout.html",
     "lesson print my-lesson.md --quick --html handout.html"},
    {"lesson print my-lesson.md --html teacher.html --answers",
     "lesson print my-lesson.md --quick --html teacher.html --answers"},
    {"lesson print what-is-a-gpu --html handout.html",
     "lesson print my-lesson.md --quick --html handout.html"},
    {"lesson notes", "lesson notes my-lesson.md"}, // it follows the window until it is interrupted
    {"devices --device 1", "devices --device 0"},
};
const std::vector<Replacement> windows{
    {"", "show race --headless --frames 1"},
    {"show race", "show race --headless --frames 1"},
    {"show my-lesson.md", "show my-lesson.md --headless --frames 1"},
    {"show playground-spiral", "show playground-spiral --headless --frames 1"},
    {"show race-tiny", "show race-tiny --headless --frames 1"},
    {"show lockstep-state.json", "show lockstep-state.json --headless --frames 1"},
    {"show playground --run --record playground.webp",
     "show playground --run --record playground.webp --headless --seconds 0.2"},
    {"show playground --headless --run --record playground.webp --seconds 10",
     "show playground --headless --run --record playground.webp --seconds 0.2"},
    {"show race --headless --run --frames 120 --size 1920x1080 --png race.png",
     "show race --headless --run --frames 2 --size 1920x1080 --png race.png"},
    {"show race --headless --run --frames 120 --png race.png",
     "show race --headless --run --frames 2 --png race.png"},
};

// Commands of other programs, and why they are not run here.
const std::map<std::string, std::string> otherPrograms{
    {"./run.sh", "installs packages and builds"},
    {"./test.sh", "runs this test"},
    {"cmake", "install_test and bundle_test run it"},
    {"mpirun", "ranks_program_test runs it"},
    {"ctest", "runs this test"},
    {"grep", "is the system's"},
    {"/usr/bin/python3", "measures PyTorch for minutes"},
    {"P", "the same, abbreviated"},
};

/// What was typed after "lockstep", without a remark behind it; nothing for other text.
std::optional<std::string> argumentsOf(std::string text) {
    constexpr std::string_view name = "lockstep";
    const std::size_t begin = text.find_first_not_of(' ');
    text.erase(0, std::min(begin, text.size()));
    if (!text.starts_with(name) || (text.size() > name.size() && text[name.size()] != ' ')) return {};
    text.erase(0, name.size());
    if (!text.empty()) text.erase(0, 1);
    for (const std::string_view remark : {"  ", " # "}) text = text.substr(0, text.find(remark));
    return text;
}

struct Written {
    std::string place;
    std::string arguments;
};

const std::vector<std::string>& documentNames() {
    static const std::vector<std::string> names = [] {
        std::vector<std::string> found{"README.md"};
        for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "docs"))
            if (entry.path().extension() == ".md")
                found.push_back("docs/" + entry.path().filename().string());
        std::sort(found.begin() + 1, found.end());
        return found;
    }();
    return names;
}

const std::vector<Document>& documents() {
    static const std::vector<Document> all = [] {
        std::vector<Document> read;
        for (const std::string& name : documentNames())
            read.push_back(readDocument(fs::path(LOCKSTEP_SOURCE_DIR) / name, name));
        return read;
    }();
    return all;
}

std::vector<std::string> linesOf(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

/// The names of all commands, as the program's help lists them.
std::vector<std::string> commandNames() {
    std::vector<std::string> names;
    std::string help = run("--help").out;
    help.erase(0, help.find("Subcommands:"));
    for (const std::string& line : linesOf(help.substr(0, help.find("examples:")))) {
        std::smatch row;
        if (std::regex_match(line, row, std::regex("  ([a-z]+) +.*"))) names.push_back(row[1]);
    }
    CHECK(names.size() > 10);
    return names;
}

/// The help of the program (first) and of every command.
const std::map<std::string, std::string>& helps() {
    static const std::map<std::string, std::string> all = [] {
        std::map<std::string, std::string> texts{{"", run("--help").out}};
        for (const std::string& name : commandNames()) texts[name] = run(name + " --help").out;
        return texts;
    }();
    return all;
}

std::vector<Written> commandsOfDocuments() {
    std::vector<Written> commands;
    for (const Document& document : documents()) {
        for (const FencedBlock& block : document.blocks)
            for (const std::string& line : block.lines)
                if (const auto arguments = argumentsOf(line); arguments && block.info != "cmake")
                    commands.push_back({block.place, *arguments});
        for (const CodeSpan& span : document.spans)
            if (const auto arguments = argumentsOf(span.text)) commands.push_back({span.place, *arguments});
    }
    return commands;
}

std::vector<Written> commandsOfHelp() {
    std::vector<Written> commands;
    const auto add = [&](const std::string& name) {
        const std::vector<std::string> lines = linesOf(helps().at(name));
        auto line = std::ranges::find(lines, "examples:");
        CHECK(line != lines.end());
        for (; line != lines.end() && !line->empty(); ++line)
            if (const auto arguments = argumentsOf(*line))
                commands.push_back({"lockstep " + name + " --help", *arguments});
    };
    for (const std::string& name : commandNames()) add(name);
    add("");
    return commands;
}

/// Writes what the texts take for granted into the folder: a table, a script, a lesson, a state, weights.
void prepare(const Folder& folder) {
    const auto write = [&](const char* name, const std::string& text) {
        std::ofstream(folder.file(name)) << text;
    };
    std::string flowers = "width,length,species\n";
    for (int i = 0; i < 20; ++i)
        flowers += std::to_string(i % 5) + "," + std::to_string(i) + (i < 10 ? ",iris\n" : ",rose\n");
    write("flowers.csv", flowers);
    write("new.csv", flowers);
    write("lesson.txt", "click Run\nframes 3\ncontrols\n");
    for (const Document& document : documents())
        for (const FencedBlock& block : document.blocks) {
            if (block.info == "markdown") write("my-lesson.md", block.text());
            if (block.info == "json") write("lockstep-state.json", block.text());
        }
    // A sheet of answers, as the window saves it.
    write("sheet.txt", "click answer/2\nkey PageDown\nframes 2\nkey PageDown\nframes 2\nclick "
                       "##lesson/name\ntype Jörg\nkey Enter\n"
                       "frames 2\nclick Save answers##lesson\nframes 2\n");
    write("sheet.md",
          "---\ntitle: S\n---\n## One\n```step\nask: Q\nchoices: [a, b]\nright: 2\n```\n## Two\n");
    fs::create_directory(folder.path / "answers");
    const std::string in = "cd " + folder.file("") + " && ";
    CHECK(run("show ../sheet.md --headless --script ../sheet.txt", in + "cd answers && ").code == 0);
    CHECK(run("card --quick --quiet --seconds 2 --json yours.json", in).code == 0);
    CHECK(run("train --quiet --steps 1 --lane cpu:best --save weights.safetensors", in).code == 0);
    CHECK(run("train --quiet --steps 5 --lane cpu:best --data csv:flowers.csv --save flowers.safetensors", in)
              .code == 0);
}

/// Where commands are run: one after the other, as a reader types them.
struct Place {
    Folder folder;
    std::string environment;
    Place() {
        prepare(folder);
        // What documents show was printed on software Vulkan.
        environment = "cd " + folder.file("") + " && VK_LOADER_DRIVERS_SELECT='lvp*' ";
    }
    Outcome type(const std::string& arguments) const { return run(arguments, environment); }
    /// With what a terminal shows, standard error too, in `out`.
    Outcome watch(const std::string& arguments) const {
        return run(arguments, environment + "sh -c 'exec \"$@\" 2>&1' sh");
    }
};

const Place& place() {
    static const Place there;
    return there;
}

/// "This is what `lockstep race` printed" above a block: the arguments.
std::optional<std::string> printedBy(const FencedBlock& block) {
    std::smatch said;
    if (!std::regex_search(block.before, said, std::regex("`lockstep ([^`]*)` print(ed|s)"))) return {};
    return said[1].str();
}

const Replacement* replacementOf(const std::string& arguments) {
    for (const auto* table : {&placeholders, &minutes, &windows})
        for (const Replacement& row : *table)
            if (row.written == arguments) return &row;
    return nullptr;
}

} // namespace

TEST_CASE("every command line of the documents and of the help runs") {
    std::vector<Written> all = commandsOfDocuments();
    CHECK(all.size() > 60); // the search itself works
    const std::vector<Written> helped = commandsOfHelp();
    CHECK(helped.size() > 50);
    all.insert(all.end(), helped.begin(), helped.end());
    std::set<std::string> done;
    for (const Document& document : documents()) // another case runs these
        for (const FencedBlock& block : document.blocks)
            if (const auto arguments = printedBy(block)) done.insert(*arguments);
    std::set<const Replacement*> used;
    const char* timed = std::getenv("LOCKSTEP_DOCS_TIMES");
    for (const Written& command : all) {
        const Replacement* replacement = replacementOf(command.arguments);
        used.insert(replacement);
        const std::string arguments = replacement ? replacement->run : command.arguments;
        if (!done.insert(arguments).second) continue;
        const auto begin = std::chrono::steady_clock::now();
        const Outcome outcome = place().type(arguments);
        const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
        if (timed != nullptr) MESSAGE(seconds.count(), " s: ", arguments);
        INFO(command.place, ": lockstep ", command.arguments, "\nrun as: lockstep ", arguments, "\n",
             outcome.out, outcome.err);
        CHECK(outcome.code == 0);
    }
    for (const auto* table : {&placeholders, &minutes, &windows})
        for (const Replacement& row : *table) {
            INFO("no document has this command any more: lockstep ", row.written);
            CHECK(used.contains(&row));
        }
}

TEST_CASE("commands of other programs are known, and their scripts exist") {
    const auto check = [](const std::string& where, const std::string& command) {
        INFO(where, ": ", command);
        const std::string program = command.substr(0, command.find(' '));
        if (program.starts_with("tests/"))
            CHECK(fs::exists(fs::path(LOCKSTEP_SOURCE_DIR) / program));
        else if (program.starts_with("build/release/tests/bench/"))
            CHECK(fs::exists(fs::path(LOCKSTEP_SOURCE_DIR) / "tests/bench" /
                             (fs::path(program).filename().string() + ".cpp")));
        else
            CHECK(otherPrograms.contains(program));
        std::istringstream words(command);
        for (std::string word; words >> word;)
            if (word.starts_with("tests/")) CHECK(fs::exists(fs::path(LOCKSTEP_SOURCE_DIR) / word));
    };
    const std::regex begins("(\\./|/usr/bin/|build/|tests/bench/|cmake |ctest |grep |P ).*");
    for (const Document& document : documents()) {
        for (const FencedBlock& block : document.blocks)
            if (block.info == "sh")
                for (const std::string& line : block.lines)
                    if (!line.empty() && !argumentsOf(line)) check(block.place, line);
        for (const CodeSpan& span : document.spans)
            if (std::regex_match(span.text, begins)) check(span.place, span.text);
    }
}

TEST_CASE("every option that a document names exists") {
    std::set<std::string> known{
        "--rounds",        "--workloads", "--optimizers",        "--cuda",
        "--minutes",                                                           // of scripts
        "--oversubscribe", "--mca",       "--allow-run-as-root", "--bind-to"}; // of mpirun
    const std::regex option("--[a-z][a-z0-9-]*");
    for (const auto& each : helps())
        for (std::sregex_iterator found(each.second.begin(), each.second.end(), option), end; found != end;
             ++found)
            known.insert(found->str());
    for (const Document& document : documents())
        for (const CodeSpan& span : document.spans) {
            if (!span.text.starts_with("--")) continue;
            for (std::sregex_iterator found(span.text.begin(), span.text.end(), option), end; found != end;
                 ++found) {
                INFO(span.place, ": ", found->str());
                CHECK(known.contains(found->str()));
            }
        }
}

namespace {

// What differs between machines in an output, and a regular expression for it; numbers differ, too.
struct Varying {
    std::string_view shown;
    const char* shape;
};
constexpr Varying varying[] = {
    {"2 threads", "(1 thread|[0-9]+ threads)"},
    {"ms/step  device ms", "(ms/step +device ms|seconds +device s)"}, // of runs that last a second
    {"AMD EPYC", ".+"},
    {"llvmpipe (LLVM 15.0.6, 256 bits), software, not a GPU, driver llvmpipe Mesa 22.3.6 (LLVM 15.0.6)",
     ".+, software, not a GPU, driver .+"},
    {"built-in kernels and oneDNN 2.6.3 sgemm, AVX-512", "built-in kernels.*"},
    {"best (first layer: texel 8x8, group 1x8), fused: last layer", "best.*"},
    {"llvmpipe", ".+"},
};
constexpr const char* numberShape = "[0-9][0-9.,]*(:[0-9]+)*[kM]?(e[-+]?[0-9]+)?";

// Lines that a slower machine does not print, and what a busy one prints besides, wrapped.
const std::regex mayBeMissing(" +to the finish line .*; short, so it was timed .*");
const std::regex mayBeMore("warning: .*");
const std::regex progress("(cpu|gpu):[a-z-]+ +[0-9]+ %.*");
const std::regex warmUp("[^ ]+ +[0-9]+ %  (warms up|compil.*|compares kernels.*)");

/// A regular expression for texts like this one.
std::string shapeOf(std::string_view text) {
    static const std::regex number("^[0-9]+([.,:][0-9]+)*([kM](?![a-z]))?(e[-+]?[0-9]+)?");
    std::string shape;
    while (!text.empty()) {
        const auto phrase =
            std::ranges::find_if(varying, [&](const Varying& each) { return text.starts_with(each.shown); });
        std::match_results<std::string_view::const_iterator> digits;
        if (phrase != std::end(varying)) {
            shape += phrase->shape;
            text.remove_prefix(phrase->shown.size());
        } else if (std::regex_search(text.begin(), text.end(), digits, number)) {
            shape += numberShape;
            text.remove_prefix(static_cast<std::size_t>(digits.length()));
        } else if (text.front() == ' ') {
            shape += " +";
            text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        } else {
            if (std::string_view("()[]{}*+?.\\^$|").find(text.front()) != std::string_view::npos)
                shape += '\\';
            shape += text.front();
            text.remove_prefix(1);
        }
    }
    return shape;
}

bool like(const std::string& printed, const std::string& shown) {
    return std::regex_match(printed, std::regex(shapeOf(shown)));
}

/// Progress, which comes as often as a machine takes and tells what is known by then, is taken out of
/// `lines`. Returns its parts: "step 171", "0:02 left", "finished". Warming up is left out: a slower machine
/// tells of it in more words than a fast one.
std::vector<std::string> takeProgress(std::vector<std::string>& lines) {
    std::vector<std::string> parts;
    static const std::regex between(" {2,}");
    std::erase_if(lines, [&](const std::string& line) {
        if (!std::regex_match(line, progress)) return false;
        if (std::regex_match(line, warmUp)) return true;
        const std::sregex_token_iterator first(line.begin(), line.end(), between, -1), end;
        parts.insert(parts.end(), first, end);
        return true;
    });
    return parts;
}

void compareLines(std::vector<std::string> shown, std::vector<std::string> printed) {
    const std::vector<std::string> shownProgress = takeProgress(shown);
    for (const std::string& part : takeProgress(printed)) {
        INFO("progress: ", part);
        CHECK(std::ranges::any_of(shownProgress, [&](const std::string& each) { return like(part, each); }));
    }
    if (const auto more = std::ranges::find_if(
            printed, [](const std::string& line) { return std::regex_match(line, mayBeMore); });
        more != printed.end())
        printed.erase(more, std::ranges::find(more, printed.end(), "")); // to the end of its paragraph
    const auto lineOf = [](const std::vector<std::string>& lines, std::size_t at) {
        return at < lines.size() ? lines[at] : std::string();
    };
    std::size_t at = 0;
    for (std::size_t i = 0; i < shown.size(); ++i) {
        const std::string now = lineOf(printed, at);
        if (std::regex_match(shown[i], mayBeMissing) && !like(now, shown[i])) continue;
        // A sentence that is wrapped breaks elsewhere where names are longer.
        const bool wrapped = !like(now, shown[i]) &&
                             like(now + " " + lineOf(printed, at + 1), shown[i] + " " + lineOf(shown, i + 1));
        INFO("shown:   ", shown[i], "\nprinted: ", now);
        CHECK((wrapped || like(now, shown[i])));
        if (wrapped) ++i, ++at;
        ++at;
    }
    CHECK(lineOf(printed, at) == "");
}

} // namespace

TEST_CASE("what a document shows as printed is what is printed") {
    int compared = 0;
    for (const Document& document : documents())
        for (const FencedBlock& block : document.blocks) {
            const auto arguments = printedBy(block);
            if (!block.info.empty() || !arguments) continue;
            ++compared;
            INFO(block.place, ": lockstep ", *arguments);
            const Outcome outcome = place().watch(*arguments);
            CHECK(outcome.code == 0);
            INFO(outcome.out);
            compareLines(block.lines, linesOf(outcome.out));
        }
    CHECK(compared > 0);
}

namespace {

/// The shape of a JSON value as docs/json.md writes it: {"name", "list": [{"name"}], "any": {prose}, "any":
/// 1}.
struct Shape {
    bool any = true;
    bool list = false; ///< of values with these fields
    std::vector<std::string> names;
    std::vector<Shape> fields; ///< by `names`
};

class ShapeReader {
  public:
    explicit ShapeReader(const std::string& text) : text_(text) {}

    Shape read() {
        skipBlanks();
        if (take('[')) {
            Shape shape = read();
            shape.list = true;
            skipTo("]");
            take(']');
            return shape;
        }
        Shape shape;
        if (!take('{')) return skipTo(",}]"), shape;
        skipBlanks();
        if (text_[at_] != '"') return skipTo("}"), take('}'), shape; // prose
        shape.any = false;
        do {
            skipBlanks();
            REQUIRE(take('"'));
            const std::size_t end = text_.find('"', at_);
            shape.names.push_back(text_.substr(at_, end - at_));
            at_ = end + 1;
            skipBlanks();
            shape.fields.push_back(take(':') ? read() : Shape{});
            skipBlanks();
        } while (take(','));
        REQUIRE(take('}'));
        return shape;
    }

  private:
    void skipBlanks() { at_ = std::min(text_.find_first_not_of(" \n", at_), text_.size()); }
    void skipTo(const char* letters) { at_ = std::min(text_.find_first_of(letters, at_), text_.size()); }
    bool take(char letter) {
        const bool there = at_ < text_.size() && text_[at_] == letter;
        at_ += there ? 1 : 0;
        return there;
    }

    std::string text_;
    std::size_t at_ = 0;
};

void compareShape(const Shape& shape, const Json& json, const std::string& where) {
    if (json.is_null() || shape.any) return; // unknown values are null
    CAPTURE(where);
    if (shape.list) {
        REQUIRE(json.is_array());
        Shape each = shape;
        each.list = false;
        for (const Json& element : json) compareShape(each, element, where + "[]");
        return;
    }
    REQUIRE(json.is_object());
    std::vector<std::string> written;
    for (const auto& field : json.items()) written.push_back(field.key());
    CHECK(shape.names == written);
    for (std::size_t i = 0; i < shape.fields.size(); ++i) {
        const std::string& name = shape.names[i];
        if (json.contains(name)) compareShape(shape.fields[i], json[name], where + "." + name);
    }
}

// By the title above the shape in docs/json.md: what prints such a result.
const std::map<std::string, std::string> results{
    {"Results as JSON and CSV",
     "race --quick --memory --format int8 --data spiral --steps 20 --repeat 2 --lane cpu:scalar --lane "
     "gpu:naive --json -"},
    {"predict --json", "predict --model flowers.safetensors --format int8 --split all --json -"},
    {"map --json", "map --lane cpu:best --size 8x8 --steps 20 --json -"},
    {"population --json", "population --size 4x4 --steps 5 --lane cpu:simd --json -"},
    {"card --json", "card --quick --quiet --seconds 2 --json -"},
    {"lab --json", "lab launch --quick --quiet --json -"},
    {"data --json", "data spiral --json -"},
    {"devices --json", "devices --json"},
};

} // namespace

TEST_CASE("results have the shape that docs/json.md gives them, key by key") {
    const auto document = std::ranges::find(documentNames(), "docs/json.md") - documentNames().begin();
    std::set<std::string> compared;
    for (const FencedBlock& block : documents()[static_cast<std::size_t>(document)].blocks) {
        INFO(block.place, ": ", block.heading);
        REQUIRE(results.contains(block.heading));
        compared.insert(block.heading);
        const Outcome outcome = place().type(results.at(block.heading));
        REQUIRE(outcome.code == 0);
        Shape shape = ShapeReader(block.text()).read();
        for (std::size_t i = 0; i < shape.fields.size(); ++i)
            if (shape.names[i] == "numbers") shape.fields[i] = {}; // each experiment has its own
        compareShape(shape, Json::parse(outcome.out), "");
    }
    CHECK(compared.size() == results.size());
}

TEST_CASE("every block of a document is one that this test knows") {
    for (const Document& document : documents())
        for (const FencedBlock& block : document.blocks) {
            const bool commands =
                std::ranges::any_of(block.lines, [](const std::string& line) { return !!argumentsOf(line); });
            const bool shape = block.place.starts_with("docs/json.md");
            const std::set<std::string> others{"sh",       "cmake", "cpp",   "json",
                                               "markdown", "yaml",  "slurm", "hosts"};
            INFO(block.place, ": not a list of commands, not what `lockstep ...` printed");
            CHECK((others.contains(block.info) || commands || shape || printedBy(block)));
        }
}
