// `lockstep card` and the exhibit My machine: what is measured, its shape as JSON, the pages, and others'
// broken files.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <sstream>

#include <nlohmann/json.hpp>

#include "demos/card/card.h"
#include "demos/card/card_jobs.h"
#include "demos/card/card_measure.h"
#include "demos/card/card_rows.h"
#include "demos/card/time_limit.h"
#include "demos/kit/interrupt.h"
#include "demos/kit/roof.h"
#include "demos/words/text.h"
#include "tests/data_files.h"
#include "tests/run_program.h"
#include "tests/sanitized.h"
#include "tests/test_device.h"

namespace {

using namespace lockstep::demos;
using lockstep::test::contents;
using lockstep::test::Folder;
using lockstep::test::interrupted;
using lockstep::test::Outcome;
using lockstep::test::run;
using Json = nlohmann::ordered_json;

const std::vector<std::string> partIds{"roofs",  "copies", "races",  "population",
                                       "ladder", "widths", "batches"};

Card exampleCard() {
    Card card;
    card.program = "lockstep 0.0.0";
    card.date = "2026-01-02";
    card.cpu.device = "AMD Ryzen 9 9950X";
    card.cpu.threads = 16;
    card.gpu = {.device = "NVIDIA GeForce RTX 4070", .driver = "NVIDIA 550.1", .gpu = true};
    card.facts = {{"memory", "12.0 GiB"}};
    card.parts = {
        {"roofs",
         "Arithmetic in registers",
         "Gop/s",
         {{"fp32", 0, 29000}, {"fp64", 0, 0, "none"}},
         "Remark."},
        {"races", "Training, SGD", "examples/s", {{"784-256-128-10, batch 128", 250e3, 4.1e6}}, ""}};
    card.seconds = 100;
    return card;
}

void write(const std::string& file, const std::string& text) { std::ofstream(file) << text; }

// Every row has a number, or says why it has none.
void checkRows(const Json& card) {
    for (const Json& part : card["parts"])
        for (const Json& row : part["rows"]) {
            CAPTURE(part["id"]);
            CAPTURE(row.dump());
            CHECK_FALSE(row["name"].get<std::string>().empty());
            const bool measured = !row["cpu"].is_null() || !row["gpu"].is_null();
            CHECK((measured || !row["note"].get<std::string>().empty()));
        }
}

std::size_t wordAt(const std::string& png, std::size_t at) {
    std::size_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(png.at(at + i));
    return value;
}

} // namespace

TEST_CASE("before a card is measured, its parts and lines are known") {
    const Card blank = blankCard("A card");
    REQUIRE(blank.parts.size() == partIds.size());
    for (std::size_t i = 0; i < partIds.size(); ++i) {
        CHECK(blank.parts[i].id == partIds[i]);
        CHECK_FALSE(blank.parts[i].rows.empty());
        for (const CardRow& row : blank.parts[i].rows)
            CHECK((row.cpu == 0 && row.gpu == 0 && row.note.empty()));
    }
    CHECK(blank.parts[4].rows.size() == lockstep::knownLanes().size());
    CHECK(cardHeadline(blank).empty());
}

TEST_CASE("a card's headline compares the machines at training, and calls software by its name") {
    Card card = exampleCard();
    CHECK(cardHeadline(card) == "The GPU is 16× as fast as the CPU at training 784-256-128-10, batch 128");
    card.gpu.software = true;
    card.parts[1].rows[0].gpu = 125e3;
    CHECK(cardHeadline(card) ==
          "The CPU is 2× as fast as software Vulkan at training 784-256-128-10, batch 128");
    card.parts[1].rows[0].gpu = 0;
    CHECK(cardHeadline(card).empty());
}

TEST_CASE("a part's finding names who is ahead, and by how much") {
    Card card = exampleCard();
    const CardPart roofs{"roofs", "", "Gop/s", {{"fp32", 0, 900}, {"fp32 vec4", 100, 310}, {"fp64", 0, 4}}};
    CardFinding finding = findingOf(roofs, false);
    CHECK(finding.text() == "GPU 3.1× as much arithmetic as the CPU");
    CHECK(finding.gpu == true);
    CHECK((finding.row.cpu == 100 && finding.row.gpu == 310));
    CHECK(findingOf(roofs, true).text() == "Software Vulkan 3.1× as much arithmetic as the CPU");
    const CardPart copies{"copies", "", "GB/s", {{"host to host", 20, 15}, {"device to device", 0, 400}}};
    CHECK(findingOf(copies, false).text() == "GPU 20× as many bytes as the CPU, each in its own memory");
    CardPart races = card.parts[1];
    CHECK(findingOf(races, false).text() == "GPU 16× as fast as the CPU at training 784-256-128-10");
    races.rows.insert(races.rows.begin(), {"2-8-8-1, batch 10", 500, 100});
    CHECK(findingOf(races, false).text() ==
          "GPU 16× as fast as the CPU at training 784-256-128-10; 2-8-8-1: CPU 5×");
}

