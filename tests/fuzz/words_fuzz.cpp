// Any bytes as a table of words: every translation that is used can stand in for its format.
#include "demos/lesson/languages.h"
#include "engine/files/file_bytes.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = asText(std::as_bytes(std::span(data, size)));
    fuzz::expectDocumented(
        "xx.yaml",
        [&] {
            const demos::WordFile table = demos::wordsFromText(text, "xx.yaml");
            for (const auto& [english, translation] : table.words)
                fuzz::require(demos::placeholders(english) == demos::placeholders(translation),
                              "the same placeholders");
            for (const std::string& problem : table.problems)
                fuzz::require(problem.starts_with("xx.yaml"), "problems name the file");
        },
        true);
    return 0;
}
