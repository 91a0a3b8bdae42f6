// Every term has an entry, and lines break at blanks.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

#include "demos/words/glossary.h"
#include "demos/words/text.h"

using namespace lockstep::demos;

namespace {

constexpr auto byCharacters = [](std::string_view text) { return static_cast<float>(text.size()); };

std::vector<std::string_view> termNames(std::string_view text) {
    std::vector<std::string_view> names;
    for (const Term* term : termsIn(text, 9)) names.push_back(term->name);
    return names;
}

} // namespace

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