TEST_CASE("a part's finding says where nothing is ahead, and where a number is missing") {
    const CardPart even{"population", "", "network-steps/s", {{"1,024 networks", 102, 100}}};
    const CardFinding equal = findingOf(even, false);
    CHECK(equal.text() == "About equal: CPU and GPU, within 5 %");
    CHECK_FALSE(equal.gpu.has_value());
    CHECK(findingOf(even, true).text() == "About equal: CPU and software Vulkan, within 5 %");
    CardPart half{"population", "", "network-steps/s", {{"1,024 networks", 102, 0, "no GPU"}}};
    CHECK(findingOf(half, false).text() == "Only the CPU: no GPU");
    CHECK(findingOf(half, false).row.cpu == 102);
    half.rows.push_back({"2,048 networks", 0, 90});
    CHECK(findingOf(half, false).text() == "Not compared: no row has a number of both");
    half.rows = {{"1,024 networks", 0, 0, "skipped: out of time"}};
    CHECK(findingOf(half, false).text() == "Not measured: skipped: out of time");
    const Card blank = blankCard("A card");
    for (const CardPart& part : blank.parts) CHECK(findingOf(part, false).text() == "Not measured");
}

TEST_CASE("the findings of ladder and crossovers follow from their rows") {
    CardPart ladder{
        "ladder", "", "examples/s", {{"cpu:scalar", 10}, {"cpu:simd", 80}, {"gpu:tiled", 0, 570}}};
    CHECK(findingOf(ladder, false).text() == "57× as fast as plain loops, with gpu:tiled");
    CHECK(findingOf(ladder, true).text() ==
          "57× as fast as plain loops, with gpu:tiled (software, not a GPU)");
    ladder.rows[2].gpu = 0;
    CHECK(findingOf(ladder, false).text() == "8× as fast as plain loops, with cpu:simd");
    ladder.rows[1].cpu = 9;
    CHECK(findingOf(ladder, false).text() == "No faster than plain loops, however it is written");
    CardPart widths{
        "widths", "", "examples/s", {{"N = 16", 40, 10}, {"N = 64", 20, 20.0001}, {"N = 1,024", 1, 4}}};
    const CardFinding crossed = findingOf(widths, false);
    CHECK(crossed.text() == "From width 64 the GPU is faster");
    CHECK(crossed.row.name == "N = 64");
    widths.rows[0].gpu = 50; // noise: two crossings say nothing
    widths.rows[1].gpu = 10;
    CHECK(findingOf(widths, false).text() == "GPU faster at 2 of 3 sizes");
    widths.rows[2].gpu = 0;
    widths.rows.push_back({"N = 2,048", 1, 0.5});
    widths.rows.push_back({"N = 4,096", 1, 2});
    CHECK(findingOf(widths, false).text() == "Undecided: each is faster at half of the sizes");
    widths.rows = {{"N = 16", 40, 10}};
    CHECK(findingOf(widths, false).text() == "CPU faster with width 16");
    CardPart batches{"batches", "", "examples/s", {{"N = 1", 40, 10}, {"N = 4,096", 40, 20}}};
    CHECK(findingOf(batches, false).text() == "CPU faster for every batch from 1 to 4,096");
    CHECK(findingOf(batches, false).gpu == false);
}

