// Every control explains itself, every term has an entry, and lines break at blanks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "demos/kit/exhibit.h"
#include "demos/words/control_words.h"
#include "demos/words/glossary.h"
#include "demos/words/text.h"
#include "tests/show_script.h"

using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

constexpr auto byCharacters = [](std::string_view text) { return static_cast<float>(text.size()); };

std::vector<std::string_view> termNames(std::string_view text) {
    std::vector<std::string_view> names;
    for (const Term* term : termsIn(text, 9)) names.push_back(term->name);
    return names;
}

} // namespace

TEST_CASE("every control of every exhibit has an explanation") {
    std::set<std::string> all;
    for (const std::string& exhibit : exhibits)
        for (const std::string size : {"", "--size 640x480"}) {
            CAPTURE(exhibit);
            const Folder folder;
            const Outcome first = showScript(folder, exhibit, "frames 3\ncontrols\n", size);
            REQUIRE(first.code == 0);
            // What a control opens: menus, lists, popups, other tabs; of a small window, its pages.
            std::string script = "frames 3\nkey F1\ncontrols\nkey F1\n";
            for (const std::string& name : controlNames(first.out))
                if (size.empty() || name.find("page") != std::string::npos || name.starts_with("Settings"))
                    script += "try " + name + "\ncontrols\nkey Escape\ntry " + titleOf(exhibit) + "\n";
            const Outcome outcome = showScript(folder, exhibit, script, size);
            INFO(outcome.out << outcome.err);
            REQUIRE(outcome.code == 0);
            for (const std::string& out : {first.out, outcome.out})
                for (const std::string& name : controlNames(out)) all.insert(name);
        }
    CHECK(all.size() > 150);
    const auto exhibitsMade = makeExhibits();
    ControlTables tables;
    for (const auto& exhibit : exhibitsMade) tables.push_back(exhibit->controlWords());
    for (const std::string& name : all) {
        CAPTURE(name);
        CHECK_FALSE(controlWords(name, tables).empty());
    }
    CHECK(controlWords("no such control", tables).empty());
}

TEST_CASE("an explanation is of the control itself, and the exhibit's own words come first") {
    const auto words = [](std::string_view control) { return controlWords(control, {}); };
    CHECK(words("##race rate") == words("##rate"));
    CHECK(words("##mosaic/batch") == words("##batch"));
    CHECK(words("##speed/1 step/s") == words("##speed"));
    CHECK(words("menu/Reset") == words("Reset"));
    CHECK(words("Sail away").empty());
    constexpr ControlWords one[] = {{"Sail*", "One."}, {"Reset", "Ours."}};
    constexpr ControlWords other[] = {{"Sail away", "Other."}, {"Anchor", "Theirs."}, {"Pause", "Theirs."}};
    const ControlTables both{one, other};
    CHECK(controlWords("Sail away", both) == "One.");
    CHECK(controlWords("menu/Reset", both) == "Ours.");
    CHECK(controlWords("Anchor", both) == "Theirs.");
    CHECK(controlWords("Pause", both) == words("Pause"));
}

TEST_CASE("the glossary is in order, and its terms are found in texts") {
    const auto lower = [](const Term& term) {
        std::string name(term.name);
        for (char& letter : name)
            letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
        return name;
    };
    CHECK(std::ranges::is_sorted(glossary(), {}, lower));
    for (const char* term : {"lane",
                             "rung",
                             "workgroup",
                             "invocation",
                             "subgroup",
                             "barrier",
                             "occupancy",
                             "roof",
                             "batch",
                             "epoch",
                             "step",
                             "kernel",
                             "dispatch",
                             "shared memory",
                             "coalescing",
                             "learning rate",
                             "L2",
                             "L1",
                             "cross-entropy",
                             "gradient",
                             "preactivation",
                             "seed",
                             "initialisation scale",
                             "overfitting",
                             "test accuracy",
                             "speed-up",
                             "throughput",
                             "latency",
                             "warm-up"}) {
        CAPTURE(term);
        CHECK(std::ranges::any_of(
            glossary(), [term](const Term& entry) { return entry.name == term || entry.other == term; }));
    }
    CHECK(termNames("Learning rate: how far steps go") ==
          std::vector<std::string_view>{"learning rate", "step"});
    CHECK(termNames("a stepping stone, mislabelled").empty());
    CHECK(termNames("minibatches") == std::vector<std::string_view>{"batch"});
    CHECK(mentions(glossary().front(), "NONLINEAR"));
    CHECK_FALSE(mentions(glossary().front(), "warp"));
}

TEST_CASE("lines break at blanks, never within a number") {
    using Lines = std::vector<std::string_view>;
    CHECK(linesAtBlanks("of 10,000 examples", 8, byCharacters) == Lines{"of", "10,000", "examples"});
    CHECK(linesAtBlanks("arXiv 2402.06184", 12, byCharacters) == Lines{"arXiv", "2402.06184"});
    CHECK(linesAtBlanks("1 in 7.18 s", 9, byCharacters) == Lines{"1 in", "7.18 s"});
    CHECK(linesAtBlanks("within 1 %. Then", 8, byCharacters) == Lines{"within", "1 %.", "Then"});
    CHECK(linesAtBlanks("one two three", 7, byCharacters) == Lines{"one two", "three"});
    CHECK(linesAtBlanks("one\n\ntwo", 7, byCharacters) == Lines{"one", "", "two"});
    CHECK(linesAtBlanks("/a/long/path", 5, byCharacters) == Lines{"/a/lo", "ng/pa", "th"});
    CHECK(linesAtBlanks("\u00e9\u00e9", 1, byCharacters) == Lines{"\u00e9", "\u00e9"}); // whole characters
    CHECK(linesAtBlanks("", 5, byCharacters) == Lines{""});
}