TEST_CASE("a card is measured, shown as text, and written as JSON and PNG") {
    const Folder folder;
    const Outcome outcome =
        run("card --quick --json " + folder.file("card.json") + " --png " + folder.file("card.png"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const Json card = Json::parse(contents(folder.file("card.json")));
    CHECK(card["card"] == 1);
    CHECK(card["quick"] == true);
    CHECK(card["cpu"]["device"].get<std::string>() != "");
    REQUIRE(card["parts"].size() == partIds.size());
    for (std::size_t i = 0; i < partIds.size(); ++i) {
        const Json& part = card["parts"][i];
        CAPTURE(part.dump());
        CHECK(part["id"] == partIds[i]);
        CHECK(outcome.says(part["title"].get<std::string>() + ", " + part["unit"].get<std::string>()));
        REQUIRE(part["rows"].size() > 0);
    }
    checkRows(card);
    CHECK(card["cpu"]["threads"] > 0);
    CHECK(card["parts"][0]["rows"][1]["cpu"] > 0); // fp32 vec4
    const Json& fp32 = card["parts"][0]["rows"][0];
    CHECK(fp32["name"] == "fp32");
    if (!card["gpu"].is_null()) CHECK(fp32["gpu"] > 0);
    const Json& scalar = card["parts"][4]["rows"][0];
    CHECK(scalar["name"] == "cpu:scalar");
    // The first card of a machine spends its time on comparing kernels, and then says so.
    CHECK((scalar["cpu"] > 0 ||
           scalar["note"].get<std::string>().find("the time left") != std::string::npos ||
           scalar["note"].get<std::string>().find("out of time") != std::string::npos));
    if (!card["gpu"].is_null() && card["gpu"]["software"] == true) CHECK(outcome.says("software, not a GPU"));
    const std::string png = contents(folder.file("card.png"));
    REQUIRE(png.size() > 10'000);
    CHECK(wordAt(png, 16) == 1920);
}

TEST_CASE("a card of the processor alone") {
    const Folder folder;
    const std::string file = folder.file("card.json");
    const Outcome outcome =
        run("card --quick --seconds 3 --json " + file, "VK_DRIVER_FILES=/nowhere VK_ICD_FILENAMES=/nowhere");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    const Json card = Json::parse(contents(file));
    CHECK(card["gpu"].is_null());
    CHECK_FALSE(card["no_gpu"].get<std::string>().empty());
    checkRows(card);
    CHECK(outcome.says("GPU  none: "));
    const Outcome compared = run("card --compare " + file + " " + file);
    CAPTURE(compared.err);
    CHECK(compared.code == 0);
    CHECK(compared.says("card 2  GPU  none: "));
    CHECK(run("card --device nosuch").code == 1);
}

TEST_CASE("the time limit is kept, and what is left out says so") {
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = run("card --seconds 2");
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    INFO(outcome.out << outcome.err);
    CHECK(outcome.code == 0);
    CHECK(outcome.says("skipped: out of time"));
    if (!lockstep::test::sanitized) CHECK(passed.count() < 30); // starting a lane is not interrupted
}

TEST_CASE("a time limit sets its flag") {
    std::atomic<bool> stop = false;
    const TimeLimit past(0, stop);
    CHECK(past.over());
    const TimeLimit soon(0.01, stop);
    const TimeLimit later(1000, stop);
    const TimeLimit never(1e300, stop);
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(soon.over());
    CHECK_FALSE(later.over());
    CHECK_FALSE(never.over());
    stop = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    CHECK(later.over());
}

TEST_CASE("an interrupt sets the flag that work watches, and what is measured by then is written") {
    {
        std::atomic<bool> stop = false;
        const InterruptGuard guard;
        const InterruptWatch watch(guard, stop);
        CHECK_FALSE(stop);
        std::raise(SIGINT);
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        CHECK(stop);
    }
    const Folder folder;
    const auto begin = std::chrono::steady_clock::now();
    const Outcome outcome = interrupted({"card", "--quiet", "--json", folder.file("card.json")}, "");
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin;
    CHECK(outcome.code == 130);
    CHECK(outcome.says("skipped: out of time"));
    checkRows(Json::parse(contents(folder.file("card.json"))));
    if (!lockstep::test::sanitized) CHECK(passed.count() < 15);
}

TEST_CASE("units and unchecked numbers are marked in the page and in the comparison") {
    Card card = exampleCard();
    CHECK(cardText(card).find("Training, SGD, examples/s") != std::string::npos);
    CHECK(cardText(card).find("not checked") == std::string::npos);
    card.parts[1].rows[0].cpu = 0;
    card.parts[1].rows[0].unchecked = true;
    for (const std::string& text : {cardText(card), comparisonText({card, exampleCard()})}) {
        CAPTURE(text);
        CHECK(text.find("Training, SGD, examples/s") != std::string::npos);
        CHECK(text.find("4.10M*") != std::string::npos);
        CHECK(text.find("*: losses not checked.") != std::string::npos);
        CHECK(text.find("-*") == std::string::npos);
    }
}

TEST_CASE("lines with the same note share it") {
    Card card = exampleCard();
    card.parts[0].rows = {{"a", 0, 0, "same"}, {"b", 0, 0, "same"}, {"c", 0, 0, "other"}};
    CHECK(cardText(card).find("  a, b: same\n  c: other\n") != std::string::npos);
    for (const char* name : {"d", "e"}) card.parts[0].rows.push_back({name, 0, 0, "same"});
    CHECK(cardText(card).find("  4 rows: same\n") != std::string::npos);
}

TEST_CASE("what was written is read again") {
    const Card card = exampleCard();
    const Json json = cardJson(card);
    CHECK(cardJson(cardFromJson(json, "card.json")) == json);
    Card alone = card;
    alone.gpu = {};
    alone.noGpu = "no Vulkan device was found";
    CHECK(cardFromJson(cardJson(alone), "card.json").gpuName() == "none: no Vulkan device was found");
    // What drivers say may have line breaks, and be longer than a card's texts.
    alone.noGpu = "no Vulkan device can be used:\n  0 a\t b\n" + std::string(398, 'x');
    for (int letter = 0; letter < 300; ++letter) alone.noGpu += "é";
    alone.parts[0].rows[0].note = "two\nlines\xC2\x9B"; // a terminal takes U+009B for the start of a command
    const Card again = cardFromJson(cardJson(alone), "card.json");
    CHECK(again.noGpu.starts_with("no Vulkan device can be used: 0 a b xxx"));
    CHECK(again.noGpu.size() <= 400);
    CHECK(again.parts[0].rows[0].note == "two lines");
    Card accented = alone;
    accented.noGpu.clear();
    for (int letter = 0; letter < 300; ++letter) accented.noGpu += letter == 0 ? "x" : "é";
    CHECK(cardFromJson(cardJson(accented), "card.json").noGpu.size() == 399); // whole letters
}

TEST_CASE("cards are laid side by side") {
    const Folder folder;
    Card other = exampleCard();
    other.gpu.device = "AMD Radeon RX 6600";
    other.quick = true;
    other.parts[1].rows[0].gpu = 1.5e6;
    other.parts[1].rows.push_back({"another network", 1, 2});
    write(folder.file("a.json"), cardJson(exampleCard()).dump());
    write(folder.file("b.json"), cardJson(other).dump());
    const std::string files = folder.file("a.json") + " " + folder.file("b.json");
    const Outcome outcome = run("card --compare " + files + " --png " + folder.file("both.png"));
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    for (const char* text : {"a  GPU  NVIDIA GeForce RTX 4070", "b  GPU  AMD Radeon RX 6600", "  250k  4.10M",
                             "1.50M", "another network", "29.0k", "quick run"})
        CHECK(outcome.says(text));
    CHECK(contents(folder.file("both.png")).size() > 5'000);
    CHECK(run("card --compare " + folder.file("a.json")).code == 2);
    CHECK(run("card --json x.json --compare " + files).code == 2);
}

TEST_CASE("machines are named by their owners, or by their files; no two are called the same") {
    std::vector<Card> cards(6, exampleCard());
    cards[0].owner = "Ana";
    cards[1].owner = "Ana";
    cards[2].file = "laptop-3";
    cards[3].owner = "Ana 2";
    cards[4].owner = "a name that is much too long for a column";
    CHECK(cardLabels(cards) == std::vector<std::string>{"Ana", "Ana 2", "laptop-3", "Ana 2 2",
                                                        "a name that is much…", "NVIDIA GeForce RTX …"});
    CHECK(cardFromJson(cardJson(cards[0]), "card.json").owner == "Ana");
    Json before = cardJson(cards[0]); // cards of version 0.9 have no owner
    before.erase("owner");
    CHECK(cardFromJson(before, "card.json").owner.empty());
    const Folder folder;
    write(folder.file("old.json"), before.dump());
    CHECK(readCard(folder.file("old.json")).file == "old");
    const std::string file = folder.file("new.json");
    REQUIRE(run("card --quick --quiet --seconds 1 --owner 'Ben (desk 3)' --json " + file).code == 0);
    CHECK(Json::parse(contents(file))["owner"] == "Ben (desk 3)");
    CHECK(run("card --compare " + file + " " + folder.file("old.json")).says("Ben (desk 3)"));
    CHECK(run("card --owner Ana --compare " + file + " " + file).code == 2);
    CHECK(run("card --quick --owner " + std::string(61, 'x')).code == 2);
}

TEST_CASE("a class of 25 machines fits a terminal of 80 columns, a page and a spreadsheet") {
    const Folder folder;
    std::string files;
    for (int machine = 1; machine <= 25; ++machine) {
        Card card = exampleCard();
        card.owner = "Pupil <" + std::to_string(machine) + ">";
        card.parts[0].rows[0].gpu = 1000.0 * machine;
        for (int rung = 0; rung < 12; ++rung)
            card.parts[1].rows.push_back({"gpu:rung-" + std::to_string(rung), 0, 1000.0 + rung});
        const std::string file = folder.file(std::to_string(machine) + ".json");
        write(file, cardJson(card).dump());
        files += " " + file;
    }
    const std::string html = folder.file("class.html"), csv = folder.file("class.csv");
    const Outcome outcome = run("card --compare" + files + " --html " + html + " --csv " + csv);
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    std::istringstream lines(outcome.out);
    std::size_t wide = 0;
    std::map<std::string, int> rows; // by machine
    for (std::string line; std::getline(lines, line);) {
        wide += line.size() > 80 ? 1 : 0;
        if (const std::size_t end = line.find('>'); line.starts_with("Pupil <"))
            ++rows[line.substr(0, end + 1)];
    }
    CHECK(wide == 0);
    REQUIRE(rows.size() == 25);
    for (const auto& [machine, count] : rows)
        CHECK(count == 5); // what it is, roofs, and 14 columns in 3 tables
    CHECK(outcome.says("12  gpu:rung-10"));

    const std::string page = contents(html);
    CHECK(page.find("<th>Pupil &lt;25&gt;</th>") != std::string::npos);
    CHECK(page.find("<strong>25.0k</strong>") != std::string::npos); // the best of its column
    CHECK(page.find("<strong>24.0k</strong>") == std::string::npos);
    const std::string table = contents(csv);
    CHECK(std::ranges::count(table, '\n') == 1 + 25 * (2 + 13));
    CHECK(
        table.starts_with("machine,gpu_device,cpu_device,program,date,quick,part,row,unit,cpu,gpu,unchecked\n"
                          "Pupil <1>,NVIDIA GeForce RTX 4070,\"AMD Ryzen 9 9950X, 16 threads\",lockstep "
                          "0.0.0,2026-01-02,0,roofs,fp32,Gop/s,,1000,0\n"));
    CHECK(table.find("races,\"784-256-128-10, batch 128\",examples/s,250000,4100000,0") != std::string::npos);
    Card bold = exampleCard();
    bold.owner = "=HYPERLINK(1)";
    CHECK(comparisonCsv({bold}).find("\n'=HYPERLINK(1),") != std::string::npos);
    CHECK(run("card --compare" + files + " --html -").code == 2);
    CHECK(run("card --compare" + files + " --csv -").out == table);
}

// A quick card differs from a full one in how often it measures, and in nothing that is measured.
TEST_CASE("a quick run measures the same work as the full one, and finds no more") {
    lockstep::gpu::Device& device = lockstep::testDevice();
    const std::uint64_t bytes = copyBytes(device);
    CHECK(bytes >= std::uint64_t{device.software() ? 32u : 256u} << 20); // 4 MiB would lie in a cache
    const Folder folder;
    const std::string file = folder.file("card.json");
    REQUIRE(run("card --quick --quiet --json " + file).code == 0);
    const Json card = Json::parse(contents(file));
    CHECK(card["parts"][1]["remark"].get<std::string>().find(
              "between buffers of " + std::to_string(bytes >> 20) + " MiB") != std::string::npos);
    CHECK(card["parts"][3]["rows"][0]["name"] ==
          "1,024 networks 2-8-8-1, batch 10"); // as many as in a full run
    CHECK(card["parts"][3]["rows"][0]["name"].get<std::string>().find(
              lockstep::demos::grouped(cardNetworks)) == 0);
    using lockstep::gpu::Memory;
    bool more = true; // other programs may slow down one and not the other
    for (int attempt = 0; attempt < 8 && more; ++attempt)
        more = copyRate(device, Memory::readback, Memory::readback, true) >
               1.1 * copyRate(device, Memory::readback, Memory::readback);
    CHECK_FALSE(more);
}

TEST_CASE("broken and foreign files are refused with file and reason") {
    const Folder folder;
    const std::string right = folder.file("right.json");
    write(right, cardJson(exampleCard()).dump());
    const auto changed = [](auto change) {
        Json json = cardJson(exampleCard());
        change(json);
        return json.dump();
    };
    const std::vector<std::pair<std::string, std::string>> files{
        {"", "the file is empty"},
        {"{\"card\": 1", "not valid JSON"},
        {std::string(100'000, '['), "not valid JSON"},
        {"[1, 2]", "the file is not an object"},
        {"{\"lockstep\": 1, \"exhibit\": \"race\"}", "field 'card' is missing"},
        {changed([](Json& json) { json["card"] = 2; }), "has card format 2; this program reads format 1"},
        {changed([](Json& json) { json["card"] = "1"; }), "field 'card' must be a number"},
        {changed([](Json& json) { json["parts"] = 3; }), "field 'parts' must be a list"},
        {changed([](Json& json) { json["parts"][1]["rows"][0]["cpu"] = -1; }),
         "'parts[1].rows[0].cpu' is out of range"},
        {changed([](Json& json) { json["parts"][0]["rows"][0]["gpu"] = "fast"; }),
         "'parts[0].rows[0].gpu' must be a number"},
        {changed([](Json& json) { json["parts"][0]["rows"] = Json::array({7}); }),
         "parts[0].rows[0] is not an object"},
        {changed([](Json& json) { json["parts"][0].erase("unit"); }), "'parts[0].unit' is missing"},
        {changed([](Json& json) { json["parts"] = Json(std::vector<Json>(100, json["parts"][0])); }),
         "more than 32 entries"},
        {changed([](Json& json) { json["gpu"]["software"] = 1; }), "'gpu.software' must be true or false"},
        {changed([](Json& json) { json["cpu"]["device"] = std::string(1000, 'x'); }), "longer than"},
        {changed([](Json& json) { json["cpu"]["device"] = "\x1b[2J"; }), "control characters"},
        {changed([](Json& json) { json["cpu"]["device"] = "\xC2\x9B[2J"; }), "control characters"},
        {std::string(2 << 20, ' '), "the limit is"},
    };
    for (const auto& [text, reason] : files) {
        const std::string file = folder.file("broken.json");
        write(file, text);
        const Outcome outcome = run("card --compare " + right + " " + file);
        const std::string begin = text.substr(0, 200); // clang captures no structured bindings
        CAPTURE(begin);
        CAPTURE(outcome.err);
        CHECK(outcome.code == 1);
        CHECK(outcome.says("broken.json"));
        CHECK(outcome.says(reason));
    }
    CHECK(run("card --compare " + right + " " + folder.file("nowhere.json")).code == 1);
}

TEST_CASE("cards with more different rows than fit a page are refused") {
    const Folder folder;
    std::string files;
    for (int file = 0; file < 5; ++file) {
        Card card = exampleCard();
        card.parts[0].rows.clear();
        for (int row = 0; row < 250; ++row)
            card.parts[0].rows.push_back({std::to_string(file) + " " + std::to_string(row), 1, 1});
        write(folder.file(std::to_string(file)), cardJson(card).dump());
        files += " " + folder.file(std::to_string(file));
    }
    const Outcome outcome = run("card --compare" + files);
    CAPTURE(outcome.err);
    CHECK(outcome.code == 1);
    CHECK(outcome.says("the cards have more than 1,000 different rows"));
}

TEST_CASE("the exhibit My machine measures, shows and saves the card") {
    const Folder folder;
    std::ofstream(folder.file("script.txt")) << "frames 3\nclick My machine\nframes 3\n"
                                                "click Measure##machine\nframes 3\n"
                                                "click Save card##machine\nframes 3\ncontrols\n";
    const Outcome outcome =
        run("show race --headless --mask --script script.txt", "cd " + folder.path.string() + ";");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(outcome.says("Measure again##machine"));
    const Json card = Json::parse(contents(folder.file("lockstep-card.json")));
    CHECK(card["parts"].size() == partIds.size());
    checkRows(card);
    CHECK(card["parts"][0]["rows"][1]["cpu"] > 0);
    CHECK(contents(folder.file("lockstep-card.png")).size() > 10'000);
}
